# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Spec and host to the intent of one node: the same input gives the same bytes."""

from __future__ import annotations

import hashlib
import json
from typing import Optional

from ..errors import SpecError
from ..model.codec import encode
from ..model.intent import SCHEMA, InfiniBand, NodeIntent, PortIntent, Qos, RailIntent
from ..model.spec import Fabric, FabricSpec, Host, Naming, Rail, RailHardware, UnitRail
from ..records import replace
from ..version import VERSION
from . import derive, networks, qos


def resolve(spec: FabricSpec, host: Host) -> NodeIntent:
    """The intent of ``host``.

    :raises SpecError: when spec and host do not fit: a rail without a NIC, an id outside the subnet, a missing address.
    """
    rails = tuple(_rail(spec, host, index, rail) for index, rail in enumerate(spec.rails))
    _check_addresses(host, rails)
    intent = NodeIntent(
        schema=SCHEMA,
        core_version=VERSION,
        spec_name=spec.name,
        spec_hash="",
        host=host.name,
        unit=host.unit,
        node_id=host.node_id,
        rails=rails,
        modules=derive.modules(rails),
        storage_ulps=tuple(sorted(spec.storage_ulps)),
        acceptance=spec.acceptance,
        waivers=tuple(waiver for waiver in spec.waivers if waiver.host in (None, host.name)),
    )
    return replace(intent, spec_hash=digest(intent))


def digest(intent: NodeIntent) -> str:
    """SHA-256 of what the spec makes of this node: canonical JSON of the intent.

    The core's version and the hash itself stay out, so that the hash changes when, and only when, the spec wants
    something else of this node; a change that concerns other units leaves it alone.
    """
    matter = encode(replace(intent, spec_hash="", core_version=""))
    return hashlib.sha256(json.dumps(matter, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _rail(spec: FabricSpec, host: Host, index: int, rail: Rail) -> RailIntent:
    hardware = host.profile.rails.get(rail.name)
    if hardware is None:
        raise SpecError(
            "the hardware profile has no NIC for this rail",
            f"{host.name}: fabric_profile.rails",
            rail.name,
            f"Add {rail.name} to the profile of model {host.profile.model}, or to the host's fabric_devices",
        )
    fabric = spec.fabrics[rail.fabric]
    entry = spec.units[host.unit].get(rail.name, UnitRail())
    soft_roce = host.profile.soft_roce and fabric.transport == "roce"
    _check_hardware(host, rail, fabric, hardware, soft_roce)
    addressing = spec.addressing_of(rail)
    mode = addressing.mode
    if fabric.transport == "infiniband" and mode in ("pool", "p2p31") and not entry.subnet:
        mode = "none"  # InfiniBand carries RDMA without any address
    addresses, gateways, aggregates = _addresses(mode, addressing.families, host, rail, entry)
    return RailIntent(
        name=rail.name,
        index=index,
        fabric=rail.fabric,
        transport=fabric.transport,
        ports=_ports(spec, host, rail, hardware, entry),
        host_mtu=_host_mtu(fabric, mode),
        switch_mtu=derive.switch_mtu(fabric.transport),
        path_mtu=fabric.infiniband.mtu if fabric.infiniband else derive.path_mtu(fabric.link.host_mtu or 0),
        addressing=mode,
        addresses=addresses,
        gateways=gateways,
        aggregates=aggregates,
        families=addressing.families,
        speed_gbps=derive.gbps(fabric.link.speed),
        table=_table(spec, host, index, rail, gateways),
        driver=hardware.driver,
        firmware=hardware.firmware,
        soft_roce=soft_roce,
        gpu=hardware.gpu,
        numa=hardware.numa,
        bond=rail.bond,
        vlan=rail.vlan.id if rail.vlan else None,
        qos=_qos(fabric, host, rail, hardware),
        infiniband=_infiniband(fabric),
    )


def _check_addresses(host: Host, rails: tuple[RailIntent, ...]) -> None:
    """Each address once, and of two subnets that overlap neither hides a part of the other.

    Rails of one and the same subnet are told apart by their tables.
    """
    seen: list[tuple[str, networks.Interface]] = []
    for rail in rails:
        for text in rail.addresses:
            own = networks.interface(text, host.name)
            for name, other in seen:
                if own.ip == other.ip:
                    raise SpecError(
                        f"{name} and {rail.name} have the same address",
                        host.name,
                        text,
                        "Give each rail its own address",
                    )
                if own.network != other.network and (
                    networks.contains(own.network, other.network) or networks.contains(other.network, own.network)
                ):
                    raise SpecError(
                        f"its subnet overlaps {other.network} of {name}",
                        f"{host.name}: {rail.name}",
                        text,
                        "Give each rail a subnet of its own",
                    )
            seen.append((rail.name, own))


def _check_hardware(host: Host, rail: Rail, fabric: Fabric, hardware: RailHardware, soft_roce: bool) -> None:
    place = f"{host.name}: rail {rail.name}"
    if len(hardware.ports) > 1 and rail.bond is None and fabric.transport == "roce":
        raise SpecError(
            f"{len(hardware.ports)} ports, but no bond", place, remedy="Give the rail a bond, or make it two rails"
        )
    if soft_roce and rail.vlan is not None:
        # kernel drivers/infiniband/sw/rxe/rxe.c, rxe_newlink(): "rxe creation allowed on top of a real device only"
        raise SpecError("soft RoCE does not run over a VLAN", place, remedy="Remove vlan, or use an RDMA NIC")


def _table(spec: FabricSpec, host: Host, index: int, rail: Rail, gateways: tuple[str, ...]) -> Optional[int]:
    """A table of the rail's own, where the main one cannot tell it from others.

    It is needed behind a gateway, since all rails reach the same aggregates, and beside a rail of the same subnet.
    """
    own = _subnets(spec, host, rail)
    shared = any(own & _subnets(spec, host, other) for other in spec.rails if other.name != rail.name)
    return derive.table(index) if gateways or shared else None


def _subnets(spec: FabricSpec, host: Host, rail: Rail) -> set[networks.Network]:
    entry = spec.units[host.unit].get(rail.name, UnitRail())
    own = {networks.network(subnet, rail.name) for subnet in entry.subnet}
    return own | {networks.interface(text, host.name).network for text in host.addresses.get(rail.name, ())}


def _ports(spec: FabricSpec, host: Host, rail: Rail, hardware: RailHardware, entry: UnitRail) -> tuple[PortIntent, ...]:
    leaves: tuple[Optional[str], ...] = entry.leaf or (None,)
    if len(leaves) == 1:
        leaves = leaves * len(hardware.ports)
    if len(leaves) != len(hardware.ports):
        raise SpecError(
            f"{len(leaves)} leaves for a rail of {len(hardware.ports)} ports on {host.name}",
            f"fabric_spec.units.{host.unit}.{rail.name}.leaf",
            remedy="Name one leaf, or one per port",
        )
    named = spec.naming if spec.fabrics[rail.fabric].transport == "roce" else Naming()
    count = len(hardware.ports)
    return tuple(
        replace(
            port,
            leaf=leaf,
            netdev=derive.netdev_name(rail.name, number, count, rail.bond is not None)
            if named.netdev == "rail"
            else None,
            rdma=derive.rdma_name(rail.name, number, count) if named.rdma == "rail" else None,
        )
        for number, (port, leaf) in enumerate(zip(hardware.ports, leaves))
    )


def _host_mtu(fabric: Fabric, mode: str) -> Optional[int]:
    """MTU of the rail's netdev; an InfiniBand rail without addresses has none that matters."""
    if fabric.infiniband is None:
        return fabric.link.host_mtu
    return None if mode == "none" else derive.ipoib_mtu(fabric.infiniband.mtu)


def _qos(fabric: Fabric, host: Host, rail: Rail, hardware: RailHardware) -> Optional[Qos]:
    if fabric.qos is None:
        return None
    return qos.qos(fabric.qos, hardware.driver, f"fabric_spec.fabrics.{rail.fabric}.qos", f"{rail.name} of {host.name}")


def _infiniband(fabric: Fabric) -> Optional[InfiniBand]:
    wanted = fabric.infiniband
    return InfiniBand(wanted.subnet_managers, wanted.partitions, wanted.subnet_prefix) if wanted else None


Triple = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def _addresses(mode: str, families: tuple[int, ...], host: Host, rail: Rail, entry: UnitRail) -> Triple:
    """Interface addresses, gateways and aggregates of a rail, in the order of the families."""
    if mode == "none":
        return (), (), ()
    place = f"fabric_spec.units.{host.unit}.{rail.name}"
    subnets = networks.by_family(entry.subnet, families, "subnet", place)
    gateways = networks.by_family(entry.gateway, families, "gateway", place)
    aggregates = networks.by_family(entry.aggregate, families, "aggregate", place)
    addresses: dict[int, str] = {}
    if mode == "external":
        addresses = _external(host, rail, families, subnets)
    elif mode in ("pool", "p2p31"):
        for family in families:
            subnet = networks.network(subnets[family], f"{place}.subnet")
            if mode == "pool":
                addresses[family] = _pool(host, rail, subnet)
            else:
                addresses[family], gateways[family] = _point_to_point(host, rail, subnet)
                # A /31 reaches the leaf and nothing else: without a route the rail's other nodes are out of reach.
                aggregates.setdefault(family, str(subnet))
    for family, text in addresses.items():
        _check_gateway(host, rail, text, gateways.get(family))
    gateways = {family: str(networks.address(text, f"{place}.gateway")) for family, text in gateways.items()}
    aggregates = {family: str(networks.network(text, f"{place}.aggregate")) for family, text in aggregates.items()}
    return tuple(tuple(found[f] for f in families if f in found) for found in (addresses, gateways, aggregates))  # type: ignore[return-value]


def _node_id(host: Host) -> int:
    if host.node_id is None:
        raise SpecError(
            "the host has no number", f"{host.name}: fabric_node_id", remedy="Set fabric_node_id in its variables"
        )
    return host.node_id


def _pool(host: Host, rail: Rail, subnet: networks.Network) -> str:
    """The subnet's base plus the host's number."""
    number = _node_id(host)
    if number >= subnet.num_addresses or networks.reserved(subnet, subnet[number]):
        last = _last(subnet)
        remedy = f"Use a number from 1 to {last}" if last > 0 else f"Give {rail.name} a larger subnet than {subnet}"
        raise SpecError(
            f"this number gives no host address in {subnet} of {rail.name}",
            f"{host.name}: fabric_node_id",
            str(number),
            remedy,
        )
    return f"{subnet[number]}/{subnet.prefixlen}"


def _last(subnet: networks.Network) -> int:
    return subnet.num_addresses - (2 if subnet.version == 4 else 1)


def _point_to_point(host: Host, rail: Rail, subnet: networks.Network) -> tuple[str, str]:
    """The host's end and the leaf's end of link number ``fabric_node_id``.

    The subnet is carved into /31s (RFC 3021; /127s in IPv6, RFC 6164): the leaf has the even address of each, the host
    the odd one.
    """
    number = _node_id(host)
    links = subnet.num_addresses // 2
    if number >= links:
        raise SpecError(
            f"{subnet} of {rail.name} has {links} point-to-point links",
            f"{host.name}: fabric_node_id",
            str(number),
            f"Use a number from 0 to {links - 1}",
        )
    return f"{subnet[2 * number + 1]}/{subnet.max_prefixlen - 1}", str(subnet[2 * number])


def _external(host: Host, rail: Rail, families: tuple[int, ...], subnets: dict[int, str]) -> dict[int, str]:
    place = f"{host.name}: fabric_addresses.{rail.name}"
    addresses: dict[int, str] = {}
    for text in host.addresses.get(rail.name, ()):
        interface = networks.interface(text, place)
        if interface.version not in families or interface.version in addresses:
            wanted = " and ".join(f"IPv{family}" for family in families)
            raise SpecError(f"one address of {wanted} is expected", place, text)
        if networks.reserved(interface.network, interface.ip):
            raise SpecError("this names the network, not a host", place, text)
        networks.check_use(interface.network, place)
        if interface.version in subnets and interface.network != networks.network(subnets[interface.version], place):
            raise SpecError(f"the address is not in the rail's subnet {subnets[interface.version]}", place, text)
        addresses[interface.version] = str(interface)
    missing = [family for family in families if family not in addresses]
    if missing:
        raise SpecError(
            f"mode external needs the host's IPv{missing[0]} address",
            place,
            remedy=f"Add {rail.name} to fabric_addresses",
        )
    return addresses


def _check_gateway(host: Host, rail: Rail, text: str, gateway: Optional[str]) -> None:
    if gateway is None:
        return
    interface, place = networks.interface(text, host.name), f"fabric_spec.units.{host.unit}.{rail.name}.gateway"
    hop = networks.address(gateway, place)
    if hop == interface.ip:
        raise SpecError(f"this is the address of {host.name}", place, gateway, "Give the host another fabric_node_id")
    if hop not in interface.network:
        raise SpecError(f"{host.name} cannot reach it from {text}", place, gateway)
