# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.show_gids import parse

from tests.unit.cases import case


def v4_v2(name):
    """Indices of the RoCE v2 GIDs that stand for IPv4 addresses, by device."""
    return {
        device.name: [
            gid.index
            for port in device.ports
            for gid in port.gids
            if gid.kind == "RoCE v2" and gid.gid.startswith("0000:0000:0000:0000:0000:ffff:")
        ]
        for device in parse(case(f"show_gids/{name}.txt"))
    }


def test_rows_without_ipv4_and_netdev():
    assert v4_v2("cx5-nfsrdma-ipv4-present") == {"mlx5_0": [3], "mlx5_1": []}
    last = parse(case("show_gids/cx5-nfsrdma-ipv4-present.txt"))[1].ports[0].gids
    assert [(gid.kind, gid.netdev) for gid in last] == [("IB/RoCE v1", None)]


def test_tables_of_a_pod_start_later():
    assert v4_v2("macvlan-pod-index-starts-at-4") == {"mlx5_0": [7], "mlx5_1": [7]}
    assert v4_v2("roce-pod-nccl1510-index4-7") == {"mlx5_0": [5]}


def test_link_local_only():
    assert v4_v2("no-ipv4-linklocal-only") == {"mlx5_0": [], "mlx5_1": []}


def test_tabs():
    assert v4_v2("tabs-mixed-two-ports-no-ip") == {"mlx5_0": [3], "mlx5_1": [], "mlx5_2": [3], "mlx5_3": []}
