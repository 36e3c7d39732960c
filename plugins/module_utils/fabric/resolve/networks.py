# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Subnets, gateways and aggregates of the units: what must hold within and between them."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Optional, Union

from ..errors import SpecError
from ..model.spec import Addressing, FabricSpec, Rail, UnitRail

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
# What no rail is reached by. Of IPv6: link-local addresses are the kernel's own, and GIDs of mapped ones are IPv4's.
_OTHER_USES = {
    "0.0.0.0/8": "this network",
    "127.0.0.0/8": "the loopback",
    "224.0.0.0/4": "multicast",
    "::/96": "the unspecified address, the loopback and IPv4's own",
    "::ffff:0:0/96": "IPv4 addresses as IPv6 writes them",
    "fe80::/10": "link-local addresses",
    "ff00::/8": "multicast",
}
Interface = Union[ipaddress.IPv4Interface, ipaddress.IPv6Interface]


@lru_cache(maxsize=4096)
def network(text: str, place: str) -> Network:
    """A network in CIDR notation.

    :raises SpecError: when it is none, with what was probably meant.
    """
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        try:
            meant = f"The network is {ipaddress.ip_network(text, strict=False)}"
        except ValueError:
            meant = "Write it like 10.20.0.0/24"
        reason = "this subnet has host bits set" if "host bits" in str(error) else "this is no subnet"
        raise SpecError(reason, place, text, meant) from None


@lru_cache(maxsize=4096)
def address(text: str, place: str) -> Address:
    """An IP address.

    :raises SpecError: when it is none.
    """
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise SpecError("this is no IP address", place, text) from None


def interface(text: str, place: str) -> Interface:
    """An interface address with prefix length.

    :raises SpecError: when it is none, or names a whole network.
    """
    try:
        return ipaddress.ip_interface(text)
    except ValueError:
        raise SpecError("this is no interface address", place, text, "Write it like 10.1.2.3/24") from None


def reserved(subnet: Network, host: Address) -> bool:
    """Whether ``host`` is no host's: the network's own address (an anycast one in IPv6) or IPv4's broadcast."""
    if subnet.prefixlen >= subnet.max_prefixlen - 1:  # RFC 3021 and RFC 6164: both ends of a link are hosts
        return False
    return host == subnet.network_address or (subnet.version == 4 and host == subnet.broadcast_address)


def check_use(found: Network, place: str) -> None:
    """That hosts may have addresses of a network.

    :raises SpecError: for one of another use (IANA special-purpose address registries; RFC 6890, RFC 5771, RFC 4291).
    """
    for text, use in _OTHER_USES.items():
        other = network(text, place)
        if contains(other, found) or contains(found, other):
            raise SpecError(f"hosts have no addresses of {text}, {use}", place, str(found))


def by_family(values: tuple[str, ...], families: tuple[int, ...], what: str, place: str) -> dict[int, str]:
    """Networks or addresses by IP family, at most one each.

    :raises SpecError: for a second one, or one of a family that the addressing does not have.
    """
    found: dict[int, str] = {}
    for value in values:
        version = network(value, place).version if "/" in value else address(value, place).version
        if version in found:
            raise SpecError(f"two of IPv{version}: one {what} a family", place, value)
        if version not in families:
            raise SpecError(
                f"addressing.families does not have {version}", place, value, "Add the family, or remove the value"
            )
        found[version] = value
    return found


def check_units(spec: FabricSpec) -> None:
    """All units of a spec.

    :raises SpecError: for a subnet that is missing, wrong, or overlaps another; a gateway or an aggregate beside it.
    """
    rails = {rail.name: rail for rail in spec.rails}
    subnets: list[tuple[Network, str, str]] = []
    for unit, entries in spec.units.items():
        for name in entries:
            if name not in rails:
                raise SpecError(
                    f"there is no rail {name}", f"fabric_spec.units.{unit}", name, f"Rails are {', '.join(rails)}"
                )
        for rail in spec.rails:
            place = f"fabric_spec.units.{unit}.{rail.name}"
            found = _check_rail(spec, rail, entries.get(rail.name), place)
            subnets.extend((subnet, rail.name, place) for subnet in found)
    _check_overlap(subnets)


def _check_rail(spec: FabricSpec, rail: Rail, entry: Optional[UnitRail], place: str) -> list[Network]:
    addressing = spec.addressing_of(rail)
    wanted = entry or UnitRail()
    subnets = by_family(wanted.subnet, addressing.families, "subnet", f"{place}.subnet")
    if addressing.mode in ("pool", "p2p31") and (spec.fabrics[rail.fabric].transport == "roce" or wanted.subnet):
        for family in addressing.families:
            if family not in subnets:
                raise SpecError(f"mode {addressing.mode} needs an IPv{family} subnet here", place, remedy="Add subnet")
    if addressing.mode == "none" and (wanted.subnet or wanted.gateway or wanted.aggregate):
        raise SpecError("mode none has no addresses", place, remedy="Remove subnet, gateway and aggregate")
    networks = {family: network(text, f"{place}.subnet") for family, text in subnets.items()}
    for subnet in networks.values():
        check_use(subnet, f"{place}.subnet")
    _check_gateways(wanted, addressing, networks, place)
    return list(networks.values())


def _check_gateways(entry: UnitRail, addressing: Addressing, subnets: dict[int, Network], place: str) -> None:
    gateways = by_family(entry.gateway, addressing.families, "gateway", f"{place}.gateway")
    aggregates = by_family(entry.aggregate, addressing.families, "aggregate", f"{place}.aggregate")
    if gateways and addressing.mode == "p2p31":
        raise SpecError(
            "in mode p2p31 the gateway is the leaf's end of each /31", f"{place}.gateway", remedy="Remove gateway"
        )
    for family, text in gateways.items():
        gateway = address(text, f"{place}.gateway")
        subnet = subnets.get(family)
        if subnet is not None and (gateway not in subnet or reserved(subnet, gateway)):
            raise SpecError(
                f"this is no host address of {subnet}",
                f"{place}.gateway",
                text,
                "Name the leaf's own there",
            )
    for family, text in aggregates.items():
        aggregate, subnet = network(text, f"{place}.aggregate"), subnets.get(family)
        if aggregate.prefixlen == 0:
            raise SpecError(
                "a rail has no default route: the node's management would leave through it",
                f"{place}.aggregate",
                text,
                "Name what the rail's other nodes have in common",
            )
        if addressing.mode != "p2p31" and family not in gateways:
            raise SpecError(
                f"what is reached through the gateway needs an IPv{family} gateway", f"{place}.aggregate", text
            )
        if subnet is not None and not contains(aggregate, subnet):
            raise SpecError(f"the aggregate does not hold the rail's subnet {subnet}", f"{place}.aggregate", text)


def contains(outer: Network, inner: Network) -> bool:
    """Whether ``inner`` lies within ``outer``."""
    return outer.version == inner.version and (
        outer.network_address <= inner.network_address and outer.broadcast_address >= inner.broadcast_address  # type: ignore[operator]
    )


def _check_overlap(subnets: list[tuple[Network, str, str]]) -> None:
    """Subnets are disjoint; only one rail's may be the same in several units (one flat network over all of them).

    Two networks overlap only when one holds the other, so after sorting the last one that is still open tells.
    """
    ordered = sorted(subnets, key=lambda item: (item[0].version, int(item[0].network_address), item[0].prefixlen))
    for (first, rail, place), (second, other_rail, other) in zip(ordered, ordered[1:]):
        if contains(first, second) and not (first == second and rail == other_rail):
            raise SpecError(
                f"this subnet overlaps {first} of {place}",
                f"{other}.subnet",
                str(second),
                "Give each rail of each unit a subnet of its own",
            )
