# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's own faults do what they say, and a reset undoes them."""

from __future__ import annotations

import time

import pytest

from lab import LabError
from lab.topology import RAIL_PCI

pytestmark = pytest.mark.lab


def netdev(lab, node: str, rail: str = "rail0") -> str:
    return lab.run(node, [f"ls /sys/bus/pci/devices/{RAIL_PCI[rail]}/virtio*/net"]).stdout.strip()


@pytest.fixture
def pair(fresh_lab):
    """Two nodes with an address and MTU 4200 on rail0; the name of that device."""
    device = netdev(fresh_lab, "node1")
    for number in (1, 2):
        fresh_lab.run(
            f"node{number}",
            [f"ip link set {device} mtu 4200 up && ip address add 192.0.2.{number}/24 dev {device}"],
        )
    return device


def reaches(lab, size: int = 4172) -> bool:
    """Whether node1 reaches node2 in one unfragmented packet of ``size`` + 28 bytes."""
    command = ["ping", "-M", "do", "-c", "3", "-i", "0.3", "-W", "2", "-s", str(size), "192.0.2.2"]
    return lab.run("node1", command, check=False).returncode == 0


def carrier(lab, device: str) -> str:
    return lab.run("node1", ["cat", f"/sys/class/net/{device}/carrier"]).stdout.strip()


def test_faults_and_reset(fresh_lab, pair) -> None:
    lab = fresh_lab
    assert reaches(lab)

    lab.leaf_set("leaf0", mtu=1500)
    assert not reaches(lab)
    assert reaches(lab, 1000)
    assert lab.ports()["leaf0:Ethernet1"]["counters"]["rx_drop_mtu"] >= 1
    lab.leaf_set("leaf0", mtu=9216)

    lab.swap(("node2", "rail0"), ("node2", "rail1"))
    assert not reaches(lab)
    lab.swap(("node2", "rail0"), ("node2", "rail1"))
    assert reaches(lab)

    lab.link("node1", "rail0", up=False)
    assert carrier(lab, pair) == "0"
    lab.leaf_set("leaf0:Ethernet2", down=True, loss=1.0)
    lab.freeze("node2")
    assert lab.status()["nodes"]["node2"]["state"] == "paused"

    lab.reset()
    ports = lab.ports()
    assert not ports["leaf0:Ethernet2"]["down"]
    assert ports["leaf0:Ethernet2"]["loss"] == 0
    for node in ("node1", "node2"):
        now = float(lab.run(node, ["date", "+%s.%N"]).stdout)
        # The clock is set with the time at which the login began, and a login takes seconds under emulation.
        assert abs(now - time.time()) < 30
    lab.run("node1", ["ip", "link", "set", pair, "up"])
    assert carrier(lab, pair) == "1"


def test_reset_brings_a_node_back_that_was_powered_off(fresh_lab) -> None:
    fresh_lab.power_off("node2")
    assert fresh_lab.status()["nodes"]["node2"]["state"] == "off"
    with pytest.raises(LabError, match="node2 is off"):
        fresh_lab.freeze("node2")
    fresh_lab.reset()
    assert fresh_lab.run("node2", ["hostname"]).stdout.strip() == "node2"


def test_leaves_tell_nodes_where_they_are_plugged_in(fresh_lab) -> None:
    device = netdev(fresh_lab, "node1", "rail1")
    fresh_lab.run("node1", ["ip", "link", "set", device, "up"])
    deadline = time.monotonic() + 60
    while "leaf1" not in (seen := fresh_lab.run("node1", ["lldpcli", "show", "neighbors"]).stdout):
        assert time.monotonic() < deadline, seen
        time.sleep(1)
    assert "Ethernet1" in seen


@pytest.mark.full
def test_the_lab_works_after_a_reboot(fresh_lab) -> None:
    before = fresh_lab.run("node1", ["cat", "/proc/sys/kernel/random/boot_id"]).stdout
    fresh_lab.reboot("node1")
    assert fresh_lab.run("node1", ["cat", "/proc/sys/kernel/random/boot_id"]).stdout != before
    assert fresh_lab.run("node1", ["hostname"]).stdout.strip() == "node1"
    assert netdev(fresh_lab, "node1")
