# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ibdev2netdev import parse

from tests.unit.cases import case


def test_a_gap_in_the_numbers_and_a_bond():
    found = {binding.device: (binding.netdev, binding.up) for binding in parse(case("ibdev2netdev/h20-bond-gap.txt"))}
    assert found["mlx5_bond_0"] == ("bond0", True)
    assert [name for name, (_, up) in found.items() if not up] == ["mlx5_0", "mlx5_3", "mlx5_4", "mlx5_7"]


def test_virtual_functions():
    found = parse(case("ibdev2netdev/sriov-vfs-down-wrong-order.txt"))
    assert len(found) == 16
    assert [binding.device for binding in found if binding.up] == ["mlx5_2", "mlx5_4", "mlx5_6"]
