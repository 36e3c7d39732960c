# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""All hosts of a site at once: what no single host can tell. Linear in the number of hosts."""

from __future__ import annotations

from typing import Optional, Sequence

from ..errors import SpecError
from ..model.intent import NodeIntent
from ..model.spec import FabricSpec, Host
from . import networks
from .intent import resolve


def resolve_all(spec: FabricSpec, hosts: Sequence[Host], subnet_managers: Sequence[str] = ()) -> tuple[NodeIntent, ...]:
    """The intents of all hosts, in their order.

    :param subnet_managers: hosts of the inventory's group of that name.
    :raises SpecError: for a number or an address that two hosts have, for subnet managers that no host runs, and for a
        waiver of a host or leaf that there is not.
    """
    _check_subnet_managers(spec, subnet_managers)
    _check_waivers(spec, {*(host.name for host in hosts), *subnet_managers})
    _check_numbers(hosts)
    intents = tuple(resolve(spec, host) for host in hosts)
    _check_addresses(spec, intents)
    _check_cnps(intents)
    return intents


def _check_subnet_managers(spec: FabricSpec, subnet_managers: Sequence[str]) -> None:
    for name, fabric in spec.fabrics.items():
        if fabric.infiniband is not None and fabric.infiniband.subnet_managers == "hosts" and not subnet_managers:
            raise SpecError(
                "hosts run the subnet managers, but the group subnet_managers is empty",
                f"fabric_spec.fabrics.{name}.infiniband.subnet_managers",
                "hosts",
                "List them in the group subnet_managers, or say switch, ufm or external",
            )


def _check_waivers(spec: FabricSpec, hosts: set[str]) -> None:
    leaves = {leaf for unit in spec.units.values() for rail in unit.values() for leaf in rail.leaf}
    for number, waiver in enumerate(spec.waivers):
        if waiver.host is not None and waiver.host not in hosts | leaves:
            raise SpecError(
                "there is no such host in the inventory, and no such leaf",
                f"fabric_spec.waivers[{number}].host",
                waiver.host,
                "Write its inventory name, or take the waiver out",
            )


def _check_numbers(hosts: Sequence[Host]) -> None:
    owner: dict[tuple[str, int], str] = {}
    for host in hosts:
        if host.node_id is None:
            continue
        key = (host.unit, host.node_id)
        if key in owner:
            raise SpecError(
                f"{owner[key]} has this number in unit {host.unit}, too",
                f"{host.name}: fabric_node_id",
                str(host.node_id),
                "Give each host of a unit its own",
            )
        owner[key] = host.name


def _check_cnps(intents: Sequence[NodeIntent]) -> None:
    """CNPs of a fabric have one priority: a leaf has one class for them, and would put others among the data."""
    first: dict[str, tuple[Optional[int], str]] = {}
    for intent in intents:
        for rail in intent.rails:
            if rail.qos is None:
                continue
            priority, where = (
                rail.qos.cnp_priority,
                f"{rail.name} of {intent.host} (driver {rail.driver or 'not named'})",
            )
            other, place = first.setdefault(rail.fabric, (priority, where))
            if other != priority:
                raise SpecError(
                    f"NICs of two makes: {place} would send CNPs with priority {other}, "
                    f"{where} with priority {priority}",
                    f"fabric_spec.fabrics.{rail.fabric}.qos.cnp",
                    remedy=f"Write cnp, for instance cnp: {{dscp: {rail.qos.cnp_dscp}, priority: {other}}}",
                )


def _check_addresses(spec: FabricSpec, intents: Sequence[NodeIntent]) -> None:
    owner: dict[str, tuple[str, str]] = {}
    gateways: dict[str, str] = {}
    for unit, rails in spec.units.items():
        for name, entry in rails.items():
            place = f"fabric_spec.units.{unit}.{name}"
            gateways.update({str(networks.address(gateway, place)): place for gateway in entry.gateway})
    for intent in intents:
        for rail in intent.rails:
            for text in rail.addresses:
                address = text.partition("/")[0]
                other = owner.get(address)
                if other is not None:
                    raise SpecError(
                        f"{other[0]} has this address on {other[1]}, too", f"{intent.host}: rail {rail.name}", address
                    )
                if address in gateways:
                    raise SpecError(
                        f"this is the gateway of {gateways[address]}", f"{intent.host}: rail {rail.name}", address
                    )
                owner[address] = (intent.host, rail.name)
