# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of one node's settings, each alone in a converged lab: one root finding with node, rail, cause and remedy."""

from __future__ import annotations

import pytest

from tests.lab.test_faults import only_root

pytestmark = pytest.mark.lab

# name, what breaks it on node1 ({rail0}, {rail1}: netdevs), rule, rail, a word of the finding, what puts it right
FAULTS = [
    ("wrong subnet", "ip address flush dev {rail0} scope global; ip address add 10.101.0.1/24 dev {rail0}",
     "rail.address", "rail0", "10.101.0.1/24"),
    ("strict rp_filter", "sysctl -qw net.ipv4.conf.{rail0}.rp_filter=1",
     "rail.sysctls", "rail0", "rp_filter"),
    ("ARP flux", "sysctl -qw net.ipv4.conf.all.arp_ignore=0 net.ipv4.conf.{rail1}.arp_ignore=0",
     "rail.sysctls", "rail1", "arp_ignore"),
    ("GID table without the address",
     "ports=/sys/class/infiniband/rxe_rail0/ports/1; cd $ports/gids;"
     "printf '0000:0000:0000:0000:0000:0000:0000:0000\\n' > /run/no-gid;"
     "for gid in *; do if grep -q ffff:0a64 $gid; then mount --bind /run/no-gid $ports/gids/$gid; fi; done",
     "rail.gid", "rail0", "10.100.0.1"),
    ("memlock low", "echo '* hard memlock 64' > /etc/security/limits.d/zz-site.conf", "stack.memlock", None, "64"),
    ("module not loaded", "modprobe -r rdma_ucm", "stack.modules", None, "rdma_ucm"),
    ("intent of another version",
     "sed -i 's/\"schema\": *1/\"schema\": 99/' /etc/railwright/intent.json", "intent.current", None, "99"),
    ("route by the wrong rail", "ip route add 10.100.0.2/32 dev {rail1}", "rail.routes", "rail0", "10.100.0.2"),
    ("firewall closed",
     "nft add table inet site; nft add chain inet site input '{{ type filter hook input priority 0; }}';"
     "nft add rule inet site input iifname {rail0} udp dport 4791 drop",
     "rail.firewall", "rail0", "4791"),
    ("foreign sysctl that wins at boot", "echo net.ipv4.conf.{rail0}.arp_ignore=0 > /etc/sysctl.d/zz-site.conf",
     "node.owners", "rail0", "/etc/sysctl.d/zz-site.conf"),
    ("hostname and inventory disagree", "hostname node7", "host.name", None, "node7"),
]  # fmt: skip
REPRESENTATIVE = ("strict rp_filter", "hostname and inventory disagree")


@pytest.mark.parametrize(
    ("script", "rule", "rail", "word"),
    [
        pytest.param(*fault, id=name, marks=() if name in REPRESENTATIVE else pytest.mark.full)
        for name, *fault in FAULTS
    ],
)
def test_one_root(converged_lab, script, rule, rail, word):
    netdevs = {name: converged_lab.netdev("node1", name) for name in ("rail0", "rail1")}
    packages = "apt-get -qq install nftables; " if "nft " in script else ""
    converged_lab.lab.run("node1", [f"set -e; {packages}{script.format(**netdevs)}"], timeout=300)
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["rail"]) == (rule, "node1", rail)
    assert word in f"{root['expected']} {root['found']} {root['cause']} {root['remedy']}"


@pytest.mark.full
def test_rails_swapped_at_the_leaf_are_one_root(converged_lab):
    converged_lab.lab.swap(("node1", "rail0"), ("node1", "rail1"))
    for rail, leaf in (("rail0", "leaf1"), ("rail1", "leaf0")):
        converged_lab.await_neighbour("node1", rail, leaf)
    root = only_root(converged_lab)
    assert root["rule"] == "fabric.cabling"
    for word in ("rail0", "rail1", "leaf0", "leaf1"):
        assert word in f"{root['rail']} {root['expected']} {root['found']} {root['cause']} {root['remedy']}"


@pytest.mark.full
def test_lost_packets_are_one_root(converged_lab):
    converged_lab.lab.leaf_set("leaf0:Ethernet1", loss=0.3)
    played = converged_lab.playbook("playbooks/prove.yml", check=False)
    roots = played.roots()
    assert [(root["rail"], root["state"]) for root in roots] == [("rail0", "fail")], roots
    assert "loses packets" in roots[0]["cause"]
