# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules that compare nodes, waivers, the verdict, and what travels to the controller."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import Finding
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Waiver
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.catalogue import RULES
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.fabric import check_fabric
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.node import NodeResult, slim
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.roots import BLINDS, CAUSES
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import exit_code, verdict
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.waive import waive

from tests.unit.verify import nodes


def holding(number, rail, *addresses):
    return nodes.result(number, nodes.netdev(nodes.facts(number), rail, addresses=addresses))


def duplicates(results):
    return [item for item in check_fabric(results) if item.rule == "fabric.duplicate_address"]


@pytest.mark.rule("fabric.duplicate_address", "pass")
def test_what_other_netdevs_share_is_no_duplicate():
    """docker0 has one address everywhere, and so have link-local ones."""
    assert [(item.rail, item.state) for item in duplicates(nodes.cluster(1, 2, 3))] == [
        ("rail0", "pass"),
        ("rail1", "pass"),
    ]


@pytest.mark.rule("fabric.duplicate_address", "fail")
def test_duplicate_names_every_holder_and_the_rightful_one_first():
    results = nodes.cluster(1, 2, 3, node1=holding(1, 0, "10.1.0.3/24"), node2=holding(2, 0, "10.1.0.3/16"))
    found, other = duplicates(results)
    assert (found.host, found.peer, found.rail, found.state) == ("node3", "node1, node2", "rail0", "fail")
    assert other.state == "pass"


@pytest.mark.rule("fabric.duplicate_address", "fail")
def test_a_duplicate_off_the_rails_counts_when_it_is_a_rails_address():
    have = nodes.facts(2)
    stray = replace(have, netdevs=(*have.netdevs, Netdev("eth9", 20, addresses=("10.1.0.1/32",))))
    found = duplicates(nodes.cluster(node2=nodes.result(2, stray)))[0]
    assert (found.host, found.peer, "eth9" in found.found) == ("node1", "node2", True)


@pytest.mark.rule("fabric.duplicate_address", "fail")
def test_an_address_of_nobody_on_two_rails():
    results = nodes.cluster(node1=holding(1, 0, "10.9.9.9/24"), node2=holding(2, 1, "10.9.9.9/24"))
    found = duplicates(results)[0]
    assert (found.host, found.peer, found.cause) == ("node1", "node2/rail1", "no node should hold it")


def test_one_node_with_an_address_twice_is_no_duplicate():
    """Its own rail.address says that; another node is not involved."""
    results = nodes.cluster(node1=holding(1, 1, "10.2.0.1/24", "10.1.0.1/24"))
    assert {item.state for item in duplicates(results)} == {"pass"}


def test_both_families_of_one_rail_are_one_fault():
    both = ("10.1.0.1/24", "2001:db8::1/64")
    want = nodes.intent(1)
    want = replace(want, rails=(replace(want.rails[0], addresses=both), want.rails[1]))
    owner = nodes.result(1, nodes.netdev(nodes.facts(1), addresses=both), expected=want)
    found = [
        item for item in duplicates(nodes.cluster(node1=owner, node2=holding(2, 0, *both))) if item.rail == "rail0"
    ]
    assert [("10.1.0.1" in item.expected, "2001:db8::1" in item.expected) for item in found] == [(True, True)]


@pytest.mark.rule("fabric.duplicate_address", "unknown")
def test_a_node_that_was_not_read_may_hold_anything():
    results = nodes.cluster(node2=nodes.result(2, replace(nodes.facts(2), netdevs=None)))
    assert {(item.state, item.found) for item in duplicates(results)} == {
        ("unknown", "addresses of node2 are not known")
    }


@pytest.mark.rule("host.reachable", "fail")
def test_unreachable_node():
    gone = NodeResult("node2", "unreachable", "no route", nodes.intent(2))
    found = [item for item in check_fabric(nodes.cluster(node2=gone)) if item.rule == "host.reachable"]
    assert [(item.host, item.state) for item in found] == [("node1", "pass"), ("node2", "fail")]


@pytest.mark.rule("host.finished", "fail")
def test_failed_node_was_reached():
    broken = NodeResult("node2", "failed", "no space left", nodes.intent(2))
    found = {item.key: item for item in check_fabric({"node2": broken})}
    assert found["host.reachable@node2/-"].state == "pass"
    assert found["host.finished@node2/-"].found == "no space left"


def test_facts_that_travel_are_small_and_judge_alike():
    have = nodes.facts()
    veths = tuple(Netdev(f"veth{number}", 100 + number, kind="veth") for number in range(300))
    large = replace(have, netdevs=have.netdevs + veths)
    large = nodes.port(large, counters={"port_rcv_data": 1}, hw_counters={"out_of_sequence": 1})
    small = slim(nodes.intent(), large)
    assert len(str(encode(small))) < 6000
    assert small.rdma[0].ports[0].counters == {}
    # A rail's address may sit anywhere: what has an address travels.
    assert [netdev.name for netdev in small.netdevs] == ["enp1s0", "enp2s0", "docker0"]
    seen = [
        check_fabric(nodes.cluster(node1=replace(nodes.result(1), facts=facts), node2=nodes.result(2)))
        for facts in (small, large)
    ]
    assert seen[0] == seen[1]
    assert {item.state for item in seen[0]} == {"pass"}
    assert (small.routes, small.rules, small.sysctls) == ((), (), {})


def finding(state, **words):
    return Finding("rail.mtu", state, "title", "node1", "rail0", **words)


@pytest.mark.parametrize(
    ("waiver", "covered"),
    [
        (Waiver("rail.mtu", "why", "2026-01-02"), True),  # its last day
        (Waiver("rail.mtu", "why", "2026-01-01"), False),
        (Waiver("rail.mtu", "why", "2026-01-02", host="node1", rail="rail0"), True),
        (Waiver("rail.mtu", "why", "2026-01-02", host="node2"), False),
        (Waiver("rail.mtu", "why", "2026-01-02", rail="rail1"), False),
        (Waiver("rail", "why", "2026-01-02"), False),
    ],
)
def test_waiver(waiver, covered):
    found, *expired = waive((finding("fail", remedy="Mend it."),), (waiver,), "2026-01-02")
    assert (found.waived is not None) is covered
    assert verdict((found, finding("pass"))) == ("pass" if covered else "fail")
    ended = waiver.until < "2026-01-02"
    assert ("Its waiver ended on 2026-01-01" in found.remedy) is ended
    assert [(item.rule, item.state) for item in expired] == ([("spec.waiver", "warn")] if ended else [])


@pytest.mark.parametrize(("host", "covered"), [("leaf0", True), ("leaf1", False), (None, True)])
def test_a_waiver_of_a_switch(host, covered):
    waiver = Waiver("switch.pfc", "spine without PFC until spring", "2026-03-01", host=host)
    broken = Finding("switch.pfc", "fail", "title", None, None, device="leaf0")
    (found,) = waive((broken,), (waiver,), "2026-01-02")
    assert (found.waived is not None) is covered


@pytest.mark.rule("spec.waiver", "warn")
def test_an_expired_waiver_is_named_even_when_its_fault_is_gone():
    waivers = (
        Waiver("rail.mtu", "old image", "2026-01-01", host="node1"),
        Waiver("rail.rate", "spare cable", "2026-01-01", host="node1"),
        Waiver("rail.gid", "why", "2026-02-01"),
    )
    _passed, found = waive((finding("pass"),), waivers, "2026-01-02")
    assert (found.host, found.found) == ("node1", "rail.mtu until 2026-01-01, rail.rate until 2026-01-01")
    assert "old image" in found.cause


def test_what_follows_from_a_waived_fault_does_not_come_back():
    want = nodes.intent(2, waivers=(Waiver("rail.mtu", "old image", "2026-03-01", host="node2", rail="rail0"),))
    have = nodes.port(nodes.netdev(nodes.facts(2), mtu=1500), active_mtu=1024)
    made = judge(nodes.cluster(1, 2, 3, node2=nodes.result(2, have, expected=want)), (), "2026-01-01")
    assert verdict(made) == "pass"
    assert [item.key for item in made if item.state == "fail" and not item.caused_by] == ["rail.mtu@node2/rail0"]
    assert any(item.rule == "rail.path_mtu" and item.caused_by for item in made)


def test_a_pass_is_never_waived():
    (found,) = waive((finding("pass"),), (Waiver("rail.mtu", "why", "2027-01-01"),), "2026-01-01")
    assert found.waived is None


@pytest.mark.parametrize(
    ("states", "result", "code"),
    [
        (["pass"], "pass", 0),
        (["pass", "warn"], "warn", 0),
        (["warn", "unknown"], "unknown", 2),
        (["unknown", "fail", "warn"], "fail", 1),
        ([], "unknown", 2),
    ],
)
def test_verdict(states, result, code):
    assert verdict(finding(state) for state in states) == result
    assert exit_code(result) == code


def test_consequences_do_not_count():
    assert verdict((finding("fail", caused_by="x"), finding("warn"))) == "warn"


@pytest.mark.parametrize(("wanted", "code"), [("pass", 0), ("fail", 1)])
def test_callers_that_know_two_answers(wanted, code):
    assert exit_code("unknown", wanted) == code
    assert exit_code("fail", wanted) == 1


def test_every_rule_says_what_an_operator_needs():
    for key, rule in RULES.items():
        assert key == rule.id
        assert all((rule.title, rule.why, rule.remedy, rule.source))
        assert rule.severity in ("fail", "warn", "unknown")
        assert rule.scope in ("local", "fabric", "pair")


def test_no_rule_explains_itself():
    """In a circle of causes each finding would hang below the next, and none would be a root."""
    edges = {rule: {*CAUSES.get(rule, ()), *BLINDS.get(rule, ())} for rule in (*CAUSES, *BLINDS)}
    while edges:
        ends = [rule for rule, causes in edges.items() if not causes & edges.keys()]
        assert ends, sorted(edges)
        edges = {rule: causes for rule, causes in edges.items() if rule not in ends}


def test_links_name_rules_that_exist():
    named = {rule for table in (CAUSES, BLINDS) for key, causes in table.items() for rule in (key, *causes)}
    assert named - set(RULES) == set()
