# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails that every network manager must be able to make: as intents, on a bare node, and as the kernel shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    BondPortState,
    BondState,
    Netdev,
    NodeFacts,
    Route,
    RoutingRule,
    System,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond, DeviceMatch, PortIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.links import rail_links
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.network import NodeNetwork, plan_network
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.providers import network_provider
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.bind import bind
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.prefix import network

from tests.unit.apply.simulated import intent, rail

FIXTURES = Path(__file__).parents[2] / "fixtures" / "network"
MANAGEMENT = Netdev("ens2", 2, mac="52:54:00:00:01:02", mtu=1500, admin_up=True, addresses=("10.0.2.15/24",))
PORTS = tuple(PortIntent((DeviceMatch(pci=f"0000:0{number}:00.0"),)) for number in (1, 2))
ROUTED = {
    "addresses": ("10.20.0.5/24", "fd00:20::5/64"),
    "families": (4, 6),
    "gateways": ("10.20.0.1", "fd00:20::1"),
    "aggregates": ("10.20.0.0/16", "fd00:20::/48"),
    "table": 101,
}
CASES = {
    "plain": rail(0),
    "ipv6": rail(0, addresses=("fd00:100::1/64",), families=(6,)),
    "vlan": rail(0, vlan=100),
    "bond-lacp": rail(0, ports=PORTS, bond=Bond("802.3ad")),
    "bond-backup-vlan-routed": rail(0, ports=PORTS, bond=Bond("active-backup"), vlan=100, host_mtu=9000, **ROUTED),
}


def bare(case: str, manager: str) -> NodeFacts:
    """The node before its first run: two NICs, and the management on a third."""
    nics = tuple(
        Netdev(
            f"ens{number + 3}",
            number + 2,
            mac=f"52:54:00:00:01:0{number + 2}",
            permanent_mac=f"52:54:00:00:01:0{number + 2}",
            mtu=1500,
            admin_up=True,
            carrier=True,
            pci=f"0000:0{number}:00.0",
        )
        for number in (1, 2)
    )
    used = nics[: len(CASES[case].ports)]
    default = Route("0.0.0.0/0", "ens2", "10.0.2.2")
    return NodeFacts(
        system=System(network_manager=manager),
        management=("ens2",),
        netdevs=(MANAGEMENT, *used),
        routes=(default, Route("10.0.2.0/24", "ens2", source="10.0.2.15")),
        rules=(RoutingRule(0, 255), RoutingRule(32766, 254), RoutingRule(0, 255, family=6)),
    )


def settled(case: str, manager: str) -> NodeFacts:
    """The same node as the kernel shows it once the case's links are as wanted."""
    facts = bare(case, manager)
    links = rail_links(bind(intent(CASES[case]), facts)[0], facts.netdevs)
    netdevs = {netdev.name: netdev for netdev in facts.netdevs}
    for number, link in enumerate(links):
        netdev = link.netdev or Netdev(link.name, 10 + number, mac=links[0].netdev.mac, kind=link.kind)
        netdev = replace(netdev, mtu=link.mtu, admin_up=True, carrier=True, master=link.master, lower=link.lower)
        netdev = replace(netdev, vlan_id=link.vlan, addresses=(*link.addresses, "fe80::1/64"))
        if link.bond is not None:
            lacp = link.bond.mode == "802.3ad"
            # The kernel shows the hash policy of every bond, and its default is layer2.
            policy = link.bond.hash_policy if lacp else "layer2"
            rate = link.bond.lacp_rate if lacp else None
            netdev = replace(netdev, bond=BondState(link.bond.mode, rate, policy, link.bond.miimon_ms))
        if link.master is not None:
            netdev = replace(netdev, mac=links[0].netdev.mac, bond_port=BondPortState("ACTIVE", "UP"))
        netdevs[link.name] = netdev
    top = links[-1]
    routes = [Route(network(a), top.name, source=a.partition("/")[0] if "." in a else None) for a in top.addresses]
    routes = [replace(route, metric=256 if ":" in route.destination else 0) for route in routes]
    routes += [replace(r, metric=r.metric or (1024 if ":" in r.destination else 0)) for r in top.routes]
    return replace(
        facts,
        netdevs=tuple(netdevs.values()),
        routes=(*facts.routes, *routes),
        rules=(*facts.rules, *top.rules),
    )


def rendered(case: str, manager: str, facts: NodeFacts) -> dict[str, str]:
    """Files by path."""
    links = rail_links(bind(intent(CASES[case]), facts)[0], facts.netdevs)
    return {file.path: file.text for file in network_provider(facts).render(links, facts.netdevs)}


def golden(case: str, manager: str) -> dict[str, str]:
    """Files of the fixture by path below the root."""
    base = FIXTURES / manager / case
    return {
        f"/{path.relative_to(base)}": path.read_text(encoding="utf-8")
        for path in sorted(base.rglob("*"))
        if path.is_file()
    }


def planned(case: str, facts: NodeFacts, files: dict[str, str]):
    """The plan of a case."""
    return plan_network(intent(CASES[case]), facts, NodeNetwork(files))
