# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless settings of all nodes of a rail, held against each other, and CNPs that get lost between them."""

from __future__ import annotations

from typing import Callable, Mapping, Optional

from ..model.facts import QosState
from ..model.finding import Finding
from ..resolve.bind import BoundRail
from .node import Bound, NodeResult
from .rule import Rule
from .uniform import compare, gather

_REMEDY = "Run site.yml (role roce_qos) for the nodes that differ."
_SOURCE = "comparison of all nodes: same rail, same kind of NIC"

PFC = Rule(
    "fabric.uniform_pfc",
    "A rail has PFC on the same priorities on all nodes",
    "fail",
    "fabric",
    "One node without PFC drops what the others send losslessly.",
    _REMEDY,
    _SOURCE,
)
MAP = Rule(
    "fabric.uniform_dscp",
    "A rail has one DSCP map on all nodes",
    "warn",
    "fabric",
    "The same packet is in another class on some nodes: other traffic gets in among the lossless data there.",
    _REMEDY,
    _SOURCE,
)
ETS = Rule(
    "fabric.uniform_ets",
    "A rail has the same traffic classes on all nodes",
    "fail",
    "fabric",
    "A node that gives RoCE another share slows collectives down as soon as its link is shared.",
    _REMEDY,
    _SOURCE,
)
CNP = Rule(
    "fabric.uniform_cnp",
    "A rail's CNPs have one marking on all nodes",
    "fail",
    "fabric",
    "Leaves give CNPs a queue by their marking: those with another one wait behind the congestion that they report.",
    _REMEDY,
    _SOURCE,
)
LOST = Rule(
    "fabric.cnps_lost",
    "CNPs that receivers send reach the senders",
    "fail",
    "fabric",
    "Senders never slow down: congestion is left to PFC, and its pauses spread over the fabric.",
    "Look at the leaves' map of the CNPs' DSCP and at the queue that it leads to; then at filters for UDP port 4791.",
    "kernel drivers/infiniband/hw/mlx5/counters.c: np_cnp_sent, rp_cnp_handled",
)
# Fewer CNPs may still be on their way at the end of the window, or to a node outside of it.
LEAST_CNPS = 20
_States = tuple[QosState, ...]


def check_qos(nodes: Mapping[str, NodeResult], bound: Bound) -> list[Finding]:
    """One finding a rule and group of nodes that differ; rails without ``qos`` are left out."""
    members, blind = gather(nodes, bound)
    lossless = {name: [item for item in entries if item[1].intent.qos] for name, entries in members.items()}
    lossless = {name: entries for name, entries in lossless.items() if entries}
    if not lossless:
        return []
    states = _states(nodes, bound)
    findings: list[Finding] = []
    for rule, what, words, by_driver in _CHECKS:

        def value(rail: BoundRail, words: Callable[[QosState], Optional[str]] = words) -> Optional[str]:
            known = states[id(rail)]
            told = [words(state) for state in known or ()]
            return "/".join(dict.fromkeys(map(str, told))) if told and None not in told else None

        def driver(rail: BoundRail, by_driver: bool = by_driver) -> str:
            return " ".join(offer for state in states[id(rail)] or () for offer in state.offers) if by_driver else ""

        findings += compare(rule, what, value, lossless, blind, driver)
    return findings + [finding for name, entries in lossless.items() if (finding := _lost(name, entries, nodes))]


def _states(nodes: Mapping[str, NodeResult], bound: Bound) -> dict[int, Optional[_States]]:
    """The settings of each rail's ports by the identity of the bound rail; ``None`` where one is not known."""
    found: dict[int, Optional[_States]] = {}
    for host, rails in bound.items():
        facts = nodes[host].facts
        known = {state.netdev: state for state in (facts.qos if facts is not None else None) or ()}
        for rail in rails:
            names = [port.netdev.name for port in rail.ports if port.netdev is not None]
            held = tuple(known[name] for name in names if name in known)
            found[id(rail)] = held if held and len(held) == len(rail.ports) else None
    return found


def _pfc(state: QosState) -> Optional[str]:
    return None if state.pfc is None else f"on {', '.join(map(str, state.pfc))}" if state.pfc else "off"


def _map(state: QosState) -> Optional[str]:
    """Runs of code points with one priority: ``0-25:0 26:3``."""
    if state.dscp_prio is None:
        return None
    runs: list[list[int]] = []
    for dscp, priority in state.dscp_prio:
        if runs and runs[-1][1] == dscp - 1 and runs[-1][2] == priority:
            runs[-1][1] = dscp
        else:
            runs.append([dscp, dscp, priority])
    words = " ".join(f"{first}{f'-{last}' if last > first else ''}:{priority}" for first, last, priority in runs)
    return f"{f'trust {state.trust} ' if state.trust else ''}{words or 'empty'}"


def _ets(state: QosState) -> Optional[str]:
    if state.prio_tc is None or state.tsa is None or state.share is None:
        return None
    used = sorted({tc for tc in state.prio_tc if tc < min(len(state.tsa), len(state.share))})
    shares = (f"{tc} {f'{state.share[tc]} %' if state.tsa[tc] == 'ets' else state.tsa[tc]}" for tc in used)
    return f"{' '.join(map(str, state.prio_tc))} ({', '.join(shares)})"


def _cnp(state: QosState) -> Optional[str]:
    if state.cnp_dscp is None or state.cnp_priority is None:
        return None
    return f"DSCP {state.cnp_dscp} priority {state.cnp_priority}"


# The last word: whether only drivers with the same interfaces are compared. One lists all 64 code points, another those
# that were mapped.
_CHECKS: tuple[tuple[Rule, str, Callable[[QosState], Optional[str]], bool], ...] = (
    (PFC, "PFC", _pfc, False),
    (MAP, "DSCP map", _map, True),
    (ETS, "traffic classes", _ets, False),
    (CNP, "marking of CNPs", _cnp, False),
)


def _lost(rail: str, entries: list[tuple[str, BoundRail]], nodes: Mapping[str, NodeResult]) -> Optional[Finding]:
    """Over all nodes of the rail; only when all were watched: a sender that was not may have got them all."""
    gains = []
    for host, _rail in entries:
        facts = nodes[host].facts
        gain = (facts.gained or {}).get(rail) if facts is not None else None
        if gain is None or "np_cnp_sent" not in gain or "rp_cnp_handled" not in gain:
            return None
        gains.append((host, gain))
    sent = sum(gain["np_cnp_sent"] for _host, gain in gains)
    arrived = sum(gain["rp_cnp_handled"] + gain.get("rp_cnp_ignored", 0) for _host, gain in gains)
    if sent < LEAST_CNPS or arrived:
        return LOST.passed(None, rail, found=f"{sent} CNPs sent, {arrived} arrived")
    senders = ", ".join(host for host, gain in gains if gain["np_cnp_sent"])
    return LOST.broken(
        None,
        rail,
        expected="CNPs handled",
        found=f"{sent} CNPs sent by {senders}, none handled by any node",
        cause="CNPs are lost on the way, or wait in a wrong queue",
        peer=senders,
    )
