# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about what a lossless rail's counters gain: pauses, storms, CNPs, drops, and the class that traffic takes."""

from __future__ import annotations

from typing import Callable, Mapping, Optional, Union

from ..model.facts import NodeFacts
from ..model.finding import Finding
from ..model.intent import NodeIntent, Qos
from ..records import dataclass
from ..resolve.bind import BoundRail, bind
from .counters import Sample, grown
from .rule import Rule

PAUSES = Rule(
    "qos.pauses",
    "The rail gets pauses only for priorities that have PFC",
    "fail",
    "local",
    "Pauses that nobody obeys mean that both ends disagree about the lossless priority: the peer's queue overflows.",
    "Compare PFC of this NIC with its leaf port: both must have it on for the same priority.",
    "IEEE 802.1Qbb; mlx5 counters.rst, rx_pause_ctrl_phy and rx_prio<i>_pause",
)
STORM = Rule(
    "qos.storm",
    "No PFC storm",
    "fail",
    "local",
    "A host that pauses its port without end stops the leaf, then everybody who sends to it.",
    "Drain the node: a stuck NIC, PCIe or driver does not take its packets. The leaf needs a PFC watchdog.",
    "mlx5 counters.rst, tx_pause_storm_warning_events and tx_pause_storm_error_events",
)
MARKS = Rule(
    "qos.marks",
    "Congestion marks are answered with CNPs",
    "fail",
    "local",
    "A receiver that answers no marks leaves senders at full rate: only PFC holds them, and its pauses spread.",
    "Run site.yml (role roce_qos) for this node: the notification point is off for the data's priority.",
    "kernel drivers/infiniband/hw/mlx5/counters.c: np_ecn_marked_roce_packets, np_cnp_sent",
)
IGNORED = Rule(
    "qos.cnps_ignored",
    "CNPs that arrive slow the sender down",
    "fail",
    "local",
    "A sender that ignores CNPs takes the bandwidth of those who obey.",
    "Run site.yml (role roce_qos) for this node: the reaction point is off for the data's priority.",
    "kernel drivers/infiniband/hw/mlx5/counters.c: rp_cnp_handled, rp_cnp_ignored",
)
DROPS = Rule(
    "qos.drops",
    "Nothing is dropped in the lossless class",
    "fail",
    "local",
    "A lossless class that drops is none: RoCE sends everything again from the lost packet on.",
    "Compare PFC, DSCP map, buffers and cable length of this NIC with its leaf port.",
    "mlx5 counters.rst: rx_prio<i>_discards, rx_prio<i>_buf_discard, rx_prio<i>_cong_discard",
)
CLASS = Rule(
    "qos.class",
    "RDMA traffic of the rail is in the fabric's priorities",
    "fail",
    "local",
    "Traffic in another priority is lossy, whatever PFC says: NCCL without NCCL_IB_TC is the usual case.",
    "Look at what the application asks for: NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, --tclass, RDMA-CM's default ToS.",
    "mlx5 counters.rst: rx_prio<i>_packets; RoCE v2 annex A17",
)
# Fewer packets than this say nothing about where an application's traffic goes: connections begin anywhere.
LEAST_PACKETS = 1000
# Counters that both ends of the fabric need of each node; by RDMA port in :attr:`NodeFacts.gained`.
CONGESTION = ("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored")
_RDMA = (("rx", "rx_vport_rdma_unicast_packets", "rcvd_pkts"), ("tx", "tx_vport_rdma_unicast_packets", "sent_pkts"))

Trouble = tuple[str, str, str]  # expected, found, cause
# None: nothing was counted that could tell; words: it holds.
Answer = Union[None, str, Trouble]


@dataclass(frozen=True)
class _Seen:
    """A rail, what its counters gained, and the priorities that have PFC on its NICs where that is known."""

    qos: Qos
    soft: bool
    gain: Mapping[str, int]
    pfc: Optional[frozenset[int]]


def judge(intent: NodeIntent, facts: NodeFacts, before: Sample, after: Sample) -> tuple[Finding, ...]:
    """Findings of each rail with ``qos``. Not linked.

    :param before: counters as :func:`..probe.counters.sample` and ``sample_classes`` give them.
    """
    findings: list[Finding] = []
    known = {state.netdev: state.pfc for state in facts.qos or ()}
    for rail in bind(intent, facts):
        if rail.intent.qos is None:
            continue
        masks = [known.get(port.netdev.name) for port in rail.ports if port.netdev is not None]
        on = None if None in masks else frozenset(priority for mask in masks for priority in mask or ())
        seen = _Seen(rail.intent.qos, rail.intent.soft_roce, gained(rail, before, after), on)
        findings += _rail(intent.host, rail, seen)
    return tuple(findings)


def congestion(intent: NodeIntent, facts: NodeFacts, before: Sample, after: Sample) -> dict[str, dict[str, int]]:
    """What congestion control's counters gained, by rail: cross-node rules need it of all nodes."""
    found = {}
    for rail in bind(intent, facts):
        gain = gained(rail, before, after)
        if rail.intent.qos is not None and gain:
            found[rail.intent.name] = {name: gain[name] for name in CONGESTION if name in gain}
    return found


def gained(rail: BoundRail, before: Sample, after: Sample) -> dict[str, int]:
    """What the counters of a rail gained, its ports summed up; what was not read twice is left out."""
    places = [f"{port.rdma.name}/{port.port.number}" for port in rail.ports if port.rdma and port.port]
    places += [port.netdev.name for port in rail.ports if port.netdev is not None]
    found: dict[str, int] = {}
    for place in dict.fromkeys(places):
        was = before.get(place, {})
        for name, now in after.get(place, {}).items():
            if name in was:
                found[name] = found.get(name, 0) + grown(name, was[name], now)
    return found


def _rail(host: str, rail: BoundRail, own: _Seen) -> list[Finding]:
    name = rail.intent.name
    device = next((port.netdev.name for port in rail.ports if port.netdev is not None), "")
    found = []
    for rule, look in _JUDGES:
        answer = look(own)
        if isinstance(answer, str):
            found.append(rule.passed(host, name, found=answer))
        elif answer is not None:
            expected, seen, cause = answer
            found.append(rule.broken(host, name, expected=expected, found=seen, cause=cause, device=device))
        elif rule is DROPS and own.qos.pfc:
            why = "the driver counts no packets that it drops, by priority or at all"
            found.append(rule.unknown(host, name, expected="no drops", found=why, device=device))
    return found


def _pauses(own: _Seen) -> Answer:
    """mlx5 counts pauses of priorities that have PFC; what the MAC got beyond those was for others."""
    if own.pfc is None:
        return None
    expected = "no pauses for lossy priorities"
    got = {p: own.gain[f"rx_pause_{p}"] for p in range(8) if own.gain.get(f"rx_pause_{p}")}
    other = {priority: value for priority, value in got.items() if priority not in own.pfc}
    if other:
        words = ", ".join(f"{value} for priority {priority}" for priority, value in other.items())
        return expected, words, "the leaf has PFC on where this NIC has it off"
    total, obeyed = own.gain.get("rx_pause"), sum(got.values())
    # Global pause that is on is the matter of qos.pause.
    if total is None or own.gain.get("rx_global_pause"):
        return None
    if total > obeyed:
        cause = "the leaf sends pauses for a priority that has no PFC here, or global pause"
        return expected, f"{total - obeyed} pauses that nobody obeys", cause
    return f"{total} pauses, all obeyed"


def _storm(own: _Seen) -> Answer:
    gain = own.gain
    kinds = {"warnings": gain.get("storm_warnings"), "errors": gain.get("storm_errors")}
    if set(kinds.values()) == {None}:
        return None
    events = [f"{number} {kind} of the NIC's guard" for kind, number in kinds.items() if number]
    if events:
        cause = "this NIC paused its port for longer than it may: nothing takes its packets"
        return "no storm", ", ".join(events), cause
    return "no storm"


def _marks(own: _Seen) -> Answer:
    gain, qos = own.gain, own.qos
    marked, sent = gain.get("np_ecn_marked_roce_packets"), gain.get("np_cnp_sent")
    if not qos.ecn or marked is None or sent is None:
        return None
    if marked and not sent:
        return "CNPs", f"{marked} marked packets and no CNP", "the notification point of this NIC is off"
    return f"{marked} marked packets, {sent} CNPs"


def _ignored(own: _Seen) -> Answer:
    gain, qos = own.gain, own.qos
    handled, ignored = gain.get("rp_cnp_handled"), gain.get("rp_cnp_ignored")
    if not qos.ecn or handled is None or ignored is None:
        return None
    if ignored > handled:
        return "CNPs handled", f"{ignored} CNPs ignored, {handled} handled", "the reaction point of this NIC is off"
    return f"{handled} CNPs handled, {ignored} ignored"


def _drops(own: _Seen) -> Answer:
    gain, qos = own.gain, own.qos
    if not qos.pfc:
        return None
    lost = {priority: gain.get(f"rx_discards_{priority}") for priority in qos.pfc}
    words = [f"{value} packets of priority {priority} dropped" for priority, value in lost.items() if value]
    if words:
        unmarked = qos.ecn and gain.get("np_ecn_marked_roce_packets") == 0
        also = ", and none was marked: the leaf has no ECN there either" if unmarked else ""
        return "no drops", ", ".join(words), f"the peer was not paused in time, or not at all{also}"
    if any(value is not None for value in lost.values()):
        return "no drops"
    total = gain.get("rx_discards")
    if total:
        return "no drops", f"{total} packets dropped", "the queue overflowed; the driver does not say of which priority"
    return None if total is None else "no drops in any priority"


def _class(own: _Seen) -> Answer:
    """RDMA packets against packets of the fabric's priorities; whatever else is in these only makes it milder."""
    gain, qos = own.gain, own.qos
    wanted = {qos.data_priority} | ({qos.cnp_priority} if qos.cnp_priority is not None else set())
    held = []
    for way, hard, soft in _RDMA:
        total = gain.get(soft if own.soft else hard)
        counts = {p: gain[f"{way}_packets_{p}"] for p in range(8) if f"{way}_packets_{p}" in gain}
        if total is None or not counts:
            continue
        inside = sum(value for priority, value in counts.items() if priority in wanted)
        words = f"{way} {total} RDMA packets, {inside} packets in the fabric's priorities"
        if total >= LEAST_PACKETS and inside < total / 2:
            most = max(counts, key=lambda priority: counts[priority])
            verb = "arrived" if way == "rx" else "left"
            cause = f"RDMA traffic {verb} in priority {most}: it is not marked with DSCP {qos.data_dscp}"
            return f"RDMA traffic in priority {qos.data_priority}", words, cause
        held.append(words)
    return ", ".join(held) or None


_JUDGES: tuple[tuple[Rule, Callable[[_Seen], Answer]], ...] = (
    (PAUSES, _pauses),
    (STORM, _storm),
    (MARKS, _marks),
    (IGNORED, _ignored),
    (DROPS, _drops),
    (CLASS, _class),
)


def lossless_netdevs(intent: NodeIntent, facts: NodeFacts) -> tuple[str, ...]:
    """Netdevs whose classes are worth counting."""
    rails = (rail for rail in bind(intent, facts) if rail.intent.qos is not None)
    return tuple(dict.fromkeys(port.netdev.name for rail in rails for port in rail.ports if port.netdev is not None))
