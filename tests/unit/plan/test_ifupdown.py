# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What keeps ifupdown from reading a rail's file, and how a rail goes down and up."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.network import PORT, Link
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.providers.ifupdown import Ifupdown

from tests.unit.fakes import FakePort
from tests.unit.plan.network_cases import bare, planned

LINKS = (Link("rail0", PORT, "ens4"),)


@pytest.mark.parametrize(
    ("main", "said"),
    [
        ("source /etc/network/interfaces.d/*\n", ""),
        ("source interfaces.d/*\n", ""),
        ("source-directory /etc/network/interfaces.d\n", ""),
        ("source-directory interfaces.d/\n", ""),
        ("source /etc/network/interfaces.d/*\niface ens2 inet dhcp\n", ""),
        ("auto lo\niface lo inet loopback\n", "does not read /etc/network/interfaces.d"),
        ("# source /etc/network/interfaces.d/*\n", "does not read"),
        ("source /etc/network/interfaces.d/*.cfg\n", "does not read"),
        ("source /etc/network/interfaces.d/*\niface ens4 inet dhcp\n", "configures ens4 as well"),
        (None, "is not there"),
    ],
)
def test_obstacle(main, said):
    port = FakePort({} if main is None else {"/etc/network/interfaces": main})
    found = Ifupdown().obstacle(port, LINKS)
    assert said in found
    assert bool(found) == bool(said)


def test_a_rail_goes_down_from_the_top_and_up_from_the_bottom():
    plan = planned("bond-backup-vlan-routed", bare("bond-backup-vlan-routed", "ifupdown"), {})
    words = [" ".join(action.argv) for action in plan.settle]
    order = ["rail0.100", "rail0", "ens5", "ens4"]
    assert [word for word in words if word.startswith("ifdown")] == [f"ifdown --force {name}" for name in order]
    assert [word for word in words if word.startswith("ifup")] == [f"ifup --force {name}" for name in reversed(order)]
    assert words.index("ifdown --force ens4") < words.index("ifup --force ens4")
    assert [" ".join(action.argv) for action in plan.undo][-2:] == [
        "ip link delete dev rail0.100",
        "ip link delete dev rail0",
    ]


def test_a_link_that_was_up_is_up_again_when_its_file_is_gone():
    """What settles a rail also follows a roll back; with no file of ours ifup knows nothing of the link."""
    links = tuple(
        Link("rail0", PORT, name, netdev=Netdev(name, number, admin_up=up))
        for number, (name, up) in enumerate((("ens4", True), ("ens5", False), ("ens6", None)))
    )
    words = [" ".join(action.argv) for action in Ifupdown().settle(links, ())]
    assert [word for word in words if word.endswith(" up")] == ["ip link set dev ens4 up"]
    assert words[-1] == "ip link set dev ens4 up"
    assert words.index("ip link set dev ens4 down") < words.index("ifup --force ens4") < len(words) - 1


def test_what_a_removed_rail_left_comes_back_with_its_file_only():
    """ifup of a netdev that no file names is exit code 1 and does nothing: then it stays down."""
    gone = (Netdev("rail0.7", 3, kind="vlan", admin_up=True), Netdev("ens4", 1, admin_up=True))
    actions = Ifupdown().settle((), gone)
    words = [" ".join(action.argv) for action in actions]
    assert words[-2:] == ["ifup --force ens4", "ifup --force rail0.7"]
    assert not [word for word in words if word.endswith(" up")]
    assert all(1 in action.allowed for action in actions)
