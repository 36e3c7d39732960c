# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Each fault, alone in a converged lab, is one root finding of verify.yml with node, rail, cause and remedy."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lab


def only_root(converged, *arguments):
    """The one root that verify.yml finds; a warning is one as well, and ends the run in peace."""
    played = converged.playbook("playbooks/verify.yml", *arguments, check=False)
    roots = played.roots()
    assert bool(played.rc) == any(root["state"] != "warn" for root in roots), played.out[-4000:]
    assert len(roots) == 1, [(root["rule"], root["host"], root["rail"], root["state"], root["found"]) for root in roots]
    assert roots[0]["cause"]
    assert roots[0]["remedy"]
    # What the report says, a person reads on the terminal.
    assert roots[0]["remedy"].split()[0] in played.out
    return roots[0]


def test_two_nodes_with_one_address(converged_lab):
    netdev = converged_lab.netdev("node2", "rail0")
    converged_lab.lab.run("node2", [f"ip address add 10.100.0.1/24 dev {netdev}"])
    root = only_root(converged_lab)
    assert (root["rule"], root["rail"], root["state"]) == ("fabric.duplicate_address", "rail0", "fail")
    for word in ("node1", "node2", "10.100.0.1"):
        assert word in f"{root['host']} {root['peer']} {root['expected']} {root['found']} {root['cause']}"


def test_a_node_that_cannot_be_reached(converged_lab):
    converged_lab.lab.power_off("node2")
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["state"]) == ("host.reachable", "node2", "fail")


def test_a_tool_that_never_returns(converged_lab):
    script = "#!/bin/sh\nexec sleep 3600\n"
    converged_lab.lab.run("node1", ["cat > /usr/local/sbin/rdma && chmod 755 /usr/local/sbin/rdma"], stdin=script)
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["state"]) == ("host.probe", "node1", "unknown")
    assert "rdma" in root["found"]
    assert "did not return" in root["found"]


@pytest.mark.full
def test_a_rail_without_carrier(converged_lab):
    converged_lab.lab.link("node1", "rail1", False)
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["rail"]) == ("rail.link", "node1", "rail1")
    assert "leaf1" in root["cause"] + root["remedy"]


@pytest.mark.full
def test_a_wrong_mtu_on_one_node(converged_lab):
    netdev = converged_lab.netdev("node2", "rail1")
    converged_lab.lab.run("node2", [f"ip link set dev {netdev} mtu 1500"])
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["rail"]) == ("rail.mtu", "node2", "rail1")
    assert "1500" in root["found"]
    assert "4200" in root["expected"]


@pytest.mark.full
def test_a_missing_address(converged_lab):
    netdev = converged_lab.netdev("node1", "rail0")
    converged_lab.lab.run("node1", [f"ip address flush dev {netdev} scope global"])
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["rail"]) == ("rail.address", "node1", "rail0")
    assert "10.100.0.1/24" in root["expected"]


@pytest.mark.full
def test_a_rail_without_its_rdma_device(converged_lab):
    converged_lab.lab.run("node1", ["rdma link delete rxe_rail0"])
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["rail"]) == ("rail.device", "node1", "rail0")


@pytest.mark.full
def test_an_intent_that_was_cut_short(converged_lab):
    converged_lab.lab.run("node1", ["truncate -s 100 /etc/railwright/intent.json"])
    root = only_root(converged_lab)
    assert (root["rule"], root["host"]) == ("intent.current", "node1")
