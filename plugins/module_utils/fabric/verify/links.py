# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about a rail's netdevs as they are stacked and named: names, bond, VLAN."""

from __future__ import annotations

from typing import Optional

from ..model.facts import Netdev
from ..model.finding import Finding
from ..model.intent import Bond
from ..resolve.bind import BoundPort, BoundRail, bond_name, vlan_name
from .rule import Rule
from .view import View, place

NAMES = Rule(
    "rail.names",
    "The rail's network and RDMA devices have the names of the spec",
    "fail",
    "local",
    "Jobs, NCCL_IB_HCA and scripts name devices; a name that differs on one node selects nothing, or another rail.",
    "Run site.yml (role rail_naming) for this node; a name that is in use changes at the next boot.",
    "fabric_spec.naming",
)
BOND = Rule(
    "rail.bond",
    "The rail's bond has the spec's mode, and all its ports carry traffic",
    "fail",
    "local",
    "A bond hides what it lost: the rail stays up on one leg, at half its rate and without reserve.",
    "Run site.yml (role rail_network) for this node.",
    "kernel Documentation/networking/bonding.rst",
)
VLAN = Rule(
    "rail.vlan",
    "The rail's VLAN device is there, with the spec's id",
    "fail",
    "local",
    "Without it, or with another id, the rail's packets reach another network, or none.",
    "Run site.yml (role rail_network) for this node.",
    "fabric_spec.rails.*.vlan.id; IEEE 802.1Q",
)


def names(view: View, rail: BoundRail) -> Optional[Finding]:
    """Names of netdevs and RDMA devices; a soft RoCE device has its name from who made it."""
    soft = rail.intent.soft_roce
    wanted = [(port, port.intent.netdev, None if soft else port.intent.rdma) for port in rail.ports]
    if not any(netdev or rdma for _port, netdev, rdma in wanted):
        return None
    host, name = view.host, rail.intent.name
    pairs: list[tuple[str, Optional[str]]] = []
    for port, netdev, rdma in wanted:
        if netdev is not None:
            pairs.append((netdev, port.netdev.name if port.netdev is not None else None))
        if rdma is not None:
            pairs.append((rdma, port.rdma.name if port.rdma is not None else None))
    expected = ", ".join(want for want, _have in pairs)
    found = ", ".join(have or "none" for _want, have in pairs)
    wrong = [(want, have) for want, have in pairs if have is not None and want != have]
    if wrong:
        cause = "; ".join(f"{have} is not named {want}" + _taken(view, want, have) for want, have in wrong)
        return NAMES.broken(host, name, expected=expected, found=found, cause=cause, device=wrong[0][1] or "")
    if any(have is None for _want, have in pairs):
        found = view.missing(f"the name of {expected}", "netdevs", "rdma")
        return NAMES.unknown(host, name, expected=expected, found=found)
    return NAMES.passed(host, name, found=found)


def _taken(view: View, want: str, have: str) -> str:
    """Who holds the name that a device should get: the kernel gives away no name or alternative name twice."""
    for netdev in view.facts.netdevs or ():
        if netdev.name != have and want in netdev.altnames:
            return f", because {netdev.name} has it as an alternative name"
    held = [netdev.name for netdev in view.facts.netdevs or ()] + [device.name for device in view.facts.rdma or ()]
    return ", because another device has that name" if want in held else ""


def bond(view: View, rail: BoundRail) -> Optional[Finding]:
    """The nearest cause first: no bond, another mode, ports left out, legs down, one aggregator, then its settings."""
    want = rail.intent.bond
    if want is None:
        return None
    host, name, own = view.host, rail.intent.name, bond_of(view, rail)
    expected = f"{want.mode} over {len(rail.ports)} ports, all up"
    if view.facts.netdevs is None:
        return BOND.unknown(host, name, expected=expected, found=view.missing("network devices", "netdevs"))
    if own is None:
        masters = {port.netdev.master for port in rail.ports if port.netdev is not None and port.netdev.master}
        found = (
            f"the ports belong to {', '.join(sorted(masters))}, no bond" if masters else f"no {bond_name(rail.intent)}"
        )
        return BOND.broken(host, name, expected=expected, found=found, cause="the bond was removed, or never made")
    trouble = _mode(own, want) or _members(own, rail.ports)
    if trouble is None and own.carrier is not False and own.admin_up is not False:
        # A bond that is down as a whole is the matter of rail.link.
        trouble = _legs(rail.ports) or _aggregator(own, rail.ports)
    trouble = trouble or _settings(own, want)
    if trouble is not None:
        found, cause, device = trouble
        return BOND.broken(host, name, expected=expected, found=found, cause=cause, device=device)
    state = own.bond
    unknown = [
        word
        for word, value in (
            ("mode", state.mode if state else None),
            ("MII monitoring interval", state.miimon_ms if state else None),
            ("state of its ports", all(port.netdev and port.netdev.bond_port for port in rail.ports) or None),
        )
        if value is None
    ]
    if unknown:
        found = view.missing(f"{', '.join(unknown)} of {own.name}", "netdevs", own.name)
        return BOND.unknown(host, name, expected=expected, found=found)
    return BOND.passed(host, name, found=f"{own.name} {want.mode}, {len(rail.ports)} ports up")


def bond_of(view: View, rail: BoundRail) -> Optional[Netdev]:
    """The bond over the rail's ports: the master that they have, or the device of the bond's name."""
    masters = [port.netdev.master for port in rail.ports if port.netdev is not None and port.netdev.master]
    named = {netdev.name: netdev for netdev in view.facts.netdevs or () if netdev.kind == "bond"}
    return next((named[name] for name in (*masters, bond_name(rail.intent)) if name in named), None)


Trouble = Optional[tuple[str, str, str]]


def _mode(own: Netdev, want: Bond) -> Trouble:
    mode = own.bond.mode if own.bond is not None else None
    if mode is None or mode == want.mode:
        return None
    return f"{own.name} is {mode}", f"the bond's mode is {mode}, and its leaf ports are set for {want.mode}", own.name


def _members(own: Netdev, ports: tuple[BoundPort, ...]) -> Trouble:
    for port in ports:
        if port.netdev is None:
            return f"{own.name} without a port", "a port of the bond is not on the node", own.name
        if port.netdev.master != own.name:
            where = f"belongs to {port.netdev.master}" if port.netdev.master else f"is not in {own.name}"
            return f"{port.netdev.name} {where}", f"{port.netdev.name} was taken out of the bond", port.netdev.name
    return None


def _legs(ports: tuple[BoundPort, ...]) -> Trouble:
    for port in ports:
        netdev = port.netdev
        if netdev is None:
            continue
        mii = netdev.bond_port.mii if netdev.bond_port is not None else None
        if netdev.admin_up is False:
            return f"{netdev.name} is set down", "somebody or something set this leg down on the node", netdev.name
        if netdev.carrier is False or mii not in (None, "UP"):
            leaf = f", or the port of leaf {port.intent.leaf}" if port.intent.leaf else " or leaf port"
            found = f"{netdev.name} has no carrier" if netdev.carrier is False else f"{netdev.name} MII status {mii}"
            return found, f"this leg of the bond is down: cable, transceiver{leaf}", netdev.name
    return None


def _aggregator(own: Netdev, ports: tuple[BoundPort, ...]) -> Trouble:
    """LACP bundles only ports whose partners agree; the others stay idle although their links are up."""
    state = own.bond
    if state is None or state.mode != "802.3ad":
        return None
    cause = "its leaf port runs no LACP, or belongs to another bundle"
    for port in ports:
        netdev = port.netdev
        seen = netdev.bond_port.aggregator if netdev is not None and netdev.bond_port is not None else None
        if netdev is not None and None not in (seen, state.aggregator) and seen != state.aggregator:
            return f"{netdev.name} is in aggregator {seen}, not {state.aggregator}", cause, netdev.name
    if state.aggregator_ports is not None and state.aggregator_ports < len(ports):
        return f"{state.aggregator_ports} of {len(ports)} ports in the active aggregator", cause, own.name
    return None


def _settings(own: Netdev, want: Bond) -> Trouble:
    state = own.bond
    if state is None:
        return None
    checks = [("MII monitoring interval in ms", state.miimon_ms, want.miimon_ms)]
    lacp = [("LACP rate", state.lacp_rate, want.lacp_rate)] if want.mode == "802.3ad" else []
    # bonding.rst, xmit_hash_policy: for these modes only.
    hashed = want.mode in ("balance-xor", "802.3ad", "balance-tlb")
    policy = [("hash policy", state.hash_policy, want.hash_policy)] if hashed else []
    off = [(word, have, wish) for word, have, wish in (*policy, *lacp, *checks) if have is not None and have != wish]
    if not off:
        return None
    found = f"{own.name} " + ", ".join(f"{word} {have}" for word, have, _wish in off)
    cause = ", ".join(f"{word} should be {wish}" for word, _have, wish in off)
    return found, f"the bond was changed on the node, or not made by Railwright: {cause}", own.name


def vlan(view: View, rail: BoundRail) -> Optional[Finding]:
    """The VLAN device above the port or the bond."""
    want = rail.intent.vlan
    if want is None:
        return None
    host, name, netdev = view.host, rail.intent.name, rail.netdev
    below = _below(view, rail)
    expected = f"VLAN {want} on {below or 'the rail'}"
    if view.facts.netdevs is None:
        return VLAN.unknown(host, name, expected=expected, found=view.missing("network devices", "netdevs"))
    if netdev is None:
        others = [item for item in view.facts.netdevs if item.kind == "vlan" and item.lower == below]
        found = ", ".join(f"{item.name} with id {item.vlan_id}" for item in others) or f"no VLAN device on {below}"
        cause = "the VLAN device was removed, or never made"
        if len(others) == 1:
            cause = f"{others[0].name} has another id than the spec says"
        return VLAN.broken(host, name, expected=expected, found=found, cause=cause, device=vlan_name(rail.intent))
    found = f"{netdev.name} with id {netdev.vlan_id} on {netdev.lower or 'an unknown device'}"
    if netdev.kind != "vlan":
        found, cause = f"{netdev.name} is no VLAN device", f"something else has the name {netdev.name}"
    elif netdev.vlan_id is None or netdev.lower is None or below is None:
        return VLAN.unknown(host, name, expected=expected, found=found)
    elif netdev.vlan_id != want:
        cause = f"{netdev.name} has id {netdev.vlan_id}"
    elif netdev.lower != below:
        cause = f"{netdev.name} sits on {netdev.lower}"
    else:
        return VLAN.passed(host, name, found=found)
    return VLAN.broken(host, name, expected=expected, found=found, cause=cause, device=place(rail))


def _below(view: View, rail: BoundRail) -> Optional[str]:
    if rail.intent.bond is not None:
        own = bond_of(view, rail)
        return own.name if own is not None else bond_name(rail.intent)
    return next((port.netdev.name for port in rail.ports if port.netdev is not None), None)
