# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""From what the tools print to one root: results of the proof, judged by the rules for pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import Completed
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.cover import plan_proof
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.node import prove_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import judge

from tests.unit.prove.fakes import FakePort, FakeStarter, perf_text, ping_text
from tests.unit.verify import nodes

RETRIES = "Failed status 12: wr_id 0 syndrom 0x81 scnt=128, ccnt=0\n"


class World(FakePort):
    """A node of the verifier's cluster: rail N is 10.<N+1>.0.<number> on enp<N+1>s0.

    ``faulty`` is the bad rail, for all pairs or for those of node ``of`` only; ``egress`` the way out it then has.
    """

    def __init__(self, number, faulty=None, of=None, egress=None, **options):
        super().__init__(**options)
        self.number, self.faulty, self.of, self.egress = number, faulty, of, egress

    def hit(self, address):
        """Whether the fault lies on the way to an address."""
        rail, peer = int(address.split(".")[1]) - 1, int(address.rpartition(".")[2])
        return rail == self.faulty and self.of in {None, self.number, peer}

    def _route(self, argv):
        rail = int(argv[4].split(".")[1])
        device = self.egress if self.egress and self.hit(argv[4]) else f"enp{rail}s0"
        return self.answer(argv, {"dev": device, "prefsrc": f"10.{rail}.0.{self.number}"})

    def _ping(self, argv):
        size, count = int(argv[argv.index("-s") + 1]), int(argv[argv.index("-c") + 1])
        passed = count if size + 28 <= self.carries or not self.hit(argv[-1]) else 0
        return Completed(tuple(argv), 0 if passed else 1, ping_text(size, passed, count), "")

    def _perf(self, argv):
        if "--help" in argv:
            return super()._perf(argv)
        rail = int(argv[-1].split(".")[1])
        text = perf_text(f"rxe_rail{rail - 1}", f"10.{rail}.0.{self.number}")
        return Completed(tuple(argv), 0, self.perf if self.hit(argv[-1]) else text, "")


def roots(worlds, **replaced):
    """Root findings of a proof over three nodes."""
    cluster = nodes.cluster(1, 2, 3, **replaced)
    plan = plan_proof({host: node.intent for host, node in cluster.items()})
    pairs = []
    for host, node in cluster.items():
        port = worlds(int(host[-1]))
        for phase in ("mtu", "measure"):
            outcome = prove_node(port, FakeStarter(), node.intent, node.facts, plan.nodes[host], phase=phase)
            pairs += outcome.pairs
    findings = judge(cluster, pairs, "2026-01-31")
    assert {finding.rule for finding in findings} >= {"pair.reach", "pair.mtu", "pair.bandwidth"}
    return [finding for finding in findings if finding.state != "pass" and not finding.caused_by]


def test_a_healthy_fabric_has_no_root():
    assert roots(World) == []


def test_a_leaf_with_a_small_mtu():
    (root,) = roots(lambda number: World(number, faulty=0, carries=1500, perf=RETRIES))
    assert (root.rule, root.rail) == ("fabric.leaf_mtu", "rail0")
    assert "leaf0" in root.cause


def test_a_node_with_a_small_mtu():
    have = nodes.netdev(nodes.facts(1), mtu=1500)
    have = nodes.port(have, active_mtu=1024)
    (root,) = roots(
        lambda number: World(number, faulty=0, of=1, carries=1500, perf=RETRIES), node1=nodes.result(1, have)
    )
    assert (root.rule, root.host, root.rail) == ("rail.mtu", "node1", "rail0")


def test_a_node_without_its_address():
    have = nodes.gids(nodes.netdev(nodes.facts(1), addresses=()))
    (root,) = roots(
        lambda number: World(number, faulty=0, of=1, carries=0, perf="Couldn't connect to 10.1.0.1:18600\n"),
        node1=nodes.result(1, have),
    )
    assert (root.rule, root.host, root.rail) == ("rail.address", "node1", "rail0")


def test_test_traffic_that_would_leave_by_the_management_link():
    found = roots(lambda number: World(number, faulty=0 if number == 1 else None, egress="eth0"))
    assert {(root.rule, root.host, root.rail) for root in found} == {("pair.path", "node1", "rail0")}
    assert all("eth0" in root.found for root in found)


def test_a_node_in_use_is_unknown_and_never_good():
    found = roots(lambda number: World(number, users=({"pid": 42, "comm": "python3"},) if number == 1 else ()))
    assert {root.state for root in found} == {"unknown"}
    assert {root.host for root in found} == {"node1"}


@pytest.mark.parametrize("bound", [0.5, 0.001])
def test_slow_is_judged_by_the_acceptance(bound):
    """0.018 Gbit/s on a link of 1 Gbit/s: half of it is missed, a thousandth is not."""
    expected = [nodes.intent(number) for number in (1, 2, 3)]
    expected = [
        replace(
            intent,
            acceptance=replace(intent.acceptance, bandwidth=bound),
            rails=tuple(replace(rail, speed_gbps=1.0) for rail in intent.rails),
        )
        for intent in expected
    ]
    results = {f"node{number}": nodes.result(number, expected=intent) for number, intent in enumerate(expected, 1)}
    found = roots(World, **results)
    slow = [root for root in found if root.rule == "pair.bandwidth"]
    assert len(slow) == (6 if bound == 0.5 else 0)
    assert all("at least 0.5 Gbit/s" in root.expected for root in slow)
