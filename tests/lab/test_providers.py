# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes whose network belongs to another program: site.yml converges them, and they are back after a reboot."""

from __future__ import annotations

import pytest

from tests.lab.conftest import ConvergedLab

pytestmark = [pytest.mark.lab, pytest.mark.full]
NOTHING = {"node1": 0, "node2": 0, "localhost": 0}
# The management interface goes over with its address; networkd is out of the way for good.
SETUPS = {
    "ifupdown": """
        cat > /etc/network/interfaces <<END
source /etc/network/interfaces.d/*
auto lo
iface lo inet loopback
auto mgmt0
iface mgmt0 inet static
    address 10.0.2.15/24
END
        apt-get -qq update
        apt-get -qq install -o Dpkg::Options::=--force-confold ifupdown ifenslave vlan
        systemctl enable networking.service
    """,
    "NetworkManager": """
        install -d /etc/NetworkManager/system-connections
        cat > /etc/NetworkManager/system-connections/mgmt0.nmconnection <<END
[connection]
id=mgmt0
type=ethernet
interface-name=mgmt0
[ipv4]
method=manual
address1=10.0.2.15/24
[ipv6]
method=disabled
END
        chmod 600 /etc/NetworkManager/system-connections/mgmt0.nmconnection
        apt-get -qq update
        apt-get -qq install network-manager
        systemctl enable NetworkManager.service
    """,
}


@pytest.mark.parametrize("manager", sorted(SETUPS))
def test_a_node_under_another_network_manager(lab, manager):
    lab.reset()
    off = "systemctl mask systemd-networkd.service systemd-networkd.socket"
    lab.run("node1", ["sh -s"], stdin=f"set -e; mkdir -p /etc/network\n{SETUPS[manager]}\n{off}\n", timeout=600)
    lab.reboot("node1")
    converged = ConvergedLab(lab)
    assert converged.playbook("site.yml").report["verdict"] == "pass"
    assert converged.playbook("site.yml").changed() == NOTHING
    lab.reboot("node1")
    converged.await_agent("node1")
    assert converged.playbook("playbooks/verify.yml").report["verdict"] == "pass"
    netdev = converged.netdev("node1", "rail0")
    lab.run("node1", [f"ip address flush dev {netdev} scope global; ip link set {netdev} mtu 1500"])
    played = converged.playbook("site.yml")
    assert played.changed() == {**NOTHING, "node1": 1}
    assert played.report["verdict"] == "pass"
