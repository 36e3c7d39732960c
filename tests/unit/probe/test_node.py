# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import decode, encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import LocalPort, RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import collect, probe

from tests.unit import trees


def facts(root, **options):
    return probe(RecordedPort(str(root)), **options)


@pytest.fixture(scope="module")
def eight(tmp_path_factory):
    return trees.eight_rails(tmp_path_factory.mktemp("tree") / "node01")


@pytest.fixture
def copy(tmp_path):
    return trees.eight_rails(tmp_path / "node", nics=[replace(nic, gid_table=16) for nic in trees.rail_nics()])


def test_eight_healthy_rails(eight):
    found = facts(eight)
    assert found.unread == ()
    assert [device.name for device in found.rdma] == [f"mlx5_{n}" for n in range(8)]
    for rail, device in enumerate(found.rdma):
        nic = trees.rail_nics()[rail]
        (port,) = device.ports
        assert (device.pci, device.driver, device.soft, device.numa) == (nic.pci, "mlx5_core", False, rail // 4)
        assert device.pcie_path == "/".join((*nic.chain, nic.pci))
        assert device.node_guid == f"0x{nic.guid.replace(':', '')}"
        assert (port.state, port.physical_state, port.link_layer) == ("ACTIVE", "LinkUp", "Ethernet")
        assert (port.rate_gbps, port.lanes, port.active_mtu, port.max_mtu) == (400.0, 4, 4096, 4096)
        assert port.netdev == nic.netdev
        v4 = f"0000:0000:0000:0000:0000:ffff:0a{rail:02x}:0001"
        assert [(gid.index, gid.kind, gid.netdev) for gid in port.gids if gid.gid == v4] == [
            (2, "IB/RoCE v1", nic.netdev),
            (3, "RoCE v2", nic.netdev),
        ]
        assert port.counters == {}
        netdev = next(netdev for netdev in found.netdevs if netdev.name == nic.netdev)
        assert (netdev.pci, netdev.slot, netdev.driver, netdev.speed_mbps) == (nic.pci, nic.slot, "mlx5_core", 400000)
        assert netdev.addresses[0] == f"10.{rail}.0.1/24"
        assert netdev.firmware is None


def test_the_node_itself(eight):
    found = facts(eight)
    assert found.management == ("eno1",)
    assert (found.system.hostname, found.system.machine, found.system.distribution) == ("node01", "x86_64", "debian")
    assert (found.system.network_manager, found.system.virtual) == ("systemd-networkd", False)
    assert found.system.product == "PowerEdge XE9680"
    assert found.memlock == "unlimited"
    assert "mlx5_ib" in found.modules
    assert {neighbour.system for neighbour in found.lldp} == {f"su1-leaf{n}" for n in range(8)}
    assert [function.address for function in found.pci] == ["0000:02:00.0", *(nic.pci for nic in trees.rail_nics())]
    assert found.accelerators is None


@pytest.mark.parametrize(
    ("listed", "more"),
    [
        ("kernel/drivers/net/bonding/bonding.ko\nkernel/drivers/infiniband/core/ib-cm.ko\n", ("bonding", "ib_cm")),
        ("", ()),
        (None, ()),
    ],
)
def test_modules_that_are_built_in(copy, listed, more):
    before = facts(copy).modules
    if listed is not None:
        (copy / "lib/modules/6.1.0-30-amd64").mkdir(parents=True)
        (copy / "lib/modules/6.1.0-30-amd64/modules.builtin").write_text(listed)
    found = facts(copy)
    assert found.modules == (*before, *more)
    assert found.unread == ()


def test_facts_survive_the_way_to_the_controller(eight):
    found = facts(eight)
    assert decode(NodeFacts, encode(found)) == found


def test_details(copy):
    trees.edit_command(
        copy, ["ethtool", "-i", "enp24s0np0"], out="driver: mlx5_core\nfirmware-version: 28.43.2026 (MT_0000000838)\n"
    )
    found = facts(copy, detail=True)
    assert found.rdma[0].ports[0].counters == {"link_downed": 0, "port_rcv_data": 1000}
    assert found.rdma[0].ports[0].hw_counters["lifespan"] == 12
    assert [gpu.numa for gpu in found.accelerators] == [0] * 4 + [1] * 4
    assert next(netdev for netdev in found.netdevs if netdev.name == "enp24s0np0").firmware == "28.43.2026"
    # every other ethtool is not in the recording, and neither is dmesg
    assert {entry.reason for entry in found.unread} == {
        f"{tool} is not in the recording" for tool in ("ethtool", "dmesg")
    }


def test_a_gid_table_has_holes(copy):
    trees.remove_gid(copy, "mlx5_0", 0)
    trees.add_gid(copy, "mlx5_0", 15, "0000:0000:0000:0000:0000:ffff:0a00:0063", netdev="enp24s0np0")
    assert [gid.index for gid in facts(copy).rdma[0].ports[0].gids] == [1, 2, 3, 15]


def test_an_entry_that_went_while_it_was_read_hides_no_other(copy):
    (copy / "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/2").unlink()
    found = facts(copy)
    assert [gid.index for gid in found.rdma[0].ports[0].gids] == [0, 1, 3]
    assert [(entry.subject, entry.source.rpartition("/")[2]) for entry in found.unread] == [("mlx5_0", "2")]


def test_a_hung_rdma_is_told_and_the_rest_stands(copy):
    whole = facts(copy)
    trees.hang(copy, trees.RDMA)
    found = facts(copy)
    (entry,) = found.unread
    assert (entry.source, entry.reason) == ("rdma -j link show", "rdma did not return within 5 s")
    assert entry.subject == "rdma"
    assert replace(found, unread=()) == whole  # the netdevs of the ports come from their GIDs


def test_what_rules_alone_need_is_left_out(copy):
    whole = facts(copy)
    commands = json.loads((copy / "commands.json").read_text())
    kept = [entry for entry in commands if entry["argv"] != ["ibv_devinfo"]]
    (copy / "commands.json").write_text(json.dumps(kept))
    found = facts(copy, judged=False)
    assert found.unread == ()
    assert (found.memlock, found.lldp) == (None, None)
    assert {port.active_mtu for device in found.rdma for port in device.ports} == {None}
    # What rails are bound by is all there.
    assert (found.pci, found.netdevs, found.management) == (whole.pci, whole.netdevs, whole.management)
    assert [(device.name, device.pci, device.node_guid, device.ports[0].netdev) for device in found.rdma] == [
        (device.name, device.pci, device.node_guid, device.ports[0].netdev) for device in whole.rdma
    ]


def test_a_hung_tool_of_this_machine(copy, tmp_path, monkeypatch):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "rdma").write_text("#!/bin/sh\nexec sleep 30\n")
    (tools / "rdma").chmod(0o755)
    monkeypatch.setattr(f"{collect.__name__.rpartition('.probe')[0]}.ports.TOOL_PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setattr(collect, "TIMEOUT_S", 0.2)
    found = probe(LocalPort(str(copy)))
    assert "rdma did not return within 0.2 s" in {entry.reason for entry in found.unread}
    assert len(found.rdma) == 8


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"rc": 1, "err": "Error: Operation not permitted\n"},
            "rdma failed with exit code 1: Error: Operation not permitted",
        ),
        ({"out": "[{"}, "no valid JSON (found '[{')"),
        ({"rc": 2, "out": ""}, "rdma failed with exit code 2: without a word"),
    ],
)
def test_a_tool_that_fails(copy, changes, reason):
    trees.edit_command(copy, trees.RDMA, **changes)
    found = facts(copy)
    assert [(entry.subject, entry.reason) for entry in found.unread] == [("rdma", reason)]
    assert found.rdma[0].ports[0].netdev == "enp24s0np0"


def test_without_verbs_the_path_mtu_is_unknown(copy):
    trees.edit_command(copy, trees.DEVINFO, rc=255, err="No IB devices found\n")
    found = facts(copy)
    assert {port.active_mtu for device in found.rdma for port in device.ports} == {None}
    assert "No IB devices found" in found.unread[0].reason


def test_netdevs_without_addresses_would_mislead(copy):
    trees.hang(copy, trees.IP)
    found = facts(copy)
    assert found.netdevs is None
    assert (found.routes, found.rules) == (None, None)
    assert [entry.subject for entry in found.unread] == ["netdevs", "routes", "rules"]
    assert len(found.rdma) == 8
    assert found.management == ("eno1",)


def test_an_unreadable_value_is_unknown_and_told(copy):
    port = copy / "sys/class/infiniband/mlx5_3/ports/1"
    (port / "state").unlink()
    (port / "state").mkdir()
    (port / "rate").write_text("fast\n")
    found = facts(copy)
    assert (found.rdma[3].ports[0].rate_gbps, found.rdma[3].ports[0].physical_state) == (None, "LinkUp")
    assert {entry.subject for entry in found.unread} == {"mlx5_3"}
    assert {entry.source.rpartition("/")[2] for entry in found.unread} == {"state", "rate"}
    # sysfs could not tell, but rdma could
    assert found.rdma[3].ports[0].state == "ACTIVE"


def test_damaged_text_is_unknown_and_no_part_of_a_path(copy):
    (copy / "proc/sys/kernel/osrelease").write_text("6.1.0\x00-39\n")
    found = facts(copy)
    assert found.system.kernel is None
    assert [item.reason for item in found.unread if item.source == "/proc/sys/kernel/osrelease"] == [
        "a line of text is expected (found '6.1.0\\x00-39')"
    ]


def test_nothing_to_read_is_nothing_known(tmp_path):
    found = facts(tmp_path)
    assert (found.pci, found.netdevs, found.rdma, found.modules, found.memlock) == (None,) * 5
    assert {"pci", "netdevs", "rdma", "modules", "memlock", "management"} <= {entry.subject for entry in found.unread}


def test_a_node_without_rdma_drivers_has_no_devices(tmp_path):
    nic = replace(trees.rail_nics()[0], rdma="", leaf="")
    found = facts(trees.node(tmp_path, [nic]))
    assert found.rdma == ()
    assert found.lldp is None
    assert found.unread == ()


def test_soft_roce(tmp_path):
    found = facts(trees.soft_roce(tmp_path))
    assert found.unread == ()
    assert found.system.virtual is True
    device = found.rdma[1]
    assert (device.name, device.soft, device.driver, device.parent) == ("rxe_rail1", True, "rdma_rxe", "enp2s0")
    assert (device.pci, device.firmware, device.ports[0].netdev) == (None, None, "enp2s0")
    assert {gid.kind for gid in device.ports[0].gids} == {"RoCE v2"}
    netdev = next(netdev for netdev in found.netdevs if netdev.name == "enp2s0")
    assert (netdev.pci, netdev.driver, netdev.numa, netdev.speed_mbps) == ("0000:02:00.0", "virtio_net", None, None)


def test_infiniband(tmp_path):
    found = facts(trees.infiniband(tmp_path))
    assert found.unread == ()
    port = found.rdma[2].ports[0]
    assert (port.link_layer, port.lid, port.sm_lid, port.netdev) == ("InfiniBand", 18, 1, None)
    assert [(gid.index, gid.kind) for gid in port.gids] == [(0, None)]
    netdev = next(netdev for netdev in found.netdevs if netdev.name == "ibp58s0")
    assert (netdev.kind, netdev.pci, netdev.driver) == ("ipoib", "0000:3a:00.0", "mlx5_core")
    assert netdev.permanent_mac.endswith("b8:ce:f6:03:00:01:00:02")


def test_a_bond_over_two_ports(tmp_path):
    found = facts(trees.bonded(tmp_path))
    assert found.unread == ()
    (device,) = found.rdma
    assert (device.name, device.pci, device.ports[0].netdev) == ("mlx5_bond_0", "0000:18:00.0", "bond0")
    netdevs = {netdev.name: netdev for netdev in found.netdevs}
    assert netdevs["enp24s0f1np1"].master == "bond0"
    assert netdevs["enp24s0f1np1"].permanent_mac == "b8:ce:f6:00:01:f1"
    assert (netdevs["bond0.100"].vlan_id, netdevs["bond0.100"].lower) == (100, "bond0")


def test_the_rate_of_a_dead_port_is_none(tmp_path):
    nic = replace(trees.rail_nics()[0], state="1: DOWN", phys_state="3: Disabled", carrier=False)
    port = facts(trees.node(tmp_path / "a", [nic])).rdma[0].ports[0]
    assert (port.state, port.physical_state, port.rate_gbps) == ("DOWN", "Disabled", None)
    # cable and light are good, only the subnet is not there: the rate is a real one
    nic = replace(nic, phys_state="5: LinkUp", link_layer="InfiniBand")
    assert facts(trees.node(tmp_path / "b", [nic])).rdma[0].ports[0].rate_gbps == 400.0
