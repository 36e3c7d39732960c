# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The one place behind many pairs that fail: a node's rail, a leaf, a port of it, or the way between two of them."""

from __future__ import annotations

from typing import Mapping, Optional

from ..model.finding import FAIL, PASS, Finding
from ..records import replace
from .node import NodeResult
from .pair import BANDWIDTH, FULL_MTU, LOSSY, REACH, SLOW, pair_of
from .rule import Rule

LEAF_MTU = Rule(
    "fabric.leaf_mtu",
    "Leaf switches carry full-size packets",
    "fail",
    "pair",
    "A leaf port with a small MTU drops bulk data without a word; both nodes look right.",
    "Set the MTU of the leaf's host ports and uplinks to what is expected.",
    "NVIDIA Cumulus Linux default for jumbo frames; IBTA path MTU on InfiniBand",
)

PASSAGE = Rule(
    "fabric.passage",
    "Packets pass between all nodes of a rail",
    "fail",
    "pair",
    "One bad port cuts, or slows down, every pair that it is part of.",
    "Look at cable, transceiver and counters of the named port on both ends, then at the leaf's VLAN and uplinks.",
    "the pairs that fail and those that pass, compared",
)

SLOW_RAIL = Rule(
    "fabric.slow_rail",
    "No node's rail is slow with every peer",
    "fail",
    "pair",
    "One slow rail slows every collective down: the ring waits for its slowest member.",
    "Look at this node first: PCIe link, NUMA node, memory and power limits, counters and optics of the rail; then at "
    "its leaf port.",
    "the pairs that are slow and those that are not, compared",
)

End = tuple[Optional[str], Optional[str]]
Pair = frozenset[End]


def blame_leaves(findings: tuple[Finding, ...], nodes: Mapping[str, NodeResult]) -> tuple[Finding, ...]:
    """Hang every pair that no node explains below the leaf (or leaf port) that explains most of them.

    :param findings: linked findings; those of pairs that already have a root are left alone.
    """
    leaves, mtus = _cabling(nodes)
    findings = _blame(findings, FULL_MTU.id, leaves, mtus)
    return _blame_slow(_blame(findings, REACH.id, leaves, mtus), leaves)


def _blame_slow(findings: tuple[Finding, ...], leaves: Mapping[End, tuple[str, ...]]) -> tuple[Finding, ...]:
    """Hang slow pairs below the end that is slow with each of two or more peers, when those are well with others.

    Where nothing tells the two ends of a pair apart, the pair stays a root of its own.
    """
    slow = [item for item in findings if _unexplained(item, BANDWIDTH.id) and item.cause == SLOW]
    if not slow:
        return findings
    fine = {end for item in findings if item.rule == BANDWIDTH.id and item.state == PASS for end in pair_of(item)}
    peers: dict[End, set[End]] = {}
    for pair in map(pair_of, slow):
        for end in pair - fine:
            peers.setdefault(end, set()).update(pair - {end})
    culprits = {end for end, met in peers.items() if len(met & fine) > 1}
    # One that is slow with a node that nothing else is known of is not cleared by its other peers.
    culprits = {end for end in culprits if peers[end] <= fine | culprits}
    roots = {end: _slow(end, peers[end], slow, leaves) for end in sorted(culprits, key=str)}
    below = {pair: min(pair & culprits, key=str) for pair in map(pair_of, slow) if pair & culprits}
    linked = tuple(
        replace(item, caused_by=roots[below[pair_of(item)]].key)
        if _unexplained(item, BANDWIDTH.id) and item.cause == SLOW and pair_of(item) in below
        else item
        for item in findings
    )
    return (*linked, *roots.values())


def _slow(end: End, met: set[End], slow: list[Finding], leaves: Mapping[End, tuple[str, ...]]) -> Finding:
    own = [item for item in slow if end in pair_of(item)]
    port = " or ".join(leaves.get(end, ()))
    return SLOW_RAIL.broken(
        end[0],
        end[1],
        expected=own[0].expected,
        found=f"slow with each of {len(met)} peers: {', '.join(dict.fromkeys(item.found for item in own[:4]))}",
        cause=f"this end is slow, its peers are not with each other: PCIe, NUMA, optics, or the port of leaf {port}",
        peer=_names(sorted(met, key=str), end[0]),
    )


def _blame(
    findings: tuple[Finding, ...],
    rule: str,
    leaves: Mapping[End, tuple[str, ...]],
    mtus: Mapping[End, Optional[int]],
) -> tuple[Finding, ...]:
    lost = {pair_of(item) for item in findings if _unexplained(item, rule)}
    if not lost:
        return findings
    lossy = {pair_of(item) for item in findings if _unexplained(item, rule) and item.cause == LOSSY}
    passed = {pair_of(item) for item in findings if item.rule == rule and item.state == PASS} - lost
    roots: list[Finding] = []
    below: dict[Pair, str] = {}
    while lost:
        suspects = _suspects(lost, passed, leaves)
        covered = max(suspects.values(), key=len)
        names = [name for name, pairs in suspects.items() if pairs == covered]
        if rule == FULL_MTU.id:
            root = _root(names, covered, leaves, mtus)
        else:
            root = _cut(names, covered, leaves, "loses packets" if covered & lossy else "passes nothing")
        roots.append(root)
        below.update((pair, root.key) for pair in covered)
        lost -= covered
    linked = tuple(
        replace(item, caused_by=below[pair_of(item)]) if _unexplained(item, rule) else item for item in findings
    )
    return (*linked, *roots)


def _unexplained(finding: Finding, rule: str) -> bool:
    return finding.rule == rule and finding.state == FAIL and finding.caused_by is None


def _cabling(nodes: Mapping[str, NodeResult]) -> tuple[dict[End, tuple[str, ...]], dict[End, Optional[int]]]:
    leaves: dict[End, tuple[str, ...]] = {}
    mtus: dict[End, Optional[int]] = {}
    for node in nodes.values():
        for rail in node.intent.rails if node.intent is not None else ():
            names = tuple(dict.fromkeys(port.leaf for port in rail.ports if port.leaf))
            # Rails without a named leaf still share a switch: name it after the rail and the unit.
            unit = node.intent.unit if node.intent is not None else ""
            leaves[(node.host, rail.name)] = names or (f"of {rail.name} in {unit}",)
            mtus[(node.host, rail.name)] = rail.switch_mtu
    return leaves, mtus


def _suspects(
    lost: set[Pair], passed: set[Pair], leaves: Mapping[End, tuple[str, ...]]
) -> dict[tuple[str, ...], set[Pair]]:
    """What could explain lost pairs: leaves that no full-size packet passes, then single ports, then paths between."""
    good = {leaf for pair in passed for end in pair for leaf in leaves.get(end, ())}
    fine = {end for pair in passed for end in pair}
    found: dict[tuple[str, ...], set[Pair]] = {}
    for pair in lost:
        ends = sorted(pair, key=str)
        names: set[tuple[str, ...]] = {(leaf,) for end in ends for leaf in leaves.get(end, ()) if leaf not in good}
        names = names or {(str(end[0]), str(end[1])) for end in ends if end not in fine}
        names = names or {(*(f"{host}/{rail}" for host, rail in ends), "between")}
        for name in names:
            found.setdefault(name, set()).add(pair)
    return found


def _root(
    names: list[tuple[str, ...]],
    covered: set[Pair],
    leaves: Mapping[End, tuple[str, ...]],
    mtus: Mapping[End, Optional[int]],
) -> Finding:
    ends = sorted({end for pair in covered for end in pair}, key=str)
    rail = ends[0][1]
    want = next((mtus[end] for end in ends if mtus.get(end)), None)
    expected = f"MTU {want} on every port" if want else "full-size packets pass"
    lost = f"{len(covered)} {'pair loses' if len(covered) == 1 else 'pairs lose'} full-size packets, small ones pass"
    kinds = {len(name) for name in names}
    if kinds == {1}:
        where, host = " or ".join(name[0] for name in sorted(names)), None
        cause = f"the MTU of leaf {where} is too small: no full-size packet passes it, and the nodes' MTUs are right"
    elif kinds == {2}:
        ports = sorted(names)
        switches = " or ".join(dict.fromkeys(leaf for name in ports for leaf in leaves.get((name[0], name[1]), ())))
        where, host = switches, ports[0][0] if len(ports) == 1 else None
        cause = f"the port of leaf {where} towards {' or '.join(name[0] for name in ports)} has a small MTU"
    else:
        where, host = f"between {' and '.join(names[0][:-1])}", None
        cause = "both leaves pass full-size packets elsewhere: an uplink or spine between them has a small MTU"
    return LEAF_MTU.broken(
        host, rail, expected=expected, found=lost, cause=cause, device=where, peer=_names(ends, host)
    )


def _cut(names: list[tuple[str, ...]], covered: set[Pair], leaves: Mapping[End, tuple[str, ...]], how: str) -> Finding:
    ends = sorted({end for pair in covered for end in pair}, key=str)
    kinds, host = {len(name) for name in names}, None
    if kinds == {1}:
        where = " or ".join(name[0] for name in sorted(names))
        cause = f"leaf {where} {how}, or the port of a node on it: no pair over it is without fault"
    elif kinds == {2}:
        ports = sorted(names)
        where = " or ".join(dict.fromkeys(leaf for name in ports for leaf in leaves.get((name[0], name[1]), ())))
        host = ports[0][0] if len(ports) == 1 else None
        nodes = " or ".join(name[0] for name in ports)
        cause = f"the link between {nodes} and leaf {where} {how}: a bad cable or transceiver, or the leaf's port"
    else:
        where = f"between {' and '.join(names[0][:-1])}"
        cause = f"the way {where} {how}: both are well with others, so an uplink, a route or a filter is at fault"
    count = f"{len(covered)} {'pair fails' if len(covered) == 1 else 'pairs fail'}"
    return PASSAGE.broken(
        host,
        ends[0][1],
        expected="packets pass without loss",
        found=count,
        cause=cause,
        device=where,
        peer=_names(ends, host),
    )


def _names(ends: list[End], host: Optional[str]) -> str:
    """The nodes concerned, at most eight by name: the root names them, the pairs below it list them all."""
    names = list(dict.fromkeys(str(end[0]) for end in ends if end[0] != host))
    return ", ".join(names[:8])
