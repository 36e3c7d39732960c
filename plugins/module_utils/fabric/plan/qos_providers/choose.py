# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Which provider sets a NIC: by what its driver offers, what is installed, and what the spec says."""

from __future__ import annotations

from typing import Optional

from ...errors import RefusedError, UnsupportedError
from ...model.plan import Step
from . import DcbProvider, RailPort, bnxt, cc_params, ecn_sysfs, irdma
from .dcb import Dcb
from .mlnx_qos import MlnxQos, OfedFiles

# Kernel lockdown closes debugfs files of mode 0600, reading included (fs/debugfs/file.c, debugfs_locked_down()).
LOCKED = ("integrity", "confidentiality")


def provider(port: RailPort, tools: tuple[str, ...]) -> DcbProvider:
    """What writes trust, map, ETS, buffers and PFC.

    :raises UnsupportedError: when the NIC has none of it.
    :raises RefusedError: when the tool, or what the spec names, is not there.
    """
    asked, files = port.qos.provider, "qos_sysfs" in port.state.offers
    answers = "dcb" in port.state.offers
    place = f"rail {port.rail}"
    if asked == "mlnx_qos" and not files:
        raise RefusedError(
            "provider mlnx_qos needs the driver of MLNX_OFED or DOCA-OFED, "
            f"and {port.netdev.name} has none of its files",
            place,
            remedy="Write provider: auto into the fabric's qos.host",
        )
    if not answers and not files:
        raise UnsupportedError(
            f"{port.netdev.name} (driver {port.netdev.driver or 'unknown'}) offers no DCB, so it cannot be lossless",
            place,
            remedy="Use a NIC and a driver with DCB for this rail, or take qos out of its fabric",
        )
    if asked != "mlnx_qos" and answers and "dcb" in tools:
        return OfedFiles() if files and asked == "auto" else Dcb()
    if asked != "dcb" and files and "mlnx_qos" in tools:
        return MlnxQos()
    tool, package = ("mlnx_qos", "mlnx-tools") if asked == "mlnx_qos" else ("dcb", "iproute2 5.11 or later")
    raise RefusedError(f"the tool {tool} is not installed", place, remedy=f"Install {package}")


def congestion_steps(port: RailPort, lockdown: Optional[str], notes: list[str]) -> tuple[Step, ...]:
    """Steps towards ECN, CNPs and DCQCN's parameters; ``notes`` gets what is left alone.

    :raises RefusedError: when they are wanted and cannot be set.
    """
    offers, qos = port.state.offers, port.qos
    if "ecn_sysfs" in offers:
        return ecn_sysfs.congestion(port)
    if not qos.ecn:
        return ()
    if "cc_params" in offers:
        return cc_params.congestion(port)
    if "bnxt_cc" in offers:
        _note(notes, bnxt.note(port))
        return bnxt.congestion(port)
    if "irdma_cc" in offers:
        _note(notes, irdma.note(port))
        return ()
    firmware = (
        f"CNP_DSCP_P1={qos.cnp_dscp} CNP_802P_PRIO_P1={qos.cnp_priority} "
        f"ROCE_CC_PRIO_MASK_P1={sum(1 << priority for priority in qos.ecn)} in its NV configuration (mlxconfig)"
    )
    name = port.netdev.name
    if lockdown in LOCKED and qos.lockdown != "firmware":
        raise RefusedError(
            f"kernel lockdown ({lockdown}) closes cc_params of debugfs, so the DCQCN of {name} cannot be set",
            f"rail {port.rail}",
            remedy=f"Set {firmware} and write host: {{lockdown: firmware}} into the fabric's qos, or install DOCA-OFED",
        )
    why = f"kernel lockdown ({lockdown}) closes cc_params" if lockdown in LOCKED else "its driver shows none"
    if qos.dcqcn:
        raise RefusedError(
            f"the DCQCN parameters of {name} cannot be set: {why}",
            f"rail {port.rail}",
            ", ".join(qos.dcqcn),
            "Take dcqcn out of the fabric's qos, and set them in the NIC's NV configuration (mlxconfig)",
        )
    _note(notes, f"{port.rail}: DCQCN of {name} is left to its firmware, because {why}; {firmware} is what fits")
    return ()


def _note(notes: list[str], text: str) -> None:
    if text:
        notes.append(text)
