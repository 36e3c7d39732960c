# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the rails' network settings: MTU and addresses, in the files and on the live links."""

from __future__ import annotations

from typing import Optional

from ..errors import ReadError, RefusedError
from ..model.facts import Netdev, NodeFacts
from ..model.intent import NodeIntent, RailIntent
from ..model.plan import Plan, RemoveFile, Step, WriteFile
from ..ports import Port
from ..resolve.bind import BoundRail, bind
from .files import Files, file_step, read_files
from .providers import NetworkProvider, network_provider

RECONFIGURE = "the link is configured again: RDMA connections over it may break"


def read_network(port: Port, intent: NodeIntent, facts: NodeFacts) -> dict[str, Optional[str]]:
    """The files of the intent's rails as they are, and those that an earlier spec left for other rails."""
    provider = network_provider(facts)
    wanted = tuple(provider.path(rail.name) for rail in intent.rails)
    return read_files(port, tuple(dict.fromkeys((*wanted, *provider.present(port)))))


def plan_network(intent: NodeIntent, facts: NodeFacts, files: Files, interrupted: bool = False) -> Plan:
    """Steps towards the intent's rails.

    Drift on the live link is found as well as drift in the file. After an interrupted run (``interrupted``) every rail
    is settled again, because files may be in place that the network manager never read.

    :raises RefusedError: when a rail's netdev carries the management of the node, or its network manager is not known.
    :raises ReadError: when the netdevs, or which of them carry the management, could not be read.
    """
    if facts.netdevs is None:
        raise ReadError("the network devices could not be read", "netdevs")
    if any(item.subject == "management" for item in facts.unread):
        raise ReadError("which link carries the management could not be read", "management")
    provider = network_provider(facts)
    steps: list[Step] = []
    notes: list[str] = []
    touched: list[str] = []
    for rail in bind(intent, facts):
        reason = _left_alone(rail)
        if reason or rail.netdev is None:
            notes.append(f"{rail.intent.name}: left alone, because {reason}")
            continue
        _refuse_management(rail.intent, rail.netdev, facts)
        found = _file_steps(rail, rail.netdev, facts.netdevs, files, provider)
        found += _live_steps(rail.intent, rail.netdev)
        if not found and interrupted:
            found = [Step(rail.intent.name, "settings in force", "unknown after an interrupted run", "yes")]
        if found:
            touched.append(rail.netdev.name)
            steps += found
        if rail.intent.gateways:
            gateways = ", ".join(rail.intent.gateways)
            notes.append(f"{rail.intent.name}: no route by its gateway {gateways} is set; this version sets none")
    for path, text in files.items():
        if text is None or path in {provider.path(rail.name) for rail in intent.rails}:
            continue
        # The first file that matches a link wins (systemd.network(5)): one that is left over may hide a rail's own.
        netdev = provider.netdev(text, facts.netdevs)
        if netdev is not None and _cut(netdev, facts):
            notes.append(f"{path}: left alone, because {netdev.name} carries the node's management by now")
            continue
        if netdev is not None and netdev.name not in touched:
            touched.append(netdev.name)
        steps.append(Step(provider.rail(path), f"file {path}", "a rail of an earlier spec", "", (RemoveFile(path),)))
    steps = [
        Step(step.subject, step.setting, step.before, step.after, step.actions, RECONFIGURE, step.depends_on)
        for step in steps
    ]
    return Plan("network", tuple(steps), provider.settle(tuple(touched)) if steps else (), tuple(notes))


def _left_alone(rail: BoundRail) -> str:
    """Why this version does not configure the rail; empty when it does."""
    intent = rail.intent
    if intent.transport != "roce":
        return "IPoIB is verified only in this version"
    if intent.bond is not None or intent.vlan is not None:
        return "bonds and VLANs are verified only in this version"
    if intent.addressing == "dhcp":
        return "addresses from DHCP are verified only"
    problem = next((port.problem for port in rail.ports if port.problem), "")
    return problem or ("its netdev is not there" if rail.netdev is None else "")


def _refuse_management(rail: RailIntent, netdev: Netdev, facts: NodeFacts) -> None:
    """A netdev below a management VLAN, bond or bridge is as untouchable as the management netdev itself."""
    cut = _cut(netdev, facts)
    if cut:
        raise RefusedError(
            f"{rail.name} is on {netdev.name}, and {cut[0]} carries the node's management or its default route",
            f"rail {rail.name}",
            netdev.name,
            "Correct the rail's NIC in the hardware profile, or move the node's management elsewhere",
        )


def _cut(netdev: Netdev, facts: NodeFacts) -> list[str]:
    above = {name for name in (netdev.name, netdev.master) if name}
    above |= {other.name for other in facts.netdevs or () if other.lower == netdev.name}
    return sorted(above & set(facts.management))


def _file_steps(
    rail: BoundRail, netdev: Netdev, netdevs: tuple[Netdev, ...], files: Files, provider: NetworkProvider
) -> list[Step]:
    name = rail.intent.name
    path = provider.path(name)
    text = provider.render(rail, netdev, netdevs)
    mtu = f"MTU {rail.intent.host_mtu}" if rail.intent.host_mtu is not None else "MTU as it is"
    words = f"{mtu}, {', '.join(rail.intent.addresses) or 'no address'}"
    step = file_step(files, WriteFile(path, text), name, f"file {path}", words)
    return [step] if step is not None else []


def _live_steps(rail: RailIntent, netdev: Netdev) -> list[Step]:
    steps: list[Step] = []
    if rail.host_mtu is not None and netdev.mtu != rail.host_mtu:
        before = "unknown" if netdev.mtu is None else str(netdev.mtu)
        steps.append(Step(rail.name, f"MTU of {netdev.name}", before, str(rail.host_mtu)))
    if rail.addressing != "none":
        have = tuple(address for address in netdev.addresses if not address.lower().startswith("fe80:"))
        if {_plain(address) for address in have} != {_plain(address) for address in rail.addresses}:
            steps.append(Step(rail.name, f"address of {netdev.name}", ", ".join(have), ", ".join(rail.addresses)))
    if netdev.admin_up is False:
        steps.append(Step(rail.name, f"link {netdev.name}", "down", "up"))
    return steps


def _plain(address: str) -> str:
    """One spelling for one address. Only IPv6 has several, so only it pays for the import."""
    if ":" not in address:
        return address
    import ipaddress  # noqa: PLC0415 - heavy, and most nodes have no IPv6 on their rails

    return str(ipaddress.ip_interface(address))
