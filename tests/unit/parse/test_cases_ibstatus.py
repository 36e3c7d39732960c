# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts, RdmaDevice
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ibstatus import parse
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.captured import merge_captured

from tests.unit.cases import case


def test_bonds_of_two_lanes():
    found = parse(case("ibstatus/bond-4x-2xndr.txt"))
    assert [device.name for device in found] == [f"mlx5_bond_{n}" for n in range(4)]
    assert {(p.state, p.rate_gbps, p.lanes, p.link_layer) for d in found for p in d.ports} == {
        ("ACTIVE", 200.0, 2, "Ethernet")
    }


def test_a_block_without_its_device_is_down_and_nobodys():
    text = case("ibstatus/disabled-zero-gid.txt")
    (device,) = parse(text)
    assert (device.name, device.ports[0].state, device.ports[0].physical_state) == ("", "DOWN", "Disabled")
    found = merge_captured(NodeFacts(rdma=(RdmaDevice("mlx5_0"),)), {"ibstatus": text})
    known, nobodys = found.rdma
    assert (known.name, known.ports, nobodys.name) == ("mlx5_0", (), "")
    (port,) = nobodys.ports
    assert (port.state, port.physical_state, port.rate_gbps, port.gids) == ("DOWN", "Disabled", None, ())
    assert [(item.source, item.subject) for item in found.unread] == [("ibstatus", "rdma")]


def test_a_down_ports_rate_does_not_reach_the_facts():
    text = "Infiniband device 'mlx5_9' port 1 status:\n" + case("ibstatus/disabled-zero-gid.txt")
    (device,) = merge_captured(NodeFacts(), {"ibstatus": text}).rdma
    assert device.ports[0].rate_gbps is None


def test_redacted_gid():
    (device,) = parse(case("ibstatus/ndr200-redacted-gid.txt"))
    (port,) = device.ports
    assert (port.state, port.rate_gbps, port.lanes, port.lid, port.sm_lid) == ("ACTIVE", 200.0, 2, 108, 4)


def test_ethernet_whose_rate_carries_a_name_of_infiniband():
    found = parse(case("ibstatus/roce-edr-label-and-400.txt"))
    assert [(d.ports[0].link_layer, d.ports[0].rate_gbps) for d in found] == [("Ethernet", 100.0)] * 2
