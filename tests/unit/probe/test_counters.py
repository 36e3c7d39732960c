# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import counters, probe

from tests.unit import trees
from tests.unit.cases import case


def sample(root):
    port = RecordedPort(str(root))
    return counters.sample(port, probe(port))


def nic(**changes):
    return replace(trees.rail_nics()[0], **{"gid_table": 8, **changes})


def test_a_sample(tmp_path):
    values = {"link_downed": "3", "symbol_error": "N/A (no PMA)", "port_rcv_data": 9}
    found = sample(trees.node(tmp_path, [nic(counters=values, hw_counters={"np_cnp_sent": 7, "lifespan": 12})]))
    assert found == {"mlx5_0/1": {"link_downed": 3, "np_cnp_sent": 7}, "enp24s0np0": {"carrier_changes": 2}}


def test_the_netdevs_below_a_bond(tmp_path):
    assert set(sample(trees.bonded(tmp_path))) == {"mlx5_bond_0/1", "bond0", "enp24s0f0np0", "enp24s0f1np1"}


def test_what_cannot_be_read_is_left_out(tmp_path):
    found = sample(trees.node(tmp_path, [nic(counters={"link_downed": "many"}, hw_counters={})]))
    assert found["mlx5_0/1"] == {}


@pytest.mark.parametrize(
    ("name", "value", "end"),
    [
        ("link_downed", 255, True),
        ("link_downed", 254, False),
        ("local_link_integrity_errors", 15, True),
        ("symbol_error", 65535, True),
        ("np_cnp_sent", 2**40, False),
    ],
)
def test_counters_that_are_at_their_end(name, value, end):
    assert counters.is_saturated(name, value) is end


def test_a_site_with_a_counter_at_its_end(tmp_path):
    """One port's link went down so often that the counter ends; others show errors from long ago."""
    tree = trees.Tree(tmp_path)
    tree.file("/sys/class/dmi/id/product_name", "x\n")
    for line in case("sysfs/h100-8x-ndr-plus-bond-counters.txt").splitlines():
        path, _, value = line.partition(": ")
        tree.file(f"/sys/class/infiniband/{path}", f"{value}\n")
    found = sample(tmp_path)
    ended = {(place, name) for place, now in found.items() for name in now if counters.is_saturated(name, now[name])}
    assert {place for place, name in ended if name == "link_downed"} == {"mlx5_1/1"}
    assert found["mlx5_0/1"]["port_rcv_errors"] == 14
