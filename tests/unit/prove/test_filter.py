# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Every pair of the plan has a result, and a client's result takes over what only its server's node knows."""

from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.filter.prove import proof
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.cover import plan_proof

from tests.unit.prove.fakes import node

WORK = encode(plan_proof({"node1": node(1), "node2": node(2)}, unreached=["node9"]).nodes["node1"])
PAIR = {"host": "node1", "peer": "node2", "rail": "rail0", "reason": "no_server", "error": "Couldn't connect"}
NONE = {"pairs": []}


def served(**changes):
    entry = {"client": "node1", "rail": "rail0", "port": 18600, "error": "no memory", "reason": "no_server", **changes}
    return {"node2": {"prove_served": {"served": [entry]}}}


def measured(pair, hostvars):
    return proof(WORK, NONE, {"pairs": [pair]}, hostvars)[-1]


def test_the_servers_reason_wins():
    pair = measured(PAIR, served(reason="in_use"))
    assert (pair["reason"], pair["error"]) == ("in_use", "node2: no memory")


def test_only_the_failed_server_of_this_very_pair_counts():
    gone = {"node2": {"prove_served": {"unreachable": True, "msg": "gone"}}}
    for other in (served(client="node3"), served(rail="rail1"), served(error=""), gone, {"node2": {}}, {}):
        assert measured(PAIR, other) == PAIR
    good = {**PAIR, "reason": None, "error": None}
    assert measured(good, served()) == good


def test_pairs_with_nodes_that_take_no_part_are_among_the_results():
    results = proof(WORK, NONE, NONE, {})
    assert {(pair["peer"], pair["reason"]) for pair in results} == {("node9", "not_run")}


def test_a_node_that_drops_out_leaves_no_pair_without_a_result():
    lost = {"unreachable": True, "msg": "Connection timed out"}
    results = [pair for pair in proof(WORK, lost, lost, {}) if pair["peer"] == "node2"]
    assert [(pair["kind"], pair["rail"]) for pair in results] == [
        ("mtu", "rail0"),
        ("mtu", "rail1"),
        ("bandwidth", "rail0"),
        ("bandwidth", "rail1"),
    ]
    assert {pair["reason"] for pair in results} == {"not_run"}
    assert "Connection timed out" in results[0]["error"]
