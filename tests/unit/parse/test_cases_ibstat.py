# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ibstat import parse
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.captured import merge_captured

from tests.unit.cases import case


def test_cable_is_good_but_nobody_runs_a_subnet_manager():
    found = parse(case("ibstat/bf3-down-linkup-no-sm.txt"))
    assert [device.name for device in found] == ["mlx5_0", "mlx5_1"]
    for device in found:
        (port,) = device.ports
        assert (port.state, port.physical_state, port.lid, port.sm_lid) == ("DOWN", "LinkUp", None, 0)


def test_debugging_lines_and_a_cut_block():
    text = case("ibstat/cx3-two-ports-one-disabled.txt")
    (device,) = parse(text)
    first, second = device.ports
    assert (first.state, first.physical_state, first.rate_gbps, first.lid, first.sm_lid) == (
        "DOWN",
        "Disabled",
        10,
        38,
        13,
    )
    assert (second.state, second.physical_state, second.rate_gbps) == ("ACTIVE", "LinkUp", 56)
    assert second.lid is None
    assert second.link_layer is None
    # the disabled port's rate is a leftover, which no rule shall see
    assert merge_captured(NodeFacts(), {"ibstat": text}).rdma[0].ports[0].rate_gbps is None


def test_minimal_down_port():
    (device,) = parse(case("ibstat/cx6-lx-down-disabled.txt"))
    assert device.firmware == "22.39.1002"
    assert [(port.state, port.physical_state, port.rate_gbps) for port in device.ports] == [("DOWN", "Disabled", None)]


def test_node_that_is_its_own_subnet_manager():
    (device,) = parse(case("ibstat/edr-mt4115-active-sm-self.txt"))
    (port,) = device.ports
    assert (port.state, port.rate_gbps, port.link_layer, port.lid, port.sm_lid) == ("ACTIVE", 100, "InfiniBand", 1, 1)
