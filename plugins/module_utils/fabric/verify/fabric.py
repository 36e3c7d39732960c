# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules that need all nodes at once, judged on the controller."""

from __future__ import annotations

from typing import Mapping, Optional

from ..model.finding import Finding
from ..records import replace
from ..resolve.bind import BoundRail
from .address import link_local
from .cabling import check_cabling, check_leaks
from .host import FINISHED, REACHABLE
from .node import FAILED, UNREACHABLE, Bound, NodeResult, bind_all
from .qos_fabric import check_qos
from .rule import Rule
from .uniform import check_uniform

DUPLICATE = Rule(
    "fabric.duplicate_address",
    "No two nodes hold one rail address",
    "fail",
    "fabric",
    "Whichever node answers ARP first gets the traffic: connections stall and come back at random.",
    "Take the address off the node that holds it against its intent, then run site.yml for that node.",
    "RFC 5227, IPv4 Address Conflict Detection",
)


def check_fabric(nodes: Mapping[str, NodeResult]) -> tuple[Finding, ...]:
    """Reachability of every node, then what only their comparison shows. Linear in nodes, rails and addresses."""
    findings: list[Finding] = []
    for node in nodes.values():
        findings += _answered(node)
    bound = bind_all(nodes)
    findings += check_cabling(nodes, bound)
    findings += _duplicates(nodes, bound)
    return (*findings, *check_leaks(nodes, bound), *check_uniform(nodes, bound), *check_qos(nodes, bound))


def _answered(node: NodeResult) -> list[Finding]:
    if node.state == UNREACHABLE:
        return [
            REACHABLE.broken(
                node.host, expected="an answer", found=node.message or "none", cause="the connection to the node failed"
            )
        ]
    if node.state == FAILED:
        return [
            REACHABLE.passed(node.host),
            FINISHED.broken(
                node.host, expected="every task done", found=node.message or "no result", cause="a task failed"
            ),
        ]
    return [REACHABLE.passed(node.host), FINISHED.passed(node.host)]


class _Holder:
    """One node's hold of an address."""

    def __init__(self, host: str, netdev: str, rail: Optional[str], intended: bool) -> None:
        self.host, self.netdev, self.rail, self.intended = host, netdev, rail, intended


def _duplicates(nodes: Mapping[str, NodeResult], bound: Bound) -> list[Finding]:
    """Addresses of rails held twice; what other netdevs share (docker0's, say) is no matter of the fabric."""
    owners: dict[str, str] = {}
    holders: dict[str, list[_Holder]] = {}
    rails: dict[str, None] = {}
    blind: list[str] = []
    for node in nodes.values():
        for rail in node.intent.rails if node.intent is not None else ():
            rails.setdefault(rail.name)
            owners.update((_bare(address), rail.name) for address in rail.addresses)
        if node.facts is None or node.facts.netdevs is None:
            blind.append(node.host)
            continue
        for address, holder in _held(node, bound.get(node.host, ())):
            holders.setdefault(address, []).append(holder)
    doubles: dict[str, Finding] = {}
    for address, held in holders.items():
        on_rails = [holder for holder in held if holder.rail is not None]
        if len({holder.host for holder in held}) > 1 and (address in owners or len(on_rails) > 1):
            finding = _duplicate(address, held, owners.get(address))
            known = doubles.get(finding.key)
            # Both families of one rail doubled on the same nodes are one fault.
            doubles[finding.key] = finding if known is None else _merged(known, finding)
    findings = list(doubles.values())
    doubled = {finding.rail for finding in findings}
    for rail_name in rails:
        if rail_name in doubled:
            continue
        if blind:
            found = f"addresses of {', '.join(blind)} are not known"
            # Without a host of its own it names the nodes as peers: that is what it is traced back by.
            findings.append(DUPLICATE.unknown(None, rail_name, found=found, peer=", ".join(blind)))
        else:
            findings.append(DUPLICATE.passed(None, rail_name))
    return findings


def _merged(one: Finding, other: Finding) -> Finding:
    return replace(one, expected=f"{one.expected}, {other.expected}", remedy=f"{one.remedy} {other.remedy}")


def _held(node: NodeResult, rails: tuple[BoundRail, ...]) -> list[tuple[str, _Holder]]:
    if node.facts is None:
        return []
    by_netdev = {rail.netdev_name: rail.intent for rail in rails if rail.netdev_name is not None}
    held = []
    for netdev in node.facts.netdevs or ():
        rail = by_netdev.get(netdev.name)
        for address in netdev.addresses:
            if not link_local(address):
                wanted = rail is not None and _bare(address) in map(_bare, rail.addresses)
                holder = _Holder(node.host, netdev.name, rail.name if rail else None, wanted)
                held.append((_bare(address), holder))
    return held


def _duplicate(address: str, held: list[_Holder], owner_rail: Optional[str]) -> Finding:
    """The rightful holder first; one finding however many nodes hold it."""
    ordered = sorted(held, key=lambda holder: (not holder.intended, holder.host))
    first, others = ordered[0], [holder for holder in ordered[1:] if holder.host != ordered[0].host]
    rail = owner_rail or first.rail or next(holder.rail for holder in held if holder.rail)
    peers = [f"{holder.host}/{holder.rail}" if holder.rail not in (None, rail) else holder.host for holder in others]
    wrong = [holder for holder in ordered if not holder.intended]
    if first.intended:
        cause = f"{', '.join(holder.host for holder in wrong)} holds the address of {first.host}"
    else:
        cause = "no node should hold it"
    remedy = DUPLICATE.remedy
    if wrong:
        steps = "; ".join(f"on {holder.host}: ip address del {address} dev {holder.netdev}" for holder in wrong)
        remedy = f"{steps}. Then run site.yml for {', '.join(dict.fromkeys(holder.host for holder in wrong))}."
    return DUPLICATE.broken(
        first.host,
        rail,
        expected=f"{address} on one node",
        found=" and ".join(f"{holder.host} ({holder.netdev})" for holder in ordered),
        cause=cause,
        remedy=remedy,
        peer=", ".join(dict.fromkeys(peers)),
    )


def _bare(address: str) -> str:
    return address.partition("/")[0]
