# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ip -j -d address show``: netdevs, what they are built of, and their addresses."""

from __future__ import annotations

from typing import Any, Optional

from ..model.facts import BondPortState, BondState, Netdev
from .text import parse_json, wrong

TOOL = "ip address"
# Kinds of netdevs that a driver made: plain ones have none, IPoIB interfaces say what they are.
HARDWARE = (None, "ipoib")
_ON_LOWER = ("vlan", "macvlan", "ipvlan", "macvtap", "ipoib")


def parse(text: str) -> tuple[Netdev, ...]:
    """All netdevs but the loopback. What sysfs alone knows (driver, PCI, NUMA, speed) is left ``None``.

    ``carrier`` is ``None`` while a netdev is administratively down: the kernel does not know it then.
    """
    data = parse_json(TOOL, text)
    if not isinstance(data, list):
        raise wrong(TOOL, 1, text, "a list is expected")
    found = []
    for number, entry in enumerate(data, 1):
        if entry == {}:  # iproute2 prints one for every netdev that a filter left out
            continue
        if not isinstance(entry, dict):
            raise wrong(TOOL, number, str(entry), "an entry is no mapping")
        netdev = _netdev(entry, number)
        if netdev is not None:
            found.append(netdev)
    return tuple(found)


def _netdev(entry: dict[str, Any], number: int) -> Optional[Netdev]:
    name, index, flags = entry.get("ifname"), entry.get("ifindex"), entry.get("flags")
    if not isinstance(name, str) or type(index) is not int or not isinstance(flags, list):
        raise wrong(TOOL, number, str(entry), "a netdev without 'ifname', 'ifindex' and 'flags'")
    if "LOOPBACK" in flags:
        return None
    info = _mapping(entry, "linkinfo", number)
    data = _mapping(info, "info_data", number)
    kind = _text(info, "info_kind", number)
    mac = _text(entry, "address", number)
    admin_up = "UP" in flags
    return Netdev(
        name,
        index,
        mac=mac,
        permanent_mac=_text(entry, "permaddr", number) or (mac if kind in HARDWARE else None),
        mtu=_number(entry, "mtu", number),
        max_mtu=_number(entry, "max_mtu", number) or None,  # 0: the driver names none
        operstate=_text(entry, "operstate", number),
        carrier=("LOWER_UP" in flags) if admin_up else None,
        admin_up=admin_up,
        kind=kind,
        lower=_text(entry, "link", number) if kind in _ON_LOWER else None,
        master=_text(entry, "master", number),
        vlan_id=_number(data, "id", number) if kind == "vlan" else None,
        bond=_bond(data, number) if kind == "bond" else None,
        bond_port=_bond_port(info, number) if info.get("info_slave_kind") == "bond" else None,
        altnames=_altnames(entry, number),
        addresses=_addresses(entry, number),
    )


def _bond(data: dict[str, Any], number: int) -> BondState:
    """Keys are those of iproute2 ip/iplink_bond.c."""
    aggregator = _mapping(data, "ad_info", number)
    return BondState(
        _text(data, "mode", number),
        _text(data, "ad_lacp_rate", number),
        _text(data, "xmit_hash_policy", number),
        _number(data, "miimon", number),
        _number(aggregator, "aggregator", number),
        _number(aggregator, "num_ports", number),
        _text(data, "active_slave", number),
    )


def _bond_port(info: dict[str, Any], number: int) -> BondPortState:
    """Keys are those of iproute2 ip/iplink_bond_slave.c."""
    data = _mapping(info, "info_slave_data", number)
    return BondPortState(
        _text(data, "state", number),
        _text(data, "mii_status", number),
        _number(data, "link_failure_count", number),
        _number(data, "ad_aggregator_id", number),
    )


def _altnames(entry: dict[str, Any], number: int) -> tuple[str, ...]:
    names = entry.get("altnames", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise wrong(TOOL, number, str(entry), "'altnames' is no list of names")
    return tuple(names)


def _addresses(entry: dict[str, Any], number: int) -> tuple[str, ...]:
    listing = entry.get("addr_info", [])
    if not isinstance(listing, list):
        raise wrong(TOOL, number, str(entry), "'addr_info' is no list")
    found = []
    for item in listing:
        if item == {}:
            continue
        if not isinstance(item, dict):
            raise wrong(TOOL, number, str(item), "an address is no mapping")
        if item.get("family") not in ("inet", "inet6"):
            continue
        local, length = _text(item, "local", number), _number(item, "prefixlen", number)
        if local is None or length is None:
            raise wrong(TOOL, number, str(item), "an address without 'local' and 'prefixlen'")
        found.append(f"{local}/{length}")
    return tuple(found)


def _mapping(entry: dict[str, Any], key: str, number: int) -> dict[str, Any]:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise wrong(TOOL, number, str(entry), f"'{key}' is no mapping")
    return value


def _text(entry: dict[str, Any], key: str, number: int) -> Optional[str]:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise wrong(TOOL, number, str(entry), f"'{key}' is no text")
    return value


def _number(entry: dict[str, Any], key: str, number: int) -> Optional[int]:
    value = entry.get(key)
    if value is not None and type(value) is not int:
        raise wrong(TOOL, number, str(entry), f"'{key}' is no number")
    return value
