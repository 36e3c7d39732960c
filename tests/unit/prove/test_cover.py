# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Who probes whom: every pair of a small fabric, a stated share of a large one, nobody over a path that is none."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import decode, encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Acceptance
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.cover import plan_proof
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.work import GRACE_S, NodeWork

from tests.unit.prove.fakes import node, rail


def fabric(count):
    return {f"node{n}": node(n) for n in range(1, count + 1)}


def test_two_nodes():
    cover = plan_proof(fabric(2))
    work = cover.nodes["node1"]
    assert [(probe.peer, probe.rail, probe.mtu) for probe in work.probes] == [
        ("node2", "rail0", 4200),
        ("node2", "rail1", 4200),
    ]
    assert [(test.client, test.server, test.rail, test.port) for test in work.measure] == [
        ("node1", "node2", "rail0", 18600),
        ("node1", "node2", "rail1", 18601),
    ]
    assert [(test.client, test.server) for test in work.serve] == [("node2", "node1")] * 2
    assert work.probes[0].targets[0].source == "10.0.0.1"
    assert work.measure[0].target.peer == "10.0.0.2"
    assert cover.coverage == "all 4 of 4 pairs and rails"
    assert work.lifetime_s <= 90


def test_both_sides_of_a_test_have_the_same_description():
    cover = plan_proof(fabric(5))
    measured = {(test.client, test.rail): test for work in cover.nodes.values() for test in work.measure}
    served = {(test.client, test.rail): test for work in cover.nodes.values() for test in work.serve}
    assert measured == served
    assert len(measured) == 5 * 2


@pytest.mark.parametrize(("count", "each"), [(3, 2), (32, 31), (33, 31), (200, 31)])
def test_work_per_node_is_bounded_and_even(count, each):
    cover = plan_proof({name: replace(intent, rails=intent.rails[:1]) for name, intent in fabric(count).items()})
    sent = Counter(probe.peer for work in cover.nodes.values() for probe in work.probes)
    assert set(sent.values()) == {each}
    for host, work in cover.nodes.items():
        peers = [probe.peer for probe in work.probes]
        assert len(set(peers)) == len(peers) == each
        assert host not in peers
        assert (len(work.serve), len(work.measure)) == (1, 1)
    assert cover.pairs == each * count
    assert cover.possible == count * (count - 1)


def test_a_partial_cover_says_so():
    cover = plan_proof(fabric(100))
    assert cover.coverage.startswith("6200 of 19800 pairs and rails (31.3 %)")


def test_each_server_has_a_tcp_port_of_its_own():
    for work in plan_proof(fabric(4)).nodes.values():
        ports = [test.port for test in work.serve]
        assert len(set(ports)) == len(ports)


def test_one_node_has_nobody_to_probe():
    cover = plan_proof(fabric(1))
    assert cover.nodes["node1"] == NodeWork("node1", lifetime_s=cover.nodes["node1"].lifetime_s)
    assert cover.coverage == "no pairs"


def test_units_without_a_gateway_are_not_paired():
    first = {"a": replace(node(1), host="a"), "b": replace(node(2), host="b")}
    rails = (rail(0, "10.99.0.1/24"),)
    second = {"c": replace(node(3), host="c", unit="su2", rails=rails)}
    cover = plan_proof({**first, **second})
    assert not cover.nodes["c"].probes
    assert {probe.peer for probe in cover.nodes["a"].probes} == {"b"}
    assert any("without a path" in note for note in cover.notes)


def test_units_with_gateways_are_paired_across_subnets():
    intents = {
        name: replace(node(n), host=name, rails=(rail(0, f"10.{n}.0.1/31", gateways=(f"10.{n}.0.0",)),))
        for n, name in enumerate(["a", "b", "c"], 1)
    }
    cover = plan_proof(intents)
    assert {probe.peer for probe in cover.nodes["a"].probes} == {"b", "c"}
    assert not cover.notes


def test_a_rail_without_address_is_named_and_left_alone():
    intents = {f"node{n}": replace(node(n), rails=(rail(0, ""),)) for n in (1, 2)}
    cover = plan_proof(intents)
    assert cover.pairs == 0
    assert cover.notes == ("rail0: the spec gives node1, node2 no address, so nothing is sent there",)


def test_both_families_are_probed_and_the_first_carries_the_handshake():
    intents = {
        f"node{n}": replace(node(n), rails=(rail(0, "", addresses=(f"fd00::{n}/64", f"10.0.0.{n}/24")),))
        for n in (1, 2)
    }
    work = plan_proof(intents).nodes["node1"]
    assert [target.peer for target in work.probes[0].targets] == ["10.0.0.2", "fd00::2"]
    assert work.measure[0].target.peer == "10.0.0.2"


def test_the_smaller_of_two_mtus_is_probed():
    intents = {"node1": node(1), "node2": replace(node(2), rails=(rail(0, "10.0.0.2/16", mtu=1500),))}
    assert plan_proof(intents).nodes["node1"].probes[0].mtu == 1500


def test_pairs_with_unreached_nodes_are_reported_not_probed():
    work = plan_proof(fabric(2), unreached=["node9"]).nodes["node1"]
    assert {(pair.peer, pair.rail, pair.reason) for pair in work.skipped} == {
        ("node9", "rail0", "not_run"),
        ("node9", "rail1", "not_run"),
    }
    assert "node9" not in {probe.peer for probe in work.probes}


@pytest.mark.parametrize(
    ("bandwidth", "speed", "expected"),
    [(0.9, 400.0, 360.0), (0.9, None, None), (25.0, None, 25.0), (1.0, 100.0, 100.0)],
)
def test_acceptance_is_a_ratio_or_absolute(bandwidth, speed, expected):
    intents = {
        name: replace(
            intent,
            acceptance=Acceptance(bandwidth),
            rails=tuple(replace(one, speed_gbps=speed) for one in intent.rails),
        )
        for name, intent in fabric(2).items()
    }
    assert plan_proof(intents).nodes["node1"].measure[0].expected == expected


def test_soft_rails_are_loaded_gently_and_hard_ones_fully():
    soft = plan_proof(fabric(2)).nodes["node1"].measure[0]
    hard = (
        plan_proof(
            {
                name: replace(intent, rails=tuple(replace(one, soft_roce=False) for one in intent.rails))
                for name, intent in fabric(2).items()
            }
        )
        .nodes["node1"]
        .measure[0]
    )
    assert (soft.size * soft.depth, soft.queue_pairs) == (131072, 1)
    assert (hard.size, hard.queue_pairs) == (1048576, 4)


def test_servers_outlive_a_test_that_hangs_on_each_rail():
    work = plan_proof(fabric(2)).nodes["node1"]
    assert work.lifetime_s > sum(test.seconds + GRACE_S for test in work.measure)


def test_servers_live_until_the_last_batch_of_clients_came():
    few, many = plan_proof(fabric(10)), plan_proof(fabric(100), forks=10)
    assert many.nodes["node1"].lifetime_s > few.nodes["node1"].lifetime_s


def test_work_travels_as_plain_data():
    work = plan_proof(fabric(3), unreached=["node9"]).nodes["node2"]
    assert decode(NodeWork, encode(work)) == work
