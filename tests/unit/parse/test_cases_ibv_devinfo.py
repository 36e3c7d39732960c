# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ibv_devinfo import parse
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.captured import merge_captured

from tests.unit.cases import case


def devices(name):
    return {device.name: device for device in parse(case(f"ibv_devinfo/{name}.txt"))}


def test_grep_took_the_port_lines_away():
    found = devices("bf3-port-down-phys-up-grep")
    (port,) = found["mlx5_0"].ports
    assert (port.number, port.state, port.physical_state, port.rate_gbps, port.lanes) == (1, "DOWN", "LinkUp", 100, 4)
    assert len(found["mlx5_1"].ports) == 1


def test_mtu_of_the_ports_and_two_firmwares():
    found = devices("cx4lx-4ports-1down-mtu1024")
    assert [device.ports[0].active_mtu for device in found.values()] == [1024] * 4
    assert [device.ports[0].max_mtu for device in found.values()] == [4096] * 4
    assert [device.ports[0].state for device in found.values()] == ["ACTIVE", "DOWN", "ACTIVE", "ACTIVE"]
    assert [device.firmware for device in found.values()] == ["14.28.2006"] * 2 + ["14.32.1010"] * 2


def test_a_cut_record_tells_nothing_of_its_port():
    found = devices("cx7-ib-port-down-lid65535")
    (port,) = found["mlx5_0"].ports
    assert (port.state, port.lid, port.sm_lid, port.link_layer) == ("DOWN", None, 0, "InfiniBand")
    assert found["mlx5_1"].ports == ()


def test_old_rxe_does_not_say_its_link_layer():
    (device,) = devices("rxe-no-link-layer").values()
    assert device.soft
    assert device.ports[0].link_layer is None
    assert device.sys_image_guid is None


def test_experimental_verbs_of_ofed_4():
    (device,) = devices("v-cx4lx-ofed4-exp-down").values()
    (port,) = device.ports
    assert (port.state, port.physical_state, port.active_mtu) == ("DOWN", "Disabled", 1024)
    assert [(gid.index, gid.gid) for gid in port.gids] == [
        (n, "fe80:0000:0000:0000:0ac0:ebff:fe51:807f") for n in range(2)
    ]


def test_the_speed_of_a_down_port_does_not_reach_the_facts():
    text = case("ibv_devinfo/v-cx4lx-ofed4-exp-down.txt")
    (device,) = merge_captured(NodeFacts(), {"ibv_devinfo": text}).rdma
    assert device.ports[0].rate_gbps is None
    assert device.ports[0].lanes is None
