# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless settings of several nodes, held against each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.node import NodeResult, slim
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.verify.lossless import QOS, facts, intent, lossless
from tests.unit.verify.test_qos import FAULTS

GAIN = {"np_cnp_sent": 0, "np_ecn_marked_roce_packets": 0, "rp_cnp_handled": 0, "rp_cnp_ignored": 0}


def judged(**replaced):
    """Findings of three nodes, some of them replaced; facts as they travel."""
    nodes = {**{f"node{number}": lossless(number) for number in (1, 2, 3)}, **replaced}
    slimmed = {name: replace(n, facts=slim(n.intent, n.facts) if n.facts else None) for name, n in nodes.items()}
    return judge(slimmed, (), "2026-01-01")


def only(findings, rule, rail="rail0"):
    return [item for item in findings if item.rule == rule and item.rail in (rail, None)]


RULES = ("fabric.uniform_pfc", "fabric.uniform_dscp", "fabric.uniform_ets", "fabric.uniform_cnp")


@pytest.mark.parametrize("rule", RULES)
def test_healthy_nodes_are_alike(rule):
    assert {item.state for item in only(judged(), rule)} == {"pass"}


@pytest.mark.parametrize(
    ("rule", "state", "changes", "words", "root"),
    [
        pytest.param(rule, state, *rest, marks=pytest.mark.rule(rule, state))
        for rule, state, *rest in (
            ("fabric.uniform_pfc", "fail", {"pfc": ()}, "off on node2", "qos.pfc"),
            ("fabric.uniform_dscp", "warn", {"dscp_prio": ((25, 3), (48, 6))}, "25:3", "qos.dscp_map"),
            ("fabric.uniform_ets", "fail", {"share": (60, 0, 0, 60, 0, 0, 0, 0)}, "60 %", "qos.ets"),
            ("fabric.uniform_cnp", "fail", {"cnp_priority": 3}, "priority 3 on node2", "qos.cnp"),
        )
    ],
)
def test_the_odd_one_is_named_and_is_no_second_root(rule, state, changes, words, root):
    found = judged(node2=lossless(2, **changes))
    (odd,) = [item for item in only(found, rule) if item.state != "pass"]
    assert (odd.state, odd.host, words in odd.found) == (state, "node2", True), odd
    assert odd.caused_by == f"{root}@node2/rail0"
    assert [item.key for item in roots(found)] == [f"{root}@node2/rail0"]


def test_what_only_the_comparison_shows_is_a_root():
    """The map of a DSCP that the spec does not name."""
    found = judged(node2=lossless(2, dscp_prio=((0, 0), (10, 4), (26, 3), (48, 6))))
    assert [item.key for item in roots(found)] == ["fabric.uniform_dscp@node2/rail0"]


def test_maps_of_two_drivers_are_not_compared():
    """One lists all code points, the other those that were mapped."""
    table = {**{dscp: 0 if dscp >> 3 in (3, 6) else dscp >> 3 for dscp in range(64)}, 26: 3, 48: 6}
    other = lossless(2, dscp_prio=tuple(table.items()), offers=("dcb", "cc_params"))
    assert roots(judged(node2=other)) == ()


def test_an_older_intent_with_other_settings_is_not_alike():
    other = replace(QOS, pfc=(4,))
    found = judged(node2=lossless(2, intent(2, qos=other), pfc=(4,)))
    assert [item.key for item in roots(found) if item.rail == "rail0"] == ["fabric.uniform_pfc@node2/rail0"]


@pytest.mark.rule("fabric.uniform_pfc", "unknown")
def test_settings_that_were_not_read_are_unknown():
    blind = lossless(2)
    have = replace(blind.facts, qos=None)
    found = judged(node2=replace(lossless(2), facts=have))
    assert {item.state for item in only(found, "fabric.uniform_pfc")} == {"unknown"}


def test_a_node_that_was_not_reached_is_one_root():
    gone = NodeResult("node2", "unreachable", "No route to host", intent(2))
    found = judged(node2=gone)
    assert [item.key for item in roots(found)] == ["host.reachable@node2/-"]


def watched(number, **gain):
    node = lossless(number)
    return replace(node, facts=replace(node.facts, gained={"rail0": {**GAIN, **gain}}))


def lost(**gains):
    return only(judged(**{name: watched(int(name[4:]), **gain) for name, gain in gains.items()}), "fabric.cnps_lost")


@pytest.mark.rule("fabric.cnps_lost", "fail")
def test_cnps_that_nobody_gets():
    (found,) = lost(node1={"np_cnp_sent": 50}, node2={}, node3={})
    assert (found.state, found.peer) == ("fail", "node1")
    assert "50 CNPs sent by node1" in found.found


@pytest.mark.rule("fabric.cnps_lost", "pass")
def test_cnps_that_arrive():
    assert lost(node1={"np_cnp_sent": 50}, node2={"rp_cnp_handled": 40}, node3={})[0].state == "pass"
    # Ignored ones arrived: another rule is about them.
    assert lost(node1={"np_cnp_sent": 50}, node2={"rp_cnp_ignored": 40}, node3={})[0].state == "pass"
    assert lost(node1={"np_cnp_sent": 3}, node2={}, node3={})[0].state == "pass"


def test_cnps_are_not_lost_while_somebody_was_not_watched():
    assert lost(node1={"np_cnp_sent": 50}, node2={}) == []


def test_facts_that_travel_keep_the_rails_settings():
    assert [item.netdev for item in slim(intent(), facts()).qos] == ["enp1s0", "enp2s0"]


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_of_one_node_is_one_root_among_many(name):
    changes, keys = FAULTS[name]
    found = roots(judged(node2=lossless(2, **changes)))
    assert sorted(item.key for item in found) == sorted(key.replace("node1", "node2") for key in keys)
