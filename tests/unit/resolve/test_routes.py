# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes, rules and kernel parameters that rails need, and the arithmetic on prefixes below them."""

from __future__ import annotations

import ipaddress
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Route, RoutingRule
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import prefix, routes, sysctls

from tests.unit.verify import nodes

RAIL = nodes.intent().rails[1]


def test_a_rail_alone_in_its_subnet_needs_nothing():
    """The kernel adds the subnet's route with the address."""
    assert routes.wanted(RAIL, "enp2s0") == ((), ())


def test_a_routed_rail():
    """AMD Instinct system acceptance: 0.0.0.0/0 by the gateway in table 101, priority 1010 from the address."""
    rail = replace(RAIL, table=101, gateways=("10.2.0.254",), aggregates=("10.0.0.0/8",))
    found, rules = routes.wanted(rail, "rail1.100")
    assert found == (
        Route("10.2.0.0/24", "rail1.100", None, 101, 0, "10.2.0.1"),
        Route("0.0.0.0/0", "rail1.100", "10.2.0.254", 101, 0, "10.2.0.1"),
        Route("10.0.0.0/8", "rail1.100", "10.2.0.254", 254, 101, "10.2.0.1"),
    )
    assert rules == (RoutingRule(1010, 101, "10.2.0.1/32", 4),)


def test_each_family_by_its_own_gateway():
    rail = replace(
        RAIL,
        table=101,
        addresses=("10.2.0.1/31", "2001:DB8:0:2::1/64"),
        gateways=("10.2.0.0", "2001:db8:0:2::ff"),
        aggregates=("10.2.0.0/16", "2001:db8::/32"),
        families=(4, 6),
    )
    found, rules = routes.wanted(rail, "enp2s0")
    assert [(route.destination, route.gateway) for route in found if route.table == 101] == [
        ("10.2.0.0/31", None),
        ("0.0.0.0/0", "10.2.0.0"),
        ("2001:db8:0:2::/64", None),
        ("::/0", "2001:db8:0:2::ff"),
    ]
    assert [(route.destination, route.gateway) for route in found if route.table == 254] == [
        ("10.2.0.0/16", "10.2.0.0"),
        ("2001:db8::/32", "2001:db8:0:2::ff"),
    ]
    assert [(rule.source, rule.family) for rule in rules] == [("10.2.0.1/32", 4), ("2001:DB8:0:2::1/128", 6)]


def test_rails_that_share_a_subnet_have_tables_and_no_gateway():
    found, rules = routes.wanted(replace(RAIL, table=101), "enp2s0")
    assert (found, len(rules)) == ((Route("10.2.0.0/24", "enp2s0", None, 101, 0, "10.2.0.1"),), 1)


def test_an_aggregate_that_is_the_subnet_has_its_route_already():
    rail = replace(RAIL, table=101, gateways=("10.2.0.254",), aggregates=("10.2.0.0/24",))
    assert [route for route in routes.wanted(rail, "enp2s0")[0] if route.table == 254] == []


@pytest.mark.parametrize("text", ["10.2.3.4/24", "10.2.3.4/31", "10.2.3.4/0", "255.255.255.255/32", "2001:db8::5/61"])
def test_network_is_the_librarys(text):
    assert prefix.network(text) == str(ipaddress.ip_interface(text).network)


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        ("10.0.0.0/8", "10.255.0.1", True),
        ("10.0.0.0/8", "10.0.0.0/8", True),
        ("10.0.0.0/8", "10.0.0.0/7", False),  # the wider one starts alike
        ("10.1.0.0/16", "10.10.0.0/16", False),  # and so does its text
        ("0.0.0.0/0", "2001:db8::1", False),
        ("::/0", "2001:db8::1", True),
        ("2001:db8::/33", "2001:db8:8000::1", False),
    ],
)
def test_holds(outer, inner, inside):
    assert prefix.holds(outer, inner) is inside


@pytest.mark.parametrize("text", ["", "10.1.2/24", "10.1.2.300", "a.b.c.d", "10.1.0.0/x", "::g"])
def test_what_is_no_prefix(text):
    with pytest.raises(ValueError):
        prefix.numbers(text)


NETDEVS = {"rail0": "enp1s0", "rail1": "rail1.100"}


def test_sysctls_of_two_rails():
    found = sysctls.wanted(nodes.intent(), NETDEVS)
    assert {name: value for name, value in found.items() if "rail1" in name} == {
        "net.ipv4.conf.rail1/100.rp_filter": "2",
        "net.ipv4.conf.rail1/100.arp_ignore": "1",
        "net.ipv4.conf.rail1/100.arp_announce": "2",
    }
    assert found["net.ipv4.neigh.default.gc_thresh3"] == "16384"
    assert not [name for name in found if "ipv6" in name]
    assert sysctls.path("net.ipv4.conf.rail1/100.rp_filter") == "/proc/sys/net/ipv4/conf/rail1.100/rp_filter"


def test_one_rail_answers_arp_as_it_likes():
    found = sysctls.wanted(nodes.intent(count=1), NETDEVS)
    assert [name for name in found if "conf" in name] == ["net.ipv4.conf.enp1s0.rp_filter"]


def test_sysctls_of_rails_without_ipv4():
    rails = nodes.intent().rails
    six = nodes.intent(rails=tuple(replace(rail, families=(6,)) for rail in rails))
    assert list(sysctls.wanted(six, NETDEVS)) == [f"net.ipv6.neigh.default.gc_thresh{n}" for n in (1, 2, 3)]
    none = nodes.intent(rails=tuple(replace(rail, addressing="none") for rail in rails))
    assert sysctls.wanted(none, NETDEVS) == {}


@pytest.mark.parametrize(
    ("name", "own", "of_all", "good"),
    [
        ("rp_filter", "2", "0", True),
        ("rp_filter", "0", "0", True),
        ("rp_filter", "1", "0", False),
        ("rp_filter", "0", "1", False),  # the larger of both counts
        ("rp_filter", "1", "2", True),
        ("rp_filter", "2", None, None),
        ("rp_filter", None, "2", None),
        ("arp_ignore", "0", "1", True),
        ("arp_ignore", "0", "0", False),
        ("arp_ignore", "8", "0", False),  # answers nobody
        ("arp_announce", "1", "0", False),
        ("arp_announce", "0", "2", True),
    ],
)
def test_what_the_kernel_acts_on(name, own, of_all, good):
    have = {f"net.ipv4.conf.{netdev}.{name}": value for netdev, value in (("enp1s0", own), ("all", of_all)) if value}
    want = {**sysctls.RP_FILTER, **sysctls.ARP}[name]
    assert sysctls.good(f"net.ipv4.conf.enp1s0.{name}", want, have) is good


def test_more_room_for_neighbours_is_good():
    name = "net.ipv4.neigh.default.gc_thresh1"
    assert [sysctls.good(name, "4096", {name: value}) for value in ("8192", "128")] == [True, False]
    assert sysctls.good(name, "4096", {}) is None


@pytest.mark.parametrize("name", ["rp_filter", "arp_ignore", "arp_announce"])
def test_what_is_no_number_is_not_known(name):
    have = {sysctls.conf("ens1", name): "1", sysctls.conf("all", name): "0"}
    for key in have:
        for text in ("", "zz", "-1"):
            assert sysctls.good(sysctls.conf("ens1", name), "2", {**have, key: text}) is None
    limit = sysctls.neighbours(4, "gc_thresh1")
    assert sysctls.good(limit, "4096", {limit: "zz"}) is None
