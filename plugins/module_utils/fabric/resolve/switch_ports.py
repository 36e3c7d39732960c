# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Which host's rail is at which port of a leaf: from the inventory, or from what the nodes hear by LLDP."""

from __future__ import annotations

from typing import Iterator, Mapping, Sequence

from ..errors import SpecError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent, RailIntent
from ..model.switch import SwitchEntry
from .bind import bind
from .switch_entry import check_port, natural

Port = tuple[str, str, str]  # port, host, rail


def label(name: str) -> str:
    """A switch's name without its domain, as LLDP and the spec may write it."""
    return name.partition(".")[0].lower()


def leaf_rails(entry: SwitchEntry, intents: Sequence[NodeIntent]) -> dict[tuple[str, str], RailIntent]:
    """Rails of hosts that end on this leaf by the spec, by host and rail."""
    return {
        (intent.host, rail.name): rail
        for intent in intents
        for rail in intent.rails
        if any(port.leaf is not None and label(port.leaf) == label(entry.name) for port in rail.ports)
    }


def host_ports(
    entry: SwitchEntry, intents: Sequence[NodeIntent], facts: Mapping[str, NodeFacts]
) -> tuple[tuple[Port, ...], tuple[str, ...]]:
    """A leaf's ports that lead to hosts, and notes on rails that should end here and do not.

    :raises SpecError: when they contradict the spec, or none is known.
    """
    wanted = leaf_rails(entry, intents)
    if entry.ports is not None:
        ports = entry.ports
        _check(entry, ports, wanted, intents)
    else:
        ports = tuple(sorted(set(_heard(entry, intents, facts)), key=lambda port: natural(port[0])))
        if not ports:
            raise SpecError(
                "no port of this leaf is known",
                f"{entry.name}: switch_ports",
                remedy="List host and rail by port, or read the nodes, which tell them by LLDP",
            )
    _check_twice(entry, ports)
    there = {(host, rail) for _port, host, rail in ports}
    missing = sorted(set(wanted) - there)
    return ports, tuple(
        f"{entry.name}: no port leads to {host} {rail}, which should end here" for host, rail in missing
    )


def _check(
    entry: SwitchEntry,
    ports: Sequence[Port],
    wanted: Mapping[tuple[str, str], RailIntent],
    intents: Sequence[NodeIntent],
) -> None:
    rails = {intent.host: {rail.name: rail for rail in intent.rails} for intent in intents}
    for port, host, rail in ports:
        place = f"{entry.name}: switch_ports.{port}"
        if host not in rails:
            raise SpecError("there is no such node", f"{place}.host", host, "Nodes are the hosts of group gpu_nodes")
        if rail not in rails[host]:
            raise SpecError(
                f"{host} has no such rail", f"{place}.rail", rail, f"Its rails are {', '.join(rails[host])}"
            )
        if (host, rail) in wanted:
            continue
        leaves = [other.leaf for other in rails[host][rail].ports if other.leaf is not None]
        if leaves:
            raise SpecError(
                f"by the spec, {rail} of {host} ends on {', '.join(leaves)}",
                place,
                f"{host} {rail}",
                "Change the port's entry, or the leaf in fabric_spec.units",
            )


def _check_twice(entry: SwitchEntry, ports: Sequence[Port]) -> None:
    """One end, one port; a bond over both ports of a rail may have both on one leaf."""
    owner: dict[str, tuple[str, str]] = {}
    for port, host, rail in ports:
        if owner.setdefault(port, (host, rail)) != (host, rail):
            raise SpecError(
                f"{' '.join(owner[port])} is said to be there, too", f"{entry.name}: {port}", f"{host} {rail}"
            )
    for port, _switch in entry.uplinks:
        if port in owner:
            raise SpecError(
                f"{' '.join(owner[port])} is at this port",
                f"{entry.name}: switch_uplinks.{port}",
                remedy="Name it once",
            )


def _heard(entry: SwitchEntry, intents: Sequence[NodeIntent], facts: Mapping[str, NodeFacts]) -> Iterator[Port]:
    for intent in intents:
        node = facts.get(intent.host)
        if node is None or node.lldp is None:
            continue
        carries = {
            port.netdev.name: rail.intent.name
            for rail in bind(intent, node)
            for port in rail.ports
            if port.netdev is not None
        }
        for neighbour in node.lldp:
            if neighbour.netdev in carries and label(neighbour.system) == label(entry.name):
                check_port(
                    entry.os,
                    neighbour.port,
                    f"LLDP of {intent.host} on {neighbour.netdev}",
                    f"The switch announces another name than its configuration has: list it in {entry.name}'s "
                    "switch_ports",
                )
                yield neighbour.port, intent.host, carries[neighbour.netdev]
