# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Receive buffers: what a NIC that counts in cells makes of sizes, and which priorities have no room."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.buffers import kept, without_room
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.lists(st.integers(0, 0xFFFFFFFF).map(lambda number: number * 16), min_size=8, max_size=8)


@pytest.mark.parametrize(
    ("want", "have", "same"),
    [
        ((131072, 0), (131072, 0), True),
        # 1023 cells of 128 bytes (kernel mlx5/core/en_dcbnl.c, MLX5E_BUFFER_CELL_SHIFT), and half a cell.
        ((131008, 65600), (130944, 65536), True),
        ((131008, 65536), (130944, 65536), True),
        # 682 cells of 192 bytes.
        ((131040, 0), (130944, 0), True),
        # Up, a cell too few, a size that none has, another buffer.
        ((130880, 0), (130944, 0), False),
        ((131200, 0), (130944, 0), False),
        ((131008, 0), (131000, 0), False),
        ((131008, 0), (0, 130944), False),
        ((131008, 65536), (130944, 65408), False),
        ((131072, 0), (131072,), False),
    ],
)
def test_sizes_are_kept_in_whole_cells(want, have, same):
    assert kept(want, have) is same


@given(SIZES, st.sampled_from([16, 48, 64, 96, 128, 144, 192, 256]))
def test_whatever_the_cell_the_second_look_sees_the_size_that_was_set(want, cell):
    assert kept(tuple(want), tuple(size // cell * cell for size in want))


@given(SIZES, st.integers(0, 7), st.integers(256, 0xFFFF))
def test_more_than_a_cell_off_is_another_size(want, buffer, off):
    have = [size + off * (number == buffer) for number, size in enumerate(want)]
    assert not kept(tuple(want), tuple(have))
    assert not kept(tuple(have), tuple(want))


def test_priorities_without_room():
    assert without_room((1, 1, 0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0, 0, 0)) == []
    assert without_room((0, 1, 0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0, 0, 0)) == [0, 1, 2, 4, 5, 6, 7]
    assert without_room((1, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 5, 0, 0, 0, 9)) == [3, 7]
