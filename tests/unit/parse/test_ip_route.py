# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes and rules as iproute2 6.1 prints them (of a network namespace made for it), and what older ones do."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Route, RoutingRule
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import ip_route

ROUTES = """[
{"type":"unicast","dst":"default","gateway":"10.1.0.2","dev":"v0","table":"101","protocol":"boot","scope":"global",
 "flags":[]},
{"type":"unicast","dst":"10.1.0.0/24","dev":"v0","table":"main","protocol":"kernel","scope":"link",
 "prefsrc":"10.1.0.1","flags":["linkdown"]},
{"type":"unicast","dst":"10.3.0.0/16","table":"main","protocol":"boot","scope":"global","flags":[],"nexthops":[
 {"gateway":"10.1.0.5","dev":"v0","weight":1,"flags":[]},{"gateway":"10.1.0.6","dev":"v1","weight":1,"flags":[]}]},
{"type":"unicast","dst":"10.4.0.0/16","via":{"family":"inet6","host":"fe80::1"},"dev":"v0","table":"main","flags":[]},
{"type":"blackhole","dst":"10.8.0.0/16","table":"main","protocol":"boot","scope":"global","flags":[]},
{"type":"local","dst":"10.1.0.1","dev":"v0","table":"local","protocol":"kernel","scope":"host","flags":[]},
{"type":"unicast","dst":"10.9.0.1","dev":"v0","table":"rails","metric":7,"flags":[]},
{"type":"unicast","dst":"default","dev":"v0","table":"102","metric":1024,"flags":[],"pref":"medium"},
{"type":"unicast","dst":"fd01::/64","dev":"v0","table":"main","metric":256,"flags":[],"pref":"medium"},
{"type":"multicast","dst":"ff00::/8","dev":"v1","table":"local","metric":256,"flags":[],"pref":"medium"}]"""
RULES = """[{"priority":0,"src":"all","table":"local","protocol":"kernel"},
{"priority":1009,"src":"10.5.0.0","srclen":16,"action":"blackhole","protocol":"unspec"},
{"priority":1010,"src":"10.1.0.1","table":"101","protocol":"unspec"},
{"priority":2000,"not":null,"src":"all","dst":"10.9.0.0","dstlen":16,"fwmark":"0x1","iif":"v0","table":"main"},
{"priority":2001,"src":"all","goto":32766},
{"priority":2002,"src":"all","l3mdev":null},
{"priority":32767,"src":"all","table":"default","protocol":"kernel"}]"""


def test_routes():
    assert ip_route.routes(ROUTES, lambda: {"rails": 200}) == (
        Route("0.0.0.0/0", "v0", "10.1.0.2", 101),
        Route("10.1.0.0/24", "v0", source="10.1.0.1"),
        Route("10.3.0.0/16", "v0", "10.1.0.5"),
        Route("10.3.0.0/16", "v1", "10.1.0.6"),
        Route("10.4.0.0/16", "v0", "fe80::1"),
        Route("10.9.0.1/32", "v0", table=200, metric=7),
        Route("::/0", "v0", table=102, metric=1024),
        Route("fd01::/64", "v0", metric=256),
    )


def test_a_default_route_without_gateway_and_preference_is_ipv4():
    assert ip_route.routes('[{"dst":"default","dev":"v0","flags":[]}]') == (Route("0.0.0.0/0", "v0"),)


def test_iproute2_5_prints_types_without_a_key_and_objects_for_what_it_filtered():
    assert ip_route.routes('[{"unicast","dst":"10.1.0.0/24","dev":"v0","table":"main","flags":[]},{}]') == (
        Route("10.1.0.0/24", "v0"),
    )


def test_rules():
    assert ip_route.rules(RULES) == (
        RoutingRule(0, 255),
        RoutingRule(1009, 0, "10.5.0.0/16", action="blackhole"),
        RoutingRule(1010, 101, "10.1.0.1/32"),
        RoutingRule(2000, 254, selectors=("not", "to 10.9.0.0/16", "iif v0", "fwmark 0x1")),
        RoutingRule(2001, 0, action="goto 32766"),
        RoutingRule(2002, 0, action="l3mdev"),
        RoutingRule(32767, 253),
    )
    assert ip_route.rules('[{"priority":9,"src":"fd01::1","table":"102"}]', family=6) == (
        RoutingRule(9, 102, "fd01::1/128", 6),
    )


def test_names_of_tables():
    text = "# reserved values\n#\n255\tlocal\n254\tmain\n101 rail0 # of node1\n0x66 other\nnonsense\n"
    assert ip_route.table_names(text) == {"local": 255, "main": 254, "rail0": 101}


def test_a_table_of_unknown_number_is_no_route():
    with pytest.raises(ParseError, match="no number is known for the table 'rails'"):
        ip_route.routes(ROUTES)


def test_names_are_looked_up_only_when_there_are_any():
    def ask():
        pytest.fail("nothing here has a name")

    assert len(ip_route.rules(RULES, ask)) == 7


@pytest.mark.parametrize(
    ("parse", "entry"),
    [
        (ip_route.routes, 5),
        (ip_route.routes, {"dev": "v0"}),
        (ip_route.routes, {"dst": 7}),
        (ip_route.routes, {"dst": "10.0.0.0/8", "metric": "1"}),
        (ip_route.routes, {"dst": "10.0.0.0/8", "dev": 1}),
        (ip_route.routes, {"dst": "10.0.0.0/8", "nexthops": [1]}),
        (ip_route.rules, {"priority": "1", "table": "main"}),
        (ip_route.rules, {"priority": 1}),
        (ip_route.rules, {"priority": 1, "table": "nowhere"}),
    ],
)
def test_damage_is_refused(parse, entry):
    with pytest.raises(ParseError):
        parse(json.dumps([entry]))
    with pytest.raises(ParseError):
        parse(json.dumps(entry))
