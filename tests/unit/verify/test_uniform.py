# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes held against each other, cables against the spec, rails kept apart."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Gid, Neighbour
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond, DeviceMatch, PortIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.fabric import check_fabric
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.node import NodeResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.verify import nodes
from tests.unit.verify.rows import rdma
from tests.unit.verify.test_faults import sweep

DAY = "2026-01-01"


def hard(number, have=None, **intent):
    """A node with real NICs, judged."""
    want = nodes.intent(number, soft=False, **intent)
    return nodes.result(number, have or nodes.facts(number, soft=False), expected=want)


def site(*numbers, **replaced):
    return {**{f"node{n}": hard(n) for n in numbers or (1, 2, 3)}, **replaced}


def firmware(number, version, rails=(0,), **changes):
    have = nodes.facts(number, soft=False)
    for rail in rails:
        have = rdma(have, rail, firmware=version, **changes)
    return have


def of(results, rule):
    return [item for item in check_fabric(results) if item.rule == rule and item.state != "pass"]


@pytest.mark.rule("fabric.uniform_firmware", "pass")
@pytest.mark.rule("fabric.uniform_driver", "pass")
@pytest.mark.rule("fabric.uniform_mtu", "pass")
@pytest.mark.rule("fabric.uniform_gid", "pass")
@pytest.mark.rule("fabric.rail_leak", "pass")
def test_like_nodes_pass():
    assert {item.state for item in check_fabric(site())} == {"pass"}


@pytest.mark.rule("fabric.uniform_firmware", "warn")
def test_the_one_that_differs_is_named():
    (found,) = of(site(node2=hard(2, firmware(2, "28.39.1002"))), "fabric.uniform_firmware")
    assert (found.host, found.rail, found.state) == ("node2", "rail0", "warn")
    assert ("28.43.2026" in found.expected, found.found) == (True, "28.39.1002 on node2")


def test_a_node_that_differs_on_all_rails_is_one_finding():
    findings = judge(site(node2=hard(2, firmware(2, "28.39.1002", rails=(0, 1)))), (), DAY)
    (root,) = roots(findings)
    assert (root.host, root.rail, "rail0, rail1" in root.cause) == ("node2", None, True)


def test_without_a_majority_nobody_is_blamed():
    (found,) = of(site(1, 2, node2=hard(2, firmware(2, "28.39.1002"))), "fabric.uniform_firmware")
    assert (found.host, found.peer, "no firmware has the majority" in found.cause) == (None, "node2, node1", True)


def test_other_hardware_is_not_compared():
    """Another kind of NIC on the same rail has its own firmware, and its own majority."""
    other = {"hca_type": "MT4131"}
    results = site(1, 2, 3, 4, 5)
    results.update({f"node{n}": hard(n, firmware(n, "40.44.1036", **other)) for n in (4, 5)})
    assert of(results, "fabric.uniform_firmware") == []


@pytest.mark.rule("fabric.uniform_firmware", "unknown")
def test_a_firmware_that_is_not_known_is_no_agreement():
    (found,) = of(site(node2=hard(2, firmware(2, None))), "fabric.uniform_firmware")
    assert (found.state, found.peer) == ("unknown", "node2")


def test_a_wanted_firmware_is_the_root():
    """The profile names it, so the node is at fault, and the comparison follows."""
    want = nodes.intent(2, soft=False)
    want = replace(want, rails=tuple(replace(rail, firmware="28.43.2026") for rail in want.rails))
    odd = nodes.result(2, firmware(2, "28.39.1002", rails=(0, 1)), expected=want)
    found = [item.key for item in roots(judge(site(node2=odd), (), DAY))]
    assert found == ["rail.firmware@node2/rail0", "rail.firmware@node2/rail1"]


@pytest.mark.rule("fabric.uniform_driver", "warn")
def test_driver():
    have = nodes.netdev(nodes.facts(2, soft=False), driver="mlx5_vdpa")
    (found,) = of(site(node2=hard(2, have)), "fabric.uniform_driver")
    assert (found.host, found.found) == ("node2", "mlx5_vdpa on node2")


@pytest.mark.rule("fabric.uniform_mtu", "fail")
def test_mtu_follows_from_the_rails_own_rule():
    have = nodes.port(nodes.netdev(nodes.facts(2, soft=False), mtu=1500), active_mtu=1024)
    findings = judge(site(node2=hard(2, have)), (), DAY)
    assert [item.key for item in roots(findings)] == ["rail.mtu@node2/rail0"]
    (found,) = [item for item in findings if item.rule == "fabric.uniform_mtu" and item.state == "fail"]
    assert (found.host, found.found) == ("node2", "1500 (path MTU 1024) on node2")


@pytest.mark.rule("fabric.uniform_gid", "warn")
def test_a_gid_that_moved():
    """All is there, and a job that names index 1 on every node gets nothing on this one."""
    table = nodes.facts(2, soft=False).rdma[0].ports[0].gids
    moved = nodes.port(nodes.facts(2, soft=False), gids=(table[0], replace(table[1], index=5)))
    (root,) = roots(judge(site(node2=hard(2, moved)), (), DAY))
    assert (root.key, root.state) == ("fabric.uniform_gid@node2/rail0", "warn")
    assert ("index 1" in root.expected, root.found) == (True, "5 on node2")


def test_a_lost_gid_is_no_moved_one():
    lost = nodes.port(nodes.facts(2, soft=False), gids=(Gid(0, "fe80" + ":0000" * 7, "RoCE v2", "enp1s0"),))
    findings = judge(site(node2=hard(2, lost)), (), DAY)
    assert [item.key for item in roots(findings)] == ["rail.gid@node2/rail0"]


def test_a_node_that_is_down_is_one_root():
    gone = NodeResult("node2", "unreachable", "no route", nodes.intent(2, soft=False))
    assert [item.key for item in roots(judge(site(node2=gone), (), DAY))] == ["host.reachable@node2/-"]


def lldp(have, *leaves):
    heard = tuple(Neighbour(f"enp{n}s0", leaf, f"Ethernet{n}") for n, leaf in enumerate(leaves, 1) if leaf)
    return replace(have, lldp=heard)


def cabled(number, *leaves, **intent):
    return hard(number, lldp(nodes.facts(number, soft=False), *leaves), **intent)


def cables(results):
    return [item for item in check_fabric(results) if item.rule == "fabric.cabling"]


def cabled_site(**replaced):
    return {**{f"node{n}": cabled(n, "leaf0", "leaf1") for n in (1, 2, 3)}, **replaced}


@pytest.mark.rule("fabric.cabling", "pass")
def test_cables_as_in_the_spec():
    results = cabled_site(node2=cabled(2, "LEAF0.site.example", "leaf1"))
    assert [(item.state, item.rail) for item in cables(results)] == [("pass", "rail0"), ("pass", "rail1")] * 3


@pytest.mark.rule("fabric.cabling", "fail")
def test_swapped_rails_are_one_swap():
    (root,) = roots(judge(cabled_site(node2=cabled(2, "leaf1", "leaf0")), (), DAY))
    assert (root.key, root.state) == ("fabric.cabling@node2/rail0>node2/rail1", "fail")
    assert root.cause == "the cables of enp1s0 (rail0) and enp2s0 (rail1) of node2 are swapped"
    assert root.found == "enp1s0 on leaf1 Ethernet1; enp2s0 on leaf0 Ethernet2"


def test_three_cables_in_a_circle_are_one_finding():
    want = {"count": 3, "leaves": {0: "leaf0", 1: "leaf1", 2: "leaf2"}}
    have = lldp(nodes.facts(1, soft=False, rails=3), "leaf1", "leaf2", "leaf0")
    (found,) = [item for item in cables({"node1": hard(1, have, **want)}) if item.state == "fail"]
    assert (found.peer, "mixed up" in found.cause) == ("node1/rail1, node1/rail2", True)


def test_cables_swapped_between_two_nodes():
    results = cabled_site(node1=cabled(1, "leaf1", "leaf1"), node2=cabled(2, "leaf0", "leaf0"))
    (root,) = roots(judge(results, (), DAY))
    assert root.key == "fabric.cabling@node1/rail0>node2/rail1"
    assert "node1 and node2 are swapped" in root.cause


def test_a_wrong_leaf_is_no_swap():
    (root,) = roots(judge(cabled_site(node2=cabled(2, "leaf7", "leaf1")), (), DAY))
    assert (root.key, root.found) == ("fabric.cabling@node2/rail0", "enp1s0 on leaf7 Ethernet1")


@pytest.mark.rule("fabric.cabling", "warn")
def test_a_leaf_of_another_name_is_one_finding():
    """All nodes hear the same stranger: the spec, or the switch, is misnamed."""
    results = {f"node{n}": cabled(n, "sw-12", "leaf1") for n in (1, 2, 3)}
    (root,) = roots(judge(results, (), DAY))
    assert (root.key, root.state, root.cause) == (
        "fabric.cabling@leaf0/rail0",
        "warn",
        "leaf leaf0 of the spec calls itself sw-12",
    )


def test_legs_of_a_bond_on_each_others_leaf_still_carry_it():
    ports = tuple(PortIntent((DeviceMatch(pci=f"0000:0{n}:00.0"),), leaf=f"leaf{n}") for n in (1, 2))
    want = nodes.intent(1, soft=False, count=1)
    want = replace(want, rails=(replace(want.rails[0], ports=ports, bond=Bond("802.3ad")),))
    have = lldp(nodes.facts(1, soft=False), "leaf2", "leaf1")
    result = NodeResult("node1", "judged", "", want, have, ())
    (found,) = cables({"node1": result})
    assert (found.state, found.rail, found.peer) == ("warn", "rail0", "")


def test_silence_says_nothing_about_cables():
    assert cables(site()) == []
    assert [item.rail for item in cables({"node1": cabled(1, None, "leaf1")})] == ["rail1"]


def test_swapped_cables_explain_what_the_rails_lose():
    results = cabled_site(node2=cabled(2, "leaf1", "leaf0"))
    pairs = sweep(("node2",), reason="unreachable", kinds=("mtu",))
    assert [item.key for item in roots(judge(results, pairs, DAY))] == ["fabric.cabling@node2/rail0>node2/rail1"]


def dhcp(number, *addresses):
    want = nodes.intent(number, soft=False)
    want = replace(want, rails=tuple(replace(rail, addressing="dhcp", addresses=()) for rail in want.rails))
    have = nodes.facts(number, soft=False)
    for rail, address in enumerate(addresses):
        have = nodes.netdev(have, rail, addresses=(address,))
    return NodeResult(f"node{number}", "judged", "", want, have, ())


@pytest.mark.rule("fabric.rail_leak", "fail")
def test_a_subnet_on_two_rails_leaks():
    results = {f"node{n}": dhcp(n, f"10.1.0.{n}/24", f"10.2.0.{n}/24") for n in (1, 2)}
    results["node3"] = dhcp(3, "10.1.0.3/24", "10.1.0.33/24")
    (found,) = of(results, "fabric.rail_leak")
    assert (found.host, found.rail, found.found) == ("node3", "rail1", "10.1.0.0/24 on rail1 of node3")


def test_rails_that_the_spec_puts_into_one_subnet_do_not_leak():
    results = {}
    for number in (1, 2):
        want = nodes.intent(number, soft=False)
        second = replace(want.rails[1], addresses=(f"10.1.0.{number + 100}/24",))
        want = replace(want, rails=(want.rails[0], second))
        have = nodes.netdev(nodes.facts(number, soft=False), 1, addresses=second.addresses)
        results[f"node{number}"] = NodeResult(f"node{number}", "judged", "", want, have, ())
    assert of(results, "fabric.rail_leak") == []


def test_a_wrong_subnet_is_one_root():
    """The rule about the rail's own address says it first."""
    wrong = nodes.netdev(nodes.facts(2, soft=False), addresses=("10.2.0.77/24",))
    wrong = nodes.gids(wrong, gid="0000:0000:0000:0000:0000:ffff:0a02:004d")
    moved = tuple(replace(r, destination="10.2.0.0/24") if r.netdev == "enp1s0" else r for r in wrong.routes)
    findings = judge(site(node2=hard(2, replace(wrong, routes=moved))), (), DAY)
    assert [item.key for item in roots(findings)] == ["rail.address@node2/rail0"]
    assert any(item.rule == "fabric.rail_leak" and item.caused_by for item in findings)


def test_a_thousand_nodes_take_a_thousand_times_as_long():
    """Linear: four times the nodes take about four times as long, and stay far from sixteen times."""

    def spent(count):
        results = {}
        for n in range(1, count + 1):
            want, have = nodes.intent(n % 200, host=f"node{n}"), nodes.facts(n % 200)
            results[f"node{n}"] = NodeResult(f"node{n}", "judged", "", want, have, ())
        started = time.process_time()
        check_fabric(results)
        return time.process_time() - started

    spent(20)
    assert spent(800) < 8 * spent(200) + 0.2
