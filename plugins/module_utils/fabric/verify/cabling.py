# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about how nodes are cabled to leaves, and whether rails stay networks of their own."""

from __future__ import annotations

from typing import Iterable, Mapping, Optional, Sequence

from ..model.finding import Finding
from ..records import dataclass
from ..resolve import prefix
from ..resolve.bind import BoundRail
from .address import link_local
from .node import Bound, NodeResult
from .rule import Rule

CABLING = Rule(
    "fabric.cabling",
    "Each rail's ports are cabled to the leaves of the spec",
    "fail",
    "fabric",
    "A rail that ends on another leaf talks to another rail, or takes the long way over the spine.",
    "Change the cables, or the leaf in the fabric spec.",
    "fabric_spec.units.*.*.leaf; IEEE 802.1AB (LLDP), system name",
)
LEAK = Rule(
    "fabric.rail_leak",
    "Rails are networks of their own",
    "fail",
    "fabric",
    "Where one rail's subnet shows on another, packets take the wrong rail, and both are slow.",
    "Look at cables, VLANs of the leaf ports and the DHCP servers of the two rails.",
    "addresses of the rails' network devices on all nodes",
)


@dataclass(frozen=True)
class _Cable:
    """A port whose neighbour is not the leaf of the spec."""

    host: str
    rail: str
    netdev: str
    want: str
    have: str
    far: str  # the neighbour's port


def check_cabling(nodes: Mapping[str, NodeResult], bound: Bound) -> list[Finding]:
    """Every port that hears an LLDP neighbour against the leaf of the spec; exchanged cables are one finding.

    A node that runs no LLDP, and a port that hears nobody, say nothing about their cables.
    """
    wrong: list[_Cable] = []
    good: dict[tuple[str, str], _Cable] = {}
    leaves: set[str] = set()
    for node in nodes.values():
        if node.intent is None:
            continue
        leaves.update(_label(port.leaf) for rail in node.intent.rails for port in rail.ports if port.leaf)
        if node.facts is None or node.facts.lldp is None:
            continue
        heard: dict[str, list[tuple[str, str]]] = {}
        for neighbour in node.facts.lldp:
            heard.setdefault(neighbour.netdev, []).append((neighbour.system, neighbour.port))
        for rail in bound.get(node.host, ()):
            for cable in _cables(node.host, rail, heard):
                if _label(cable.want) == _label(cable.have):
                    good[(cable.host, cable.rail)] = cable
                else:
                    wrong.append(cable)
    named, left = _other_names(wrong, {_label(cable.have) for cable in good.values()}, leaves)
    swapped, left = _swaps(left)
    found = [*named, *swapped, *(_misled(cable) for cable in left)]
    bad = {(cable.host, cable.rail) for cable in wrong}
    fine = [cable for place, cable in good.items() if place not in bad]
    return [
        *found,
        *(CABLING.passed(cable.host, cable.rail, found=f"{cable.netdev} on {cable.have}") for cable in fine),
    ]


def _cables(host: str, rail: BoundRail, heard: Mapping[str, list[tuple[str, str]]]) -> Iterable[_Cable]:
    for port in rail.ports:
        told = heard.get(port.netdev.name, ()) if port.netdev is not None else ()
        if port.intent.leaf is None or port.netdev is None or not told:
            continue
        # Behind a hub or a virtual switch a port hears several: the right one among them is enough.
        right = [item for item in told if _label(item[0]) == _label(port.intent.leaf)]
        system, far = (right or sorted(told))[0]
        yield _Cable(host, rail.intent.name, port.netdev.name, port.intent.leaf, system, far)


def _label(name: str) -> str:
    return name.partition(".")[0].lower()


def _other_names(wrong: Sequence[_Cable], confirmed: set[str], leaves: set[str]) -> tuple[list[Finding], list[_Cable]]:
    """A leaf that all its nodes hear under one other name, which is no leaf's: the spec or the switch is misnamed."""
    by_leaf: dict[str, list[_Cable]] = {}
    for cable in wrong:
        by_leaf.setdefault(cable.want, []).append(cable)
    findings: list[Finding] = []
    left: list[_Cable] = []
    for leaf, cables in by_leaf.items():
        names = {cable.have for cable in cables}
        hosts = list(dict.fromkeys(cable.host for cable in cables))
        other = next(iter(names))
        if len(names) > 1 or len(hosts) < 2 or _label(other) in leaves or _label(leaf) in confirmed:
            left += cables
            continue
        rails = list(dict.fromkeys(cable.rail for cable in cables))
        findings.append(
            CABLING.broken(
                None,
                rails[0] if len(rails) == 1 else None,
                expected=f"leaf {leaf}",
                found=f"{other}, on all {len(hosts)} nodes that should see {leaf}",
                cause=f"leaf {leaf} of the spec calls itself {other}",
                remedy=f"Write {other} in the fabric spec, or name the switch {leaf}.",
                warn=True,
                device=leaf,
            )
        )
    return findings, left


def _swaps(wrong: Sequence[_Cable]) -> tuple[list[Finding], list[_Cable]]:
    """Cables that were exchanged: among the ports of one node, else two between nodes."""
    findings: list[Finding] = []
    rest: list[_Cable] = []
    by_host: dict[str, list[_Cable]] = {}
    for cable in wrong:
        by_host.setdefault(cable.host, []).append(cable)
    for cables in by_host.values():
        wants, haves = (sorted(_label(getattr(cable, key)) for cable in cables) for key in ("want", "have"))
        if len(cables) > 1 and wants == haves:
            findings.append(_swapped(cables))
        else:
            rest += cables
    waiting: dict[tuple[str, str], list[_Cable]] = {}
    for cable in rest:
        partners = waiting.get((_label(cable.have), _label(cable.want)), [])
        if partners:
            findings.append(_swapped([partners.pop(), cable]))
        else:
            waiting.setdefault((_label(cable.want), _label(cable.have)), []).append(cable)
    return findings, [cable for cables in waiting.values() for cable in cables]


def _swapped(cables: Sequence[_Cable]) -> Finding:
    first, others = cables[0], cables[1:]
    places = dict.fromkeys((cable.host, cable.rail) for cable in others)
    places.pop((first.host, first.rail), None)
    names = " and ".join(f"{cable.netdev} ({cable.rail})" for cable in cables)
    hosts = " and ".join(dict.fromkeys(cable.host for cable in cables))
    how = "swapped" if len(cables) == 2 else "mixed up"
    return CABLING.broken(
        first.host,
        first.rail,
        expected=", ".join(f"{cable.netdev} on {cable.want}" for cable in cables),
        found="; ".join(f"{cable.netdev} on {cable.have} {cable.far}" for cable in cables),
        cause=f"the cables of {names} of {hosts} are {how}",
        remedy="Exchange them, at the node or at the leaves.",
        # Two legs of one bond on each other's leaf carry their rail all the same.
        warn=not places,
        device=first.netdev,
        peer=", ".join(f"{host}/{rail}" for host, rail in places),
    )


def _misled(cable: _Cable) -> Finding:
    return CABLING.broken(
        cable.host,
        cable.rail,
        expected=f"{cable.netdev} on {cable.want}",
        found=f"{cable.netdev} on {cable.have} {cable.far}",
        cause=f"the cable of {cable.netdev} leads to {cable.have}",
        device=cable.netdev,
    )


def check_leaks(nodes: Mapping[str, NodeResult], bound: Bound) -> list[Finding]:
    """A subnet on two rails, unless the spec puts both into it: the rail that most nodes have it on owns it."""
    intended: set[tuple[str, str]] = set()
    seen: dict[str, dict[str, list[str]]] = {}
    rails: dict[str, None] = {}
    for node in nodes.values():
        if node.intent is None:
            continue
        for wanted in node.intent.rails:
            if wanted.transport == "roce" and wanted.addressing != "none":
                rails.setdefault(wanted.name)
                intended.update((prefix.network(address), wanted.name) for address in wanted.addresses)
        for rail in bound.get(node.host, ()):
            for address in rail.netdev.addresses if rail.netdev is not None and rail.intent.name in rails else ():
                if not link_local(address):
                    seen.setdefault(prefix.network(address), {}).setdefault(rail.intent.name, []).append(node.host)
    leaks: dict[str, Finding] = {}
    for subnet, holders in seen.items():
        owner = max(holders, key=lambda name: ((subnet, name) in intended, len(holders[name])))
        for rail_name, hosts in holders.items():
            if rail_name != owner and (subnet, rail_name) not in intended:
                leaks[rail_name] = _leak(subnet, owner, rail_name, hosts)
    return [*leaks.values(), *(LEAK.passed(None, rail_name) for rail_name in rails if rail_name not in leaks)]


def _leak(subnet: str, owner: str, rail: str, hosts: list[str]) -> Finding:
    some = ", ".join(hosts[:8]) + (f" and {len(hosts) - 8} more" if len(hosts) > 8 else "")
    host: Optional[str] = hosts[0] if len(hosts) == 1 else None
    return LEAK.broken(
        host,
        rail,
        expected=f"{subnet} on {owner} only",
        found=f"{subnet} on {rail} of {some}",
        cause=f"{rail} reaches the network of {owner}: a cable, a VLAN or a DHCP server of the wrong rail",
        peer="" if host else ", ".join(hosts),
    )
