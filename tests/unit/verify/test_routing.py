# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Which way a rail's packets go: routes, routing rules, kernel parameters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Netdev,
    NodeFacts,
    Owner,
    Route,
    RoutingRule,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import routes as expected
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import judge_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.verify import nodes
from tests.unit.verify.rows import check, judged, row, wanted

FLAT = nodes.facts(soft=False)
ROUTED = {"table": 100, "gateways": ("10.1.0.254",), "aggregates": ("10.0.0.0/8",)}


def routed():
    """The node with all that the intent of rail0 wants."""
    found, rules = expected.wanted(wanted(**ROUTED).rails[0], "enp1s0")
    return replace(FLAT, routes=(*FLAT.routes, *found), rules=(*FLAT.rules, *rules))


def plus(have, *routes, rules=()):
    return replace(have, routes=(*have.routes, *routes), rules=(*have.rules, *rules))


def minus(have, destination="", table=254, rules=()):
    left = tuple(route for route in have.routes if (route.destination, route.table) != (destination, table))
    return replace(have, routes=left, rules=tuple(rule for rule in have.rules if rule.priority not in rules))


def values(have, name, value, *netdevs):
    keys = {f"net.ipv4.conf.{netdev}.{name}": value for netdev in netdevs or ("enp1s0",)}
    return replace(have, sysctls={**have.sysctls, **keys})


def default(value="4096"):
    return replace(FLAT, sysctls={**FLAT.sysctls, "net.ipv4.neigh.default.gc_thresh1": value})


MACVLAN = Netdev("pod7", 70, kind="macvlan", lower="enp1s0")
SIX = {"addresses": ("2001:db8:1::1/64",), "families": (6,)}
HAVE_SIX = nodes.netdev(FLAT, addresses=SIX["addresses"])
FWMARK = RoutingRule(50, 52, selectors=("fwmark 0x80000",))

ROWS = [
    row("rail.routes", "pass", FLAT, "10.1.0.0/24 by enp1s0"),
    row("rail.routes", "pass", routed(), "all else from it by 10.1.0.254", name="routed", **ROUTED),
    # "Route via the wrong rail", in the ways that it comes about.
    row(
        "rail.routes",
        "fail",
        plus(FLAT, Route("10.1.0.2/32", "enp2s0")),
        "leave by enp2s0",
        "narrower",
        "ip route del 10.1.0.2/32 dev enp2s0",
        name="host-route",
    ),
    row(
        "rail.routes",
        "fail",
        replace(FLAT, routes=tuple(replace(r, netdev="enp2s0") if r.netdev == "enp1s0" else r for r in FLAT.routes)),
        "10.1.0.0/24 dev enp2s0",
        name="moved",
    ),
    row("rail.routes", "fail", minus(FLAT, "10.1.0.0/24"), "default route", "eth0", name="no-subnet"),
    row("rail.routes", "fail", replace(FLAT, routes=()), "no route to 10.1.0.0/24", name="none"),
    # The lower metric wins, and of equal ones the first.
    row("rail.routes", "fail", replace(FLAT, routes=(Route("10.1.0.0/24", "enp2s0"), *FLAT.routes)), name="first"),
    row(
        "rail.routes",
        "fail",
        plus(minus(FLAT, "10.1.0.0/24"), Route("10.1.0.0/24", "enp1s0", metric=9), Route("10.1.0.0/24", "enp2s0")),
        name="metric",
    ),
    row("rail.routes", "pass", plus(FLAT, Route("10.1.0.0/24", "enp2s0", metric=50)), name="loses"),
    row(
        "rail.routes",
        "pass",
        replace(plus(FLAT, Route("10.1.0.9/32", "pod7")), netdevs=(*FLAT.netdevs, MACVLAN)),
        name="stacked",
    ),
    # Its text begins like the subnet's.
    row(
        "rail.routes", "pass", plus(FLAT, Route("10.1.0.0/16", "enp2s0"), Route("110.1.0.0/24", "enp2s0")), name="like"
    ),
    # A policy that sends the rail's packets elsewhere before the main table is asked.
    row(
        "rail.routes",
        "fail",
        plus(FLAT, Route("0.0.0.0/0", "eth0", table=77), rules=(RoutingRule(50, 77, "10.1.0.0/24"),)),
        "eth0 table 77",
        name="policy",
    ),
    row(
        "rail.routes",
        "pass",
        plus(FLAT, Route("0.0.0.0/0", "eth0", table=77), rules=(RoutingRule(50, 77, "10.2.0.0/24"),)),
        name="policy-of-others",
    ),
    row("rail.routes", "pass", plus(FLAT, Route("0.0.0.0/0", "wt0", table=52), rules=(FWMARK,)), name="fwmark"),
    row(
        "rail.routes",
        "fail",
        minus(routed(), rules=(1000,)),
        "no rule from 10.1.0.1 to table 100",
        name="rule",
        **ROUTED,
    ),
    # A rule of the same priority from another address.
    row(
        "rail.routes",
        "fail",
        plus(minus(routed(), rules=(1000,)), rules=(RoutingRule(1000, 100, "10.1.0.11/32"),)),
        name="rule-of-another",
        **ROUTED,
    ),
    row(
        "rail.routes",
        "pass",
        plus(minus(routed(), rules=(1000,)), rules=(RoutingRule(900, 100, "10.1.0.1/32"),)),
        name="rule-of-other-priority",
        **ROUTED,
    ),
    row(
        "rail.routes",
        "fail",
        minus(routed(), "0.0.0.0/0", 100),
        "no route to 0.0.0.0/0 via 10.1.0.254 in table 100",
        "ip route add 0.0.0.0/0 via 10.1.0.254 dev enp1s0 table 100",
        name="no-gateway",
        **ROUTED,
    ),
    row("rail.routes", "fail", minus(routed(), "10.0.0.0/8"), "in the main table", name="no-aggregate", **ROUTED),
    row("rail.routes", "fail", minus(routed(), "10.1.0.0/24", 100), name="no-subnet-in-table", **ROUTED),
    row(
        "rail.routes",
        "fail",
        plus(routed(), Route("10.7.0.0/16", "enp2s0", "10.2.0.254", table=100)),
        "the rail's own table 100",
        name="table-leads-off",
        **ROUTED,
    ),
    row("rail.routes", "pass", plus(routed(), Route("0.0.0.0/0", "eth0", table=100, metric=9)), name="spare", **ROUTED),
    row("rail.routes", "fail", plus(routed(), Route("10.0.0.0/8", "enp2s0", metric=5)), name="aggregate-won", **ROUTED),
    # Another rail shares the aggregate, by its own metric; and narrower networks have their own way.
    row(
        "rail.routes",
        "pass",
        plus(routed(), Route("10.0.0.0/8", "enp2s0", "10.2.0.254", metric=101), Route("10.9.0.0/24", "eth0")),
        name="shared-aggregate",
        **ROUTED,
    ),
    row(
        "rail.routes",
        "fail",
        replace(routed(), routes=tuple(replace(r, gateway=r.gateway and "10.1.0.253") for r in routed().routes)),
        name="other-gateway",
        **ROUTED,
    ),
    row(
        "rail.routes",
        "pass",
        plus(HAVE_SIX, Route("2001:DB8:1::/64", "enp1s0", metric=256), rules=(RoutingRule(32766, 254, family=6),)),
        name="ipv6",
        **SIX,
    ),
    row("rail.routes", "fail", plus(HAVE_SIX, rules=(RoutingRule(32766, 254, family=6),)), name="ipv6-none", **SIX),
    row("rail.routes", "pass", FLAT, name="dhcp", addressing="dhcp", addresses=()),
    row("rail.routes", "unknown", replace(FLAT, routes=None)),
    row("rail.routes", "unknown", replace(FLAT, rules=None), name="rules"),
    row("rail.routes", "unknown", plus(FLAT, Route("10.1.0", "enp1s0")), "not understood", name="odd"),
    row("rail.sysctls", "pass", FLAT, "rp_filter 2"),
    row("rail.sysctls", "fail", values(FLAT, "rp_filter", "1"), "strict", "net.ipv4.conf.enp1s0.rp_filter=2"),
    row("rail.sysctls", "fail", values(FLAT, "arp_ignore", "0"), "ARP flux", name="arp"),
    row("rail.sysctls", "fail", values(FLAT, "arp_announce", "0"), "ARP flux", name="announce"),
    row("rail.sysctls", "pass", values(FLAT, "rp_filter", "0"), name="off"),
    # The larger one counts: "all" makes the netdev strict, or loose.
    row("rail.sysctls", "fail", values(FLAT, "rp_filter", "1", "enp1s0", "all"), name="all-strict"),
    row("rail.sysctls", "pass", values(values(FLAT, "rp_filter", "1"), "rp_filter", "2", "all"), name="all-loose"),
    row("rail.sysctls", "unknown", replace(FLAT, sysctls={})),
    row("rail.sysctls", "unknown", replace(FLAT, sysctls=None), name="unread"),
    row("node.neighbours", "pass", FLAT, rail=None),
    row("node.neighbours", "warn", default("128"), "gc_thresh1 128", rail=None),
    row("node.neighbours", "unknown", replace(FLAT, sysctls=None), rail=None),
]


@pytest.mark.parametrize(("rule", "state", "rail", "node", "facts", "words"), ROWS)
def test_rule(rule, state, rail, node, facts, words):
    check(rule, state, rail, node, facts, words)


def test_what_all_rails_suffer_from_is_one_finding():
    have = values(FLAT, "rp_filter", "1", "enp1s0", "enp2s0")
    (found,) = judged("rail.sysctls", wanted(), have)
    assert (found.rail, found.state, "enp1s0, enp2s0" in found.found) == (None, "fail", True)


def test_one_rail_of_two_is_its_own():
    found = judged("rail.sysctls", wanted(), values(FLAT, "rp_filter", "1", "enp2s0"))
    assert [(item.rail, item.state) for item in found] == [("rail0", "pass"), ("rail1", "fail")]


def test_rails_without_addresses_have_no_way_to_judge():
    node = wanted(addressing="none", addresses=())
    assert [item.rail for item in judged("rail.routes", node, FLAT)] == ["rail1"]
    assert [item.rail for item in judged("rail.sysctls", node, FLAT)] == ["rail1"]


def test_nothing_read_is_unknown():
    for rule in ("rail.routes", "rail.sysctls", "node.neighbours"):
        assert {item.state for item in judged(rule, wanted(), NodeFacts())} == {"unknown"}


def test_many_routes_of_a_container_host_are_quick():
    """A Kubernetes node has a route for each pod; they are read once for all rails."""
    pods = tuple(Route(f"10.244.{n // 250}.{n % 250}/32", f"veth{n}") for n in range(2000))
    have = plus(nodes.facts(soft=False, rails=8), *pods)
    node = nodes.intent(soft=False, count=8)
    assert {item.state for item in judged("rail.routes", node, have)} == {"pass"}


FILE = "/etc/sysctl.d/99-security.conf"


def owned(have, *owners):
    return replace(have, owners=tuple(Owner(setting, value, FILE, wins) for setting, value, wins in owners))


RP = "net.ipv4.conf.{}.rp_filter"
OWNERS = [
    ("healthy", owned(FLAT), []),
    ("loses", owned(FLAT, (RP.format("enp1s0"), "1", False)), []),
    ("as good", owned(FLAT, (RP.format("enp1s0"), "0", True)), []),
    ("not a rail's", owned(FLAT, (RP.format("eth0"), "1", True)), []),
    # "all" is no more than our own value on each rail.
    ("all", owned(FLAT, (RP.format("all"), "1", True)), []),
    ("wins", owned(FLAT, (RP.format("enp1s0"), "1", True)), ["node.owners@node1/rail0 warn"]),
    (
        "wins everywhere",
        owned(FLAT, *((RP.format(n), "1", True) for n in ("enp1s0", "enp2s0"))),
        ["node.owners@node1/- warn"],
    ),
    (
        "won",
        owned(values(FLAT, "rp_filter", "1"), (RP.format("enp1s0"), "1", True)),
        ["node.owners@node1/rail0 fail"],
    ),
    (
        "won everywhere",
        owned(
            values(FLAT, "rp_filter", "1", "enp1s0", "enp2s0"),
            *((RP.format(n), "1", True) for n in ("enp1s0", "enp2s0")),
        ),
        ["node.owners@node1/- fail"],
    ),
    # One rail's owner is no excuse for another rail.
    (
        "another",
        owned(values(FLAT, "rp_filter", "1", "enp2s0"), (RP.format("enp1s0"), "1", True)),
        ["node.owners@node1/rail0 warn", "rail.sysctls@node1/rail1 fail"],
    ),
    (
        "mtu",
        owned(nodes.port(nodes.netdev(FLAT, mtu=1500), active_mtu=1024), ("enp1s0.mtu", "1500", True)),
        ["node.owners@node1/rail0 fail"],
    ),
    ("mtu as wanted", owned(FLAT, ("enp1s0.mtu", "4200", True)), []),
    ("addresses", owned(FLAT, ("enp1s0.addresses", "dhcp", True)), ["node.owners@node1/rail0 warn"]),
    ("addresses as wanted", owned(FLAT, ("enp1s0.addresses", "10.1.0.1/24", True)), []),
    ("neighbours", owned(FLAT, ("net.ipv4.neigh.default.gc_thresh3", "1024", True)), ["node.owners@node1/- warn"]),
]


@pytest.mark.rule("node.owners", "fail")
@pytest.mark.rule("node.owners", "warn")
@pytest.mark.rule("node.owners", "pass")
def test_others_that_set_the_same():
    node = nodes.intent(soft=False)
    for name, have, keys in OWNERS:
        found = roots(judge_node("node1", node, node, have))
        assert sorted(f"{item.key} {item.state}" for item in found) == keys, name
        assert all(FILE in item.found + item.cause for item in found if item.rule == "node.owners")


def test_owners_that_nobody_looked_for_are_no_finding():
    assert judged("node.owners", wanted(), FLAT) == []
