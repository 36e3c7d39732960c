# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ibv_devices import parse

from tests.unit.cases import case


def test_a_warning_is_kept_and_no_device():
    listing = parse(case("ibv_devices/provider-warning-first.txt"))
    assert [device.name for device in listing.devices] == ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
    assert len(listing.warnings) == 1
    assert "libvmw_pvrdma" in listing.warnings[0]


def test_software_device():
    (device,) = parse(case("ibv_devices/rxe-only.txt")).devices
    assert (device.name, device.node_guid, device.soft) == ("rxe_server", "0x9c7ff4fffebee393", True)
