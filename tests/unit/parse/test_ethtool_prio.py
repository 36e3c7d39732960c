# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters by priority, of four drivers."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ethtool_prio import by_priority
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ethtool_s import parse
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.cases import case


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("bnxt_en-ring-and-port", {"rx_bytes", "rx_packets", "rx_pause", "tx_bytes", "tx_packets", "tx_pause"}),
        ("i40e", {"rx_pause", "tx_pause"}),
        ("ice-e810", {"rx_pause", "tx_pause"}),
        # Nothing is counted by priority: that is not zero.
        ("ena-aws", set()),
    ],
)
def test_drivers(name, kinds):
    found = by_priority(parse(case(f"ethtool-S/{name}.txt")))
    assert set(found) == kinds
    assert all(sorted(values) == list(range(8)) for values in found.values())


def test_an_old_driver_has_no_pauses_by_priority():
    found = by_priority(parse(case("ethtool-S/mlx5_core-cx4-old.txt")))
    assert {"rx_bytes", "tx_packets"} <= set(found)
    assert "rx_pause" not in found


def test_mlx5():
    names = {"rx_prio3_discards": 1, "rx_prio3_buf_discard": 4, "rx_prio3_cong_discard": 2, "rx_prio3_marked": 7}
    more = {"rx_prio3_pause": 9, "rx_prio3_pause_duration": 1000, "rx_prio3_pause_transition": 3, "tx_prio8_bytes": 5}
    found = by_priority({**names, **more, "tx_prio0_bytes": 6})
    assert found == {"rx_discards": {3: 4}, "rx_marked": {3: 7}, "rx_pause": {3: 9}, "tx_bytes": {0: 6}}


@given(st.dictionaries(st.text("rtx_prio0123456789bytes.nic", max_size=24), st.integers(0, 2**64)))
def test_any_names_are_read(counters):
    found = by_priority(counters)
    assert all(0 <= priority < 8 for values in found.values() for priority in values)
