# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.management import own_session

from tests.unit import trees

ZERO = "0" * 32


def managed(root):
    return probe(RecordedPort(str(root))).management


def test_members_of_a_management_bond_are_management(tmp_path):
    trees.bonded(tmp_path)
    route = tmp_path / "proc/net/route"
    route.write_text(route.read_text().replace("eno1", "bond0.100"))
    assert managed(tmp_path) == ("bond0", "bond0.100", "enp24s0f0np0", "enp24s0f1np1")


@pytest.mark.parametrize(("address", "expected"), [("10.1.0.1", ("eno1", "enp1s0")), ("10.1.0.11", ("eno1",))])
def test_the_session_counts_as_well(tmp_path, address, expected):
    """The session's variable is two processes up: sudo took it away from our own environment."""
    trees.soft_roce(tmp_path)
    tree = trees.Tree(tmp_path)
    tree.file("/proc/self/environ", "PATH=/bin\0SUDO_USER=op\0")
    tree.file("/proc/self/stat", "812 (python3) S 811 1 1\n")
    tree.file("/proc/811/environ", f"SSH_CONNECTION=198.51.100.7 50122 {address} 22\0HOME=/root\0")
    assert managed(tmp_path) == expected


def _ipv6_default(root):
    line = f"{ZERO} 00 {ZERO} 00 fe80{'0' * 27}1 00000400 1 0 00000003   enp1s0\n"
    (root / "proc/net/ipv6_route").write_text(line)


@pytest.mark.parametrize(("table", "expected"), [("main", ("eno1", "enp1s0")), ("101", ("eno1",))])
def test_an_ipv6_default_route_counts_in_the_main_table_only(tmp_path, table, expected):
    trees.soft_roce(tmp_path)
    _ipv6_default(tmp_path)
    route = {"dst": "default", "gateway": "fe80::1", "dev": "enp1s0", "table": table, "pref": "medium"}
    trees.edit_ip(tmp_path, "routes", lambda routes: routes.append(route))
    trees.edit_command(tmp_path, ["ip", "-6", "-j", "-d", "rule", "show"], out="[]")
    assert managed(tmp_path) == expected


def test_when_ip_cannot_say_which_table_it_is_the_netdev_is_left_alone(tmp_path):
    trees.soft_roce(tmp_path)
    _ipv6_default(tmp_path)
    trees.edit_command(tmp_path, trees.IP, rc=1, out="[]\n[]\n", err="No such device\nCommand failed -:2\n")
    assert managed(tmp_path) == ("eno1", "enp1s0")


def test_a_rejecting_default_route_carries_nothing(tmp_path):
    trees.soft_roce(tmp_path)
    route = tmp_path / "proc/net/route"
    route.write_text(route.read_text().replace("0003", "0201"))
    assert managed(tmp_path) == ()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ("SSH_CONNECTION=fe80::1%eno1 50122 fe80::2%eno1 22\0", "fe80::2"),
        ("SSH_CONNECTION=nonsense\0", None),
        ("NOT_SSH_CONNECTION=198.51.100.7 50122 192.0.2.11 22\0", None),
        ("", None),
    ],
)
def test_own_session(tmp_path, environ, expected):
    tree = trees.Tree(tmp_path)
    tree.file("/proc/self/environ", environ)
    tree.file("/proc/self/stat", "812 (a (b) c) S 1 1 1\n")
    assert own_session(RecordedPort(str(tmp_path))) == expected


@pytest.mark.parametrize(
    ("session", "routes", "said"),
    [
        ("198.51.100.9", "", ["management"]),
        ("192.0.2.11", "", []),
        ("127.0.0.1", "", []),
        ("198.51.100.9", "eno1\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", []),
    ],
)
def test_a_session_that_no_netdev_carries_leaves_the_management_unknown(tmp_path, session, routes, said):
    trees.soft_roce(tmp_path)
    route = tmp_path / "proc/net/route"
    route.write_text(route.read_text().splitlines()[0] + "\n" + routes)
    told = probe(RecordedPort(str(tmp_path)), session=session)
    assert [entry.subject for entry in told.unread] == said
