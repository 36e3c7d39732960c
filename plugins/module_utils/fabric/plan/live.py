# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Drift of a rail's live links: what the kernel has against what the rail's links should be."""

from __future__ import annotations

from typing import Optional

from ..model.facts import BondState, Netdev
from ..model.network import BOND, PORT, VLAN, Link
from ..model.plan import Run, Step
from .links import bond_options

LOCAL = "fe80:"


def live_steps(links: tuple[Link, ...]) -> list[Step]:
    """What differs on the live links of one rail.

    Most steps have no action of their own: the network manager makes them true when it settles the rail. What it may
    leave as it is has one.
    """
    steps: list[Step] = []
    stacked = any(link.kind == VLAN and link.netdev is not None for link in links)
    for link in links:
        if link.netdev is None:
            steps.append(Step(link.rail, f"{link.kind} {link.name}", "", made_of(link, links)))
            continue
        if link.mtu is not None and link.netdev.mtu != link.mtu:
            # The kernel refuses a VLAN more than what is below it has (net/8021q/vlan_dev.c), and a network manager
            # need not wait for the one before it goes for the other.
            argv = ("ip", "link", "set", "dev", link.name, "mtu", str(link.mtu))
            first = (Run(argv, allowed=(0, 2)),) if stacked else ()
            steps.append(Step(link.rail, f"MTU of {link.name}", _text(link.netdev.mtu), str(link.mtu), first))
        if link.kind == PORT:
            steps += _master(link, link.netdev)
        steps += _addresses(link, link.netdev)
        if link.netdev.admin_up is False:
            steps.append(Step(link.rail, f"link {link.name}", "down", "up"))
    return steps


def made_anew(links: tuple[Link, ...]) -> tuple[Step, ...]:
    """Steps that delete bonds and VLANs which cannot become what they should be, so that they are made again.

    A bond's mode is fixed while it has ports, and network managers leave the options of a bond that is there alone
    (systemd.netdev(5)); a VLAN is bound to its lower netdev for life.
    """
    steps: list[Step] = []
    for link in links:
        if link.netdev is None:
            continue
        found = _differences(link, link.netdev, links)
        if found:
            before, after = ", ".join(have for have, _ in found), ", ".join(want for _, want in found)
            steps.append(Step(link.rail, f"{link.kind} {link.name}", before, after, (delete(link.name),)))
    return tuple(steps)


def delete(name: str) -> Run:
    """Delete a bond or a VLAN; that it went with the one below it is fine (exit code 1)."""
    return Run(("ip", "link", "delete", "dev", name), allowed=(0, 1))


def made_of(link: Link, links: tuple[Link, ...]) -> str:
    """A bond or a VLAN in words: ``802.3ad over ens1, ens2``, ``VLAN 100 on ens1``."""
    if link.kind == VLAN:
        return f"VLAN {link.vlan} on {link.lower}"
    ports = ", ".join(port.name for port in links if port.master == link.name)
    return f"{link.bond.mode if link.bond else 'bond'} over {ports}"


def _differences(link: Link, netdev: Netdev, links: tuple[Link, ...]) -> list[tuple[str, str]]:
    """Pairs of what is and what should be."""
    if link.kind == VLAN and (netdev.vlan_id, netdev.lower) != (link.vlan, link.lower):
        return [(f"VLAN {_text(netdev.vlan_id)} on {netdev.lower or 'unknown'}", made_of(link, links))]
    if link.kind != BOND or link.bond is None:
        return []
    state = netdev.bond or BondState()
    have = {
        "mode": state.mode,
        "miimon": None if state.miimon_ms is None else str(state.miimon_ms),
        "lacp_rate": state.lacp_rate,
        "xmit_hash_policy": state.hash_policy,
    }
    # An option that was not told is no reason to take a bond down.
    return [
        (f"{name} {have[name]}", f"{name} {want}")
        for name, want in bond_options(link.bond).items()
        if have[name] is not None and have[name] != want
    ]


def _master(link: Link, netdev: Netdev) -> list[Step]:
    if netdev.master == link.master:
        return []
    free = Run(("ip", "link", "set", "dev", link.name, "nomaster"))
    actions = (free,) if netdev.master is not None else ()
    return [Step(link.rail, f"master of {link.name}", netdev.master or "", link.master or "", actions)]


def _addresses(link: Link, netdev: Netdev) -> list[Step]:
    if link.top and link.addressing in ("none", "dhcp"):
        return []
    have = tuple(address for address in netdev.addresses if not address.lower().startswith(LOCAL))
    if {plain(address) for address in have} == {plain(address) for address in link.addresses}:
        return []
    return [Step(link.rail, f"address of {link.name}", ", ".join(have), ", ".join(link.addresses))]


def plain(address: str) -> str:
    """One spelling for one address. Only IPv6 has several, so only it pays for the import."""
    if ":" not in address:
        return address
    import ipaddress  # noqa: PLC0415 - heavy, and most nodes have no IPv6 on their rails

    return str(ipaddress.ip_interface(address))


def _text(number: Optional[int]) -> str:
    return "unknown" if number is None else str(number)
