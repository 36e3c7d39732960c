# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails that are stacked: a bond over two leaves, and VLANs with tables of their own. Both converge, and break well."""

from __future__ import annotations

import pytest

from tests.lab.conftest import ConvergedLab
from tests.lab.test_faults import only_root

pytestmark = [pytest.mark.lab, pytest.mark.full]
FILES = "tests/lab/files"
NOTHING = {"node1": 0, "node2": 0, "localhost": 0}


def stacked(lab, kind):
    """A lab that was converged with another spec, and the arguments of that spec; at its snapshot."""
    spec = ("-e", f"@{FILES}/{kind}.yml")
    converged = ConvergedLab(lab)
    if kind not in lab.status()["snapshots"]:
        lab.reset()
        assert converged.playbook("site.yml", *spec).report["verdict"] == "pass"
        assert converged.playbook("site.yml", *spec).changed() == NOTHING
        lab.snapshot(kind)
    lab.reset(kind)
    return converged, spec


@pytest.fixture
def bonded(lab):
    return stacked(lab, "bonded")


@pytest.fixture
def tagged(lab):
    return stacked(lab, "tagged")


@pytest.mark.parametrize("kind", ["bonded", "tagged"])
def test_it_is_back_after_a_reboot(lab, kind):
    converged, spec = stacked(lab, kind)
    lab.reboot("node1")
    converged.await_agent("node1")
    assert converged.playbook("playbooks/verify.yml", *spec).report["verdict"] == "pass"
    assert converged.playbook("site.yml", *spec).changed() == NOTHING


def test_a_bonded_pair_carries_rdma(bonded):
    converged, spec = bonded
    # The lab's leaves have no way to each other, which those of a site have: both nodes go by the same one.
    for node in ("node1", "node2"):
        leg = converged.netdev(node, "rail0")
        converged.lab.run(node, [f"ip link set rail0 type bond active_slave {leg}"])
    played = converged.playbook("playbooks/prove.yml", *spec)
    assert {pair["device"] for pair in played.report["pairs"] if pair["kind"] == "bandwidth"} == {"rxe_rail0"}


def test_a_bond_leg_that_is_down(bonded):
    converged, spec = bonded
    converged.lab.link("node1", "rail1", False)
    root = only_root(converged, *spec)
    assert (root["rule"], root["host"], root["rail"]) == ("rail.bond", "node1", "rail0")
    assert "leaf1" in root["cause"] + root["remedy"] + root["found"]


def test_a_bond_in_another_mode(bonded):
    converged, spec = bonded
    legs = [converged.netdev("node1", rail) for rail in ("rail0", "rail1")]
    again = "; ".join(f"ip link set {leg} down; ip link set {leg} master rail0; ip link set {leg} up" for leg in legs)
    free = "; ".join(f"ip link set {leg} nomaster" for leg in legs)
    change = "ip link set rail0 down; ip link set rail0 type bond mode balance-xor"
    converged.lab.run("node1", [f"set -e; {free}; {change}; {again}; ip link set rail0 up"])
    root = only_root(converged, *spec)
    assert (root["rule"], root["host"], root["rail"]) == ("rail.bond", "node1", "rail0")
    assert "balance-xor" in root["found"]


def test_a_missing_vlan(tagged):
    converged, spec = tagged
    converged.lab.run("node1", ["ip link delete rail0.100"])
    root = only_root(converged, *spec)
    assert (root["host"], root["rail"]) == ("node1", "rail0")
    assert "no VLAN device" in root["found"]
