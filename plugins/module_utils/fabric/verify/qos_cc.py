# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a rail's congestion control, and of the class that its RDMA traffic gets: ECN, CNPs, ToS, traffic class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional

from ..model.facts import QosState, RdmaPort
from ..model.finding import Finding
from ..model.intent import Qos
from ..records import replace
from ..resolve.bind import BoundRail
from ..resolve.derive import ECT0
from . import qos_rules as rules
from .qos import Trouble, over_ports
from .view import View

if TYPE_CHECKING:
    from .qos import Answer, Check

    Look = Callable[[View, str, Qos, str, RdmaPort], Optional[Finding]]

_ECN_BITS = 0b11
# 0: CNPs have the priority that was set (kernel drivers/infiniband/hw/mlx5/cong.c, MLX5_IB_NP_CNP_PRIO_MODE).
_CNP_MODE = "np_cnp_prio_mode"


def _ecn(qos: Qos, state: QosState) -> Answer:
    """The data's priority, which is on or off; others are left alone. Inbox drivers have no switch by priority."""
    if state.ecn_np is None or state.ecn_rp is None:
        return None
    if not qos.ecn:
        return _no_ecn(qos, state.ecn_np, state.ecn_rp)
    off = [
        f"{role} off for priority {priority}"
        for role, on in (("receiver (roce_np)", state.ecn_np), ("sender (roce_rp)", state.ecn_rp))
        for priority in qos.ecn
        if priority not in on
    ]
    wanted = f"ECN on for priority {', '.join(map(str, qos.ecn))}"
    if not off:
        return wanted
    deaf = "marks are answered, but this node does not slow down"
    mute = "marks that this node gets are answered with no CNP"
    return Trouble(wanted, "ECN " + ", ".join(off), mute if "np" in off[0] else deaf)


def _no_ecn(qos: Qos, *points: tuple[int, ...]) -> Answer:
    """Harmless as long as nobody marks: a word, and no failure."""
    wanted = f"ECN off for priority {qos.data_priority}"
    if not any(qos.data_priority in on for on in points):
        return wanted
    cause = f"profile {qos.profile} has no DCQCN, and this NIC answers marks and slows down for them"
    return Trouble(wanted, f"ECN on for priority {qos.data_priority}", cause, warn=True)


def _cnp(qos: Qos, state: QosState) -> Answer:
    have, want = (state.cnp_dscp, state.cnp_priority), (qos.cnp_dscp, qos.cnp_priority)
    if None in want or None in have:
        return None
    mode = (state.dcqcn or {}).get(_CNP_MODE)
    if mode:
        cause = "CNPs take the priority of the packet that was marked: they are in the lossless class"
        return Trouble(f"CNPs with priority {want[1]}", f"{_CNP_MODE} {mode}", cause)
    found, expected = (f"CNPs with DSCP {dscp} and priority {priority}" for dscp, priority in (have, want))
    if have == want:
        return found
    if have[1] in qos.pfc or have[0] == qos.data_dscp:
        cause = "CNPs are in the lossless class: they are paused together with the data that they slow down"
    else:
        cause = "CNPs leave with another marking than the switches and peers reckon with"
    return Trouble(expected, found, cause)


def _dcqcn(qos: Qos, state: QosState) -> Answer:
    if not qos.dcqcn or state.dcqcn is None:
        return None
    from ..resolve.dcqcn import value  # noqa: PLC0415 - most sites leave the parameters to the driver

    found = {name: value(state.dcqcn, name) for name in qos.dcqcn}
    expected = ", ".join(f"{name} {want}" for name, want in qos.dcqcn.items())
    off = [name for name, want in qos.dcqcn.items() if found[name] != want]
    if not off:
        return expected
    lacking = [name for name in off if found[name] is None]
    cause = f"the driver has no {', '.join(lacking)}" if lacking else "the parameters were changed, or never set"
    words = ", ".join(f"{name} {'absent' if found[name] is None else found[name]}" for name in off)
    return Trouble(expected, words, cause)


def over_devices(look: Look) -> Check:
    """The check of a rail that asks ``look`` about each of its RDMA ports; what fails comes before what is unknown."""

    def check(view: View, rail: BoundRail) -> Optional[Finding]:
        qos = rail.intent.qos
        if qos is None:
            return None
        asked = (look(view, rail.intent.name, qos, device.name, port) for device, port in rail.rdma_ports)
        told = [finding for finding in asked if finding is not None]
        troubles = [finding for finding in told if finding.state != "pass"]
        if troubles:
            return min(troubles, key=lambda finding: finding.state == "unknown")
        return replace(told[0], found=", ".join(finding.found for finding in told)) if told else None

    return check


def _tos(view: View, name: str, qos: Qos, device: str, port: RdmaPort) -> Optional[Finding]:
    """RDMA-CM's default ToS; none that was ever set is 0."""
    host, have = view.host, port.cm_tos
    expected = f"ToS {qos.tos} (DSCP {qos.data_dscp}{', ECT(0)' if qos.tos & ECT0 else ''})"
    if have == qos.tos:
        return rules.TOS.passed(host, name, found=f"{device} ToS {have}")
    if have is None and (why := _unread(view, device)):
        return rules.TOS.unknown(host, name, expected=expected, found=f"RDMA-CM's ToS could not be read ({why})")
    if have is None:
        found = f"{device} has no default ToS"
        cause = f"/sys/kernel/config/rdma_cm/{device} is not there: nobody set it, and connections carry DSCP 0"
    else:
        found, cause = f"{device} ToS {have} (DSCP {have >> 2})", _why(qos, have)
    return rules.TOS.broken(host, name, expected=expected, found=found, cause=cause, device=device)


def _unread(view: View, device: str) -> str:
    """Why RDMA-CM's folder of the device could not be read; other trouble with the device says nothing about it."""
    told = [item for item in view.facts.unread if item.subject == device and "rdma_cm" in item.source]
    return "; ".join(f"{item.source}: {item.reason}" for item in told)


def _why(qos: Qos, have: int) -> str:
    if have >> 2 != qos.data_dscp:
        # A DSCP where the whole byte is due is the usual slip.
        slip = "; it is the DSCP itself, without the shift by two bits" if have == qos.data_dscp else ""
        return f"connections carry DSCP {have >> 2}{slip}"
    if qos.tos & ECT0 and not have & _ECN_BITS:
        return (
            f"the DSCP is right, but ECT(0) is missing: {have} is due without DCQCN. "
            "Switches drop such packets where they would mark others"
        )
    return f"the DSCP is right, but its ECN bits are {have & _ECN_BITS:02b}, not {qos.tos & _ECN_BITS:02b}"


def _cm_mode(view: View, name: str, _qos: Qos, device: str, port: RdmaPort) -> Optional[Finding]:
    """RDMA-CM's default GID type, where it was set; the kernel's own default is the port's best."""
    if port.cm_mode is None:
        return None
    host = view.host
    if port.cm_mode == "RoCE v2":
        return rules.CM_MODE.passed(host, name, found=f"{device} RoCE v2")
    return rules.CM_MODE.broken(
        host,
        name,
        expected="RoCE v2",
        found=f"{device} {port.cm_mode}",
        cause="the default of RDMA-CM was changed: such packets have no DSCP",
        device=device,
    )


def _traffic_class(view: View, name: str, qos: Qos, device: str, port: RdmaPort) -> Optional[Finding]:
    """The driver's own default, where it has one (OFED)."""
    if port.traffic_class is None:
        return None
    host, have = view.host, port.traffic_class
    if have == qos.tos:
        return rules.TCLASS.passed(host, name, found=f"{device} {have}")
    return rules.TCLASS.broken(
        host,
        name,
        expected=f"{qos.tos} (DSCP {qos.data_dscp})",
        found=f"{device} {have} (DSCP {have >> 2})",
        cause="it contradicts the fabric's class, and wins over what applications ask for",
        device=device,
    )


CHECKS: tuple[Check, ...] = (
    over_ports(rules.ECN, _ecn),
    over_ports(rules.CNP, _cnp),
    over_ports(rules.DCQCN, _dcqcn),
    over_devices(_tos),
    over_devices(_cm_mode),
    over_devices(_traffic_class),
)
