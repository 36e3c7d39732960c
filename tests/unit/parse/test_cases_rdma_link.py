# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.rdma_link import parse

from tests.unit.cases import case


def rows(name):
    return [
        (device.name, port.number, port.state, port.physical_state, port.netdev)
        for device in parse(case(f"rdma-link/{name}.txt"))
        for port in device.ports
    ]


def test_trailing_blanks_are_harmless():
    assert rows("cx6dx-p1p1-trailing-blank") == [
        ("mlx5_0", 1, "ACTIVE", "LinkUp", "p1p1"),
        ("mlx5_1", 1, "ACTIVE", "LinkUp", "p1p2"),
    ]


def test_persistent_names_with_a_pci_domain():
    assert rows("dgx-spark-predictable-names") == [("roceP2p1s0f1", 1, "ACTIVE", "LinkUp", "enP2p1s0f1np1")]


def test_colon_after_the_port():
    assert rows("mixed-colon-after-port") == [
        ("mlx5_0", 1, "ACTIVE", "LinkUp", "ens21f0"),
        ("mlx5_1", 1, "ACTIVE", "LinkUp", "ens21f1"),
    ]


def test_old_form_whose_first_word_is_no_device():
    assert rows("old-iproute2-index-prefix-bond") == [
        (f"mlx5_bond_{n}", 1, "ACTIVE", "LinkUp", f"reth{2 * n}") for n in range(4)
    ]


def test_two_ports_down():
    assert rows("roce-2up-2down") == [
        ("mlx5_0", 1, "DOWN", "Disabled", "ens7f0np0"),
        ("mlx5_1", 1, "ACTIVE", "LinkUp", "ens7f1np1"),
        ("mlx5_2", 1, "DOWN", "Disabled", "ens10f0np0"),
        ("mlx5_3", 1, "ACTIVE", "LinkUp", "ens10f1np1"),
    ]


def test_soft_devices_are_told_apart():
    assert [device.soft for device in parse(case("rdma-link/rxe-soft.txt"))] == [True]
    assert [device.soft for device in parse(case("rdma-link/rxe-veth-two.txt"))] == [True, True]
    assert not any(device.soft for device in parse(case("rdma-link/roce-2up-2down.txt")))
