# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A leaf whose MTU is too small: the one cause behind many lost full-size packets."""

from __future__ import annotations

from typing import Mapping, Optional

from ..model.finding import FAIL, PASS, Finding
from ..records import replace
from .node import NodeResult
from .pair import FULL_MTU, pair_of
from .rule import Rule

LEAF_MTU = Rule(
    "fabric.leaf_mtu",
    "Leaf switches carry full-size packets",
    "fail",
    "pair",
    "A leaf port with a small MTU drops bulk data without a word; both nodes look right.",
    "Set the MTU of the leaf's host ports and uplinks to the spec's switch_mtu.",
    "fabric_spec.fabrics.*.link.switch_mtu, or derived from host_mtu",
)

End = tuple[Optional[str], Optional[str]]
Pair = frozenset[End]


def blame_leaves(findings: tuple[Finding, ...], nodes: Mapping[str, NodeResult]) -> tuple[Finding, ...]:
    """Hang every lost full-size packet that no node explains below the leaf (or leaf port) that explains most.

    :param findings: linked findings; pair.mtu fails that already have a root are left alone.
    """
    leaves, mtus = _cabling(nodes)
    lost = {pair_of(item) for item in findings if _unexplained(item)}
    if not lost:
        return findings
    passed = {pair_of(item) for item in findings if item.rule == FULL_MTU.id and item.state == PASS} - lost
    roots: list[Finding] = []
    below: dict[Pair, str] = {}
    while lost:
        suspects = _suspects(lost, passed, leaves)
        covered = max(suspects.values(), key=len)
        names = [name for name, pairs in suspects.items() if pairs == covered]
        root = _root(names, covered, leaves, mtus)
        roots.append(root)
        below.update((pair, root.key) for pair in covered)
        lost -= covered
    linked = tuple(replace(item, caused_by=below[pair_of(item)]) if _unexplained(item) else item for item in findings)
    return (*linked, *roots)


def _unexplained(finding: Finding) -> bool:
    return finding.rule == FULL_MTU.id and finding.state == FAIL and finding.caused_by is None


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


def _names(ends: list[End], host: Optional[str]) -> str:
    """The nodes concerned, at most eight by name: the root names them, the pairs below it list them all."""
    names = list(dict.fromkeys(str(end[0]) for end in ends if end[0] != host))
    return ", ".join(names[:8])
