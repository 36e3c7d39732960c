# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails through NetworkManager, beyond the goldens: what stands in the way, and what settling touches."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import ini
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.links import rail_links
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.providers.networkmanager import (
    NetworkManager,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.bind import bind

from tests.unit.apply.simulated import intent
from tests.unit.fakes import FakePort
from tests.unit.plan.network_cases import CASES, bare, golden

STATUS = "nmcli -t -f DEVICE,STATE device status"
FOLDER = "/etc/NetworkManager/system-connections"


def links(case="plain", **changes):
    facts = bare(case, "NetworkManager")
    return rail_links(bind(intent(replace(CASES[case], **changes)), facts)[0], facts.netdevs)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("ens2:connected\nens4:disconnected\n", ""),
        ("ens4:unmanaged\n", "NetworkManager is told to leave ens4 alone"),
        ("ens2:unmanaged\n", ""),
        ((8, "Error: NetworkManager is not running."), ""),
        ("hangs", "NetworkManager cannot be asked"),
        (None, "NetworkManager cannot be asked"),
    ],
)
def test_a_nic_that_it_leaves_alone_is_an_obstacle(reply, expected):
    port = FakePort(tools={} if reply is None else {STATUS: reply})
    found = NetworkManager().obstacle(port, links())
    assert found.startswith(expected)
    assert bool(found) is bool(expected)


def test_addresses_of_others_are_not_ours_to_take():
    port = FakePort(tools={STATUS: "ens4:connected\n"})
    rail = links(addressing="none", addresses=())
    assert NetworkManager().obstacle(port, rail) == ""
    local = replace(rail[0], netdev=replace(rail[0].netdev, addresses=("fe80::1/64",)))
    assert NetworkManager().obstacle(port, (local,)) == ""
    taken = replace(rail[0], netdev=replace(rail[0].netdev, addresses=("192.0.2.1/24",)))
    assert NetworkManager().obstacle(port, (taken,)).startswith("ens4 has 192.0.2.1/24 from elsewhere")


def test_only_root_reads_a_profile():
    """NetworkManager does not load one that others may read, nm-settings-keyfile(5)."""
    modes = {file.path.rpartition(".")[2]: file.mode for file in NetworkManager().render(links(), ())}
    assert modes == {"nmconnection": 0o600, "conf": 0o644}


def test_netdevs_that_share_a_function_are_told_apart_by_mac():
    rail = links()
    second = replace(rail[0].netdev, name="ens4v0", mac="52:54:00:00:99:99", permanent_mac="52:54:00:00:99:99")
    text = NetworkManager().render(rail, (rail[0].netdev, second))[0].text
    assert "mac-address=52:54:00:00:01:03\n" in text
    assert "path=pci-0000:01:00.0;*-pci-0000:01:00.0;\n" in text
    assert NetworkManager().netdevs((text,), (rail[0].netdev, second)) == (rail[0].netdev,)


def test_every_profile_has_a_uuid_of_its_own():
    found = [
        ini.value(ini.parse(text), "connection", "uuid")
        for case in ("plain", "bond-backup-vlan-routed", "bond-lacp")
        for path, text in golden(case, "NetworkManager").items()
        if path.endswith(".nmconnection")
    ]
    assert all(str(uuid.UUID(item)) == item and uuid.UUID(item).version == 5 for item in found)
    # The ports are the same in both bonds; what is a NIC, a VLAN or a bond is another profile under one name.
    assert (len(found), len(set(found))) == (8, 6)


def test_settling_loads_files_one_by_one_and_goes_upwards():
    removed = (f"{FOLDER}/railwright-old.nmconnection", "/etc/NetworkManager/conf.d/90-railwright-old.conf")
    rail = links("bond-backup-vlan-routed")
    gone = (Netdev("ens9", 9), Netdev("old.7", 8, kind="vlan"))
    actions = NetworkManager().settle(rail, gone, removed)
    assert [" ".join(action.argv) for action in actions[:3]] == [
        "nmcli general reload conf",
        f"nmcli connection load {removed[0]} "
        + " ".join(f"{FOLDER}/railwright-rail0{part}.nmconnection" for part in (".bond", ".port0", ".port1", "")),
        "nmcli device set ens9 autoconnect yes",
    ]
    # Without ours, after a roll back, profile and device are not there: nmcli's exit code 10.
    assert all(10 in action.allowed for action in actions[2:])
    assert [action.argv[3:6] for action in actions[3:]] == [("connection", "up", "uuid")] * 4
    assert NetworkManager().settle((), ()) == actions[:1]
