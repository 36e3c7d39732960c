# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One process of ip for netdevs, routes and rules: each stands when another one fails."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    BondPortState,
    BondState,
    Route,
    RoutingRule,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe

from tests.unit import trees
from tests.unit.fakes import FakePort

RULES6 = ["ip", "-6", "-j", "-d", "rule", "show"]


def facts(root):
    return probe(RecordedPort(str(root)))


@pytest.fixture
def node(tmp_path):
    return trees.soft_roce(tmp_path)


def test_routes_and_rules(node):
    found = facts(node)
    assert found.routes == (
        Route("0.0.0.0/0", "eno1", "192.0.2.1", metric=100),
        Route("192.0.2.0/24", "eno1", source="192.0.2.11"),
        Route("10.1.0.0/24", "enp1s0", source="10.1.0.1"),
        Route("10.2.0.0/24", "enp2s0", source="10.2.0.1"),
    )
    assert found.rules == (RoutingRule(0, 255), RoutingRule(32766, 254), RoutingRule(32767, 253))
    assert found.unread == ()


def test_the_commands_go_to_one_process():
    asked = []

    class Port(FakePort):
        def run(self, argv, timeout=5.0, stdin=None):
            asked.append((list(argv), stdin))
            return super().run(argv, timeout, stdin)

    probe(Port(tools={" ".join(trees.IP): "[]\n[]\n[]\n"}), judged=False)
    assert [(argv, stdin) for argv, stdin in asked if argv[0] == "ip"] == [
        (trees.IP, "address show\nroute show table all type unicast\nrule show\n")
    ]


@pytest.mark.parametrize(("line", "section"), [(1, "netdevs"), (2, "routes"), (3, "rules")])
def test_a_command_that_fails_hides_no_other(node, line, section):
    whole = facts(node)
    port = RecordedPort(str(node))
    documents = port.run(trees.IP).out.splitlines()
    del documents[line - 1]
    said = f"RTNETLINK answers: Operation not supported\nDump terminated\nCommand failed -:{line}\n"
    trees.edit_command(node, trees.IP, rc=1, out="\n".join(documents) + "\n", err=said)
    if section == "routes":
        trees.edit_command(node, RULES6, out="[]")
    found = facts(node)
    (entry,) = [entry for entry in found.unread if entry.subject == section]
    assert entry.reason == "ip failed: RTNETLINK answers: Operation not supported"
    assert getattr(found, section) is None
    for other in {"routes", "rules"} - {section}:
        assert getattr(found, other) == getattr(whole, other)
    assert (found.netdevs is None) is (section == "netdevs")


@pytest.mark.parametrize(
    "changes",
    [
        {"rc": 1, "out": "", "err": "ip: invalid argument '-force' to 'ip'\n"},
        {"out": "[]\n"},
        {"out": '[{"ifindex":1,\n'},
        {"hangs": True},
    ],
)
def test_what_is_not_whole_is_unknown(node, changes):
    trees.edit_command(node, trees.IP, **changes)
    found = facts(node)
    assert (found.netdevs, found.routes, found.rules) == (None, None, None)
    assert {"netdevs", "routes", "rules"} <= {entry.subject for entry in found.unread}


def test_a_damaged_document_hides_no_other(node):
    whole = facts(node)
    documents = RecordedPort(str(node)).run(trees.IP).out.splitlines()
    trees.edit_command(node, trees.IP, out="\n".join([documents[0], documents[1][:-9], documents[2]]))
    trees.edit_command(node, RULES6, out="[]")
    found = facts(node)
    assert (found.netdevs, found.routes, found.rules) == (whole.netdevs, None, whole.rules)
    assert [entry.subject for entry in found.unread] == ["routes"]


def test_an_older_recording_has_netdevs_only(node):
    whole = facts(node)
    commands = json.loads((node / "commands.json").read_text())
    ip = next(entry for entry in commands if entry["argv"] == trees.IP)
    ip.update(argv=["ip", "-j", "-d", "address", "show"], out=ip["out"].splitlines()[0])
    (node / "commands.json").write_text(json.dumps(commands))
    found = facts(node)
    assert (found.netdevs, found.routes, found.rules, found.unread) == (whole.netdevs, None, None, ())


def test_rules_of_ipv6_are_asked_for_where_a_table_could_need_them(node):
    route = {"dst": "fd00:1::/64", "dev": "enp1s0", "table": "rails", "pref": "medium"}
    trees.edit_ip(node, "routes", lambda routes: routes.append(route))
    tree = trees.Tree(node)
    tree.file("/usr/share/iproute2/rt_tables", "255 local\n254 main\n")
    tree.file("/etc/iproute2/rt_tables.d/rails.conf", "101 rails\n")
    trees.edit_command(node, RULES6, out='[{"priority":1010,"src":"fd00:1::1","table":"rails"}]')
    found = facts(node)
    assert found.routes[-1] == Route("fd00:1::/64", "enp1s0", table=101)
    assert found.rules[-1] == RoutingRule(1010, 101, "fd00:1::1/128", 6)
    trees.edit_command(node, RULES6, rc=1, err="Permission denied\n")
    found = facts(node)
    assert found.rules is None
    assert [entry.subject for entry in found.unread] == ["rules"]


def test_bonds(tmp_path):
    netdevs = {netdev.name: netdev for netdev in facts(trees.bonded(tmp_path)).netdevs}
    assert netdevs["bond0"].bond == BondState("802.3ad", "fast", "layer3+4", 100, 1, 2)
    assert netdevs["enp24s0f0np0"].bond_port == BondPortState("ACTIVE", "UP", 0, 1)
    assert (netdevs["bond0.100"].bond, netdevs["bond0.100"].bond_port) == (None, None)


def test_altnames(node):
    trees.edit_ip(node, "netdevs", lambda listing: listing[1].update(altnames=["enp0s1", "enx0"]))
    assert {netdev.name: netdev.altnames for netdev in facts(node).netdevs}["eno1"] == ("enp0s1", "enx0")


def test_sysctls(tmp_path):
    root = trees.bonded(tmp_path)
    trees.edit_sysctl(root, "net.ipv4.conf.bond0/100.rp_filter", "1")
    trees.edit_sysctl(root, "net.ipv6.conf.bond0.disable_ipv6", None)
    found = facts(root).sysctls
    assert found["net.ipv4.conf.bond0/100.rp_filter"] == "1"
    assert found["net.ipv4.conf.all.rp_filter"] == "0"
    assert found["net.ipv4.conf.enp24s0f0np0.arp_announce"] == "2"
    assert found["net.ipv4.neigh.default.gc_thresh3"] == found["net.ipv6.neigh.default.gc_thresh3"] == "16384"
    assert found["net.ipv6.conf.bond0/100.disable_ipv6"] == "0"
    assert "net.ipv6.conf.bond0.disable_ipv6" not in found


def test_no_sysctls_in_an_older_recording(node):
    for family in ("ipv4", "ipv6"):
        (node / "proc/sys/net" / family).rename(node / family)
    found = facts(node)
    assert found.sysctls is None
    assert found.unread == ()
