# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe

from tests.unit.cases import case


def test_eight_ndr_ports_and_a_bond(tmp_path):
    for line in case("sysfs/h100-8x-ndr-plus-bond-counters.txt").splitlines():
        path, _, value = line.partition(": ")
        file = tmp_path / "sys/class/infiniband" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")
    found = {device.name: device for device in probe(RecordedPort(str(tmp_path)), detail=True).rdma}
    ports = {name: device.ports[0] for name, device in found.items()}
    infiniband = [port for port in ports.values() if port.link_layer == "InfiniBand"]
    assert {(port.state, port.physical_state, port.rate_gbps, port.lanes) for port in infiniband} == {
        ("ACTIVE", "LinkUp", 400.0, 4)
    }
    assert list(found) == [*(f"mlx5_{n}" for n in (0, 1, 4, 5, 6, 7, 8, 9)), "mlx5_bond_0"]
    assert (ports["mlx5_bond_0"].link_layer, ports["mlx5_bond_0"].rate_gbps) == ("Ethernet", 200.0)
    assert ports["mlx5_1"].counters["link_downed"] == 255
    assert ports["mlx5_1"].hw_counters["rx_write_requests"] > 0
