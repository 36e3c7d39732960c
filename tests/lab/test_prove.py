# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""prove.yml on real kernels: modules prove_plan and fabric_prove, on a healthy fabric and with faults."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lab
PROVE = "playbooks/prove.yml"
RAILS = ("rail0", "rail1")
NODES = ("node1", "node2")


def pairs(played, kind):
    return [pair for pair in played.report["pairs"] if pair["kind"] == kind]


def only_root(played):
    """The one root finding of a run that failed."""
    assert played.rc != 0, played.out[-4000:]
    roots = played.roots()
    assert len(roots) == 1, [(root["rule"], root["host"], root["rail"], root["state"], root["found"]) for root in roots]
    return roots[0]


def test_a_healthy_fabric_is_proved(converged_lab):
    played = converged_lab.playbook(PROVE)
    assert played.report["verdict"] == "pass"
    wanted = sorted((host, peer, rail) for host in NODES for peer in NODES for rail in RAILS if host != peer)
    for kind in ("mtu", "bandwidth", "class", "cm_class", "lossless"):
        found = pairs(played, kind)
        assert sorted((pair["host"], pair["peer"], pair["rail"]) for pair in found) == wanted
        assert not [pair for pair in found if pair["error"]]
    assert {pair["value"] for pair in pairs(played, "mtu")} == {4200}
    for pair in pairs(played, "bandwidth"):
        assert pair["device"] == f"rxe_{pair['rail']}"
        assert pair["gid"].startswith("0000:0000:0000:0000:0000:ffff:0a64:")
        assert pair["netdev"] == converged_lab.netdev(pair["host"], pair["rail"])
        # The leaves shape to 20 Mbit/s, and an emulated clock is not exact: much more would be another path,
        # less than the acceptance a broken one.
        assert 0.015 < pair["value"] < 0.03
    for node in NODES:
        left = converged_lab.lab.run(node, ["pgrep", "ib_write_bw"], check=False)
        assert left.returncode == 1, f"{node} still runs {left.stdout}"


@pytest.mark.full
def test_check_mode_says_what_it_would_send_and_sends_nothing(converged_lab):
    before = {port: state["counters"].get("tx_bytes", 0) for port, state in converged_lab.lab.ports().items()}
    played = converged_lab.playbook(PROVE, "--check", "-v")
    after = {port: state["counters"].get("tx_bytes", 0) for port, state in converged_lab.lab.ports().items()}
    assert "4200 bytes from 10.100.0.1 to node2" in played.out
    assert "bandwidth from 10.100.1.2 to node1" in played.out
    # Neighbour discovery, LLDP and the like go on.
    assert max(after[port] - before[port] for port in after) < 20_000


@pytest.mark.full
def test_a_small_mtu_on_one_leaf_is_one_root_that_names_the_leaf(converged_lab):
    converged_lab.lab.leaf_set("leaf0", mtu=1500)
    played = converged_lab.playbook(PROVE, check=False)
    root = only_root(played)
    assert "leaf0" in root["cause"]
    assert root["rail"] == "rail0"
    lost = [pair for pair in pairs(played, "mtu") if pair["error"]]
    assert {(pair["rail"], pair["reason"], pair["value"]) for pair in lost} == {("rail0", "size_lost", 1500)}
    assert len(lost) == 2


@pytest.mark.full
def test_a_wrong_mtu_on_one_node_is_one_root_that_names_the_node(converged_lab):
    netdev = converged_lab.netdev("node1", "rail0")
    converged_lab.lab.run("node1", ["ip", "link", "set", "dev", netdev, "mtu", "1500"])
    root = only_root(converged_lab.playbook(PROVE, check=False))
    assert (root["host"], root["rail"]) == ("node1", "rail0")
    assert "1500" in root["found"]


@pytest.mark.full
def test_a_rail_that_is_down_is_one_root(converged_lab):
    converged_lab.lab.link("node1", "rail0", False)
    root = only_root(converged_lab.playbook(PROVE, check=False))
    assert (root["host"], root["rail"]) == ("node1", "rail0")
    assert root["remedy"]


@pytest.mark.full
def test_a_missing_address_sends_nothing_out_by_another_way(converged_lab):
    netdev = converged_lab.netdev("node1", "rail0")
    converged_lab.lab.run("node1", ["ip", "address", "flush", "dev", netdev])
    played = converged_lab.playbook(PROVE, check=False)
    root = only_root(played)
    assert (root["host"], root["rail"]) == ("node1", "rail0")
    own = [pair for pair in played.report["pairs"] if pair["host"] == "node1" and pair["rail"] == "rail0"]
    assert {pair["reason"] for pair in own} == {"no_address"}


@pytest.mark.full
def test_an_unreachable_node_keeps_no_other_from_being_proved(converged_lab):
    converged_lab.lab.power_off("node2")
    played = converged_lab.playbook(PROVE, check=False)
    root = only_root(played)
    assert root["host"] == "node2"
    own = [pair for pair in played.report["pairs"] if pair["host"] == "node1"]
    assert {(pair["peer"], pair["reason"]) for pair in own} == {("node2", "not_run")}


@pytest.mark.full
def test_a_node_in_use_is_left_alone_unless_forced(converged_lab):
    hold = "nohup timeout 300 ibv_rc_pingpong -d rxe_rail0 -g 1 >/dev/null 2>&1 &"
    converged_lab.lab.run("node1", [f"sh -c '{hold}'"])
    played = converged_lab.playbook(PROVE, check=False)
    assert played.rc != 0
    own = [pair for pair in played.report["pairs"] if pair["host"] == "node1"]
    assert {pair["reason"] for pair in own} == {"in_use"}
    assert "ibv_rc_pingpong" in own[0]["error"]
    assert converged_lab.playbook(PROVE, "-e", "prove_force=true").report["verdict"] == "pass"
