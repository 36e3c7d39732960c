# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Congestion control of Broadcom's NICs.

The kernel's own driver has ``/sys/kernel/debug/bnxt_re/<pci>/cc_config/``. Broadcom's driver takes a folder below
``/sys/kernel/config/bnxt_re`` that is made, applied and removed (bnxt_setupcc.sh), and keeps nothing to compare with.
"""

from __future__ import annotations

from ...model.plan import Step
from . import RailPort
from .parameters import number

# bnxt_setupcc.sh: what DCQCN with marks is.
_ON = {"enable_cc": 1, "tos_ecn": 1, "cc_mode": 1}


def congestion(port: RailPort) -> tuple[Step, ...]:
    """Congestion control on, in the files that the driver has."""
    have = port.state.dcqcn or {}
    base = f"/sys/kernel/debug/bnxt_re/{port.netdev.pci}/cc_config"
    found: list[Step] = []
    for name, want in _ON.items():
        if name in have and port.qos.ecn:
            found += number(port, f"DCQCN {name}", f"{base}/{name}", have[name], want)
    return tuple(found)


def note(port: RailPort) -> str:
    """What is left alone, and why; empty when nothing is."""
    if not port.qos.ecn or set(port.state.dcqcn or {}) & set(_ON):
        return ""
    return (
        f"{port.rail}: DCQCN of {port.netdev.name} is left alone, because Broadcom's driver shows nothing of it to "
        f"compare with; bnxt_setupcc.sh -m 3 -s {port.qos.data_dscp} -r {port.qos.data_priority} "
        f"-p {port.qos.cnp_dscp} -c {port.qos.cnp_priority} sets it"
    )
