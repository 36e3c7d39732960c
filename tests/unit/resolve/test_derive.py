# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Derived numbers against values written down from their sources, not from the code."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import SpecError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import derive
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("host_mtu", "path_mtu"),
    [
        # kernel include/rdma/ib_addr.h, iboe_get_mtu(): 96 bytes of headers at most
        (9000, 4096),
        (4200, 4096),
        (4192, 4096),
        (4191, 2048),
        (2144, 2048),
        (2143, 1024),
        (1500, 1024),
        (1119, 512),
        (607, 256),
        (352, 256),
    ],
)
def test_path_mtu(host_mtu: int, path_mtu: int) -> None:
    assert derive.path_mtu(host_mtu) == path_mtu


def test_an_mtu_below_what_roce_needs_is_refused() -> None:
    with pytest.raises(SpecError, match=r"^x: RoCE needs an MTU of at least 352 bytes \(found '351'\)\. Use 9000"):
        derive.path_mtu(351, "x")


@pytest.mark.parametrize(
    ("dscp", "ecn", "byte"),
    [
        # RFC 2474: DSCP in the upper six bits; RFC 3168: ECT(0) = binary 10. NVIDIA's guides set ToS 106 for DSCP 26
        # under DCQCN.
        (26, True, 106),
        (26, False, 104),
        (24, False, 96),
        (48, False, 192),
        (0, True, 2),
        (63, True, 254),
    ],
)
def test_traffic_byte(dscp: int, ecn: bool, byte: int) -> None:
    assert derive.traffic_byte(dscp, ecn) == byte


@given(st.integers(0, 63), st.booleans())
def test_traffic_byte_keeps_the_dscp(dscp: int, ecn: bool) -> None:
    byte = derive.traffic_byte(dscp, ecn)
    assert 0 <= byte <= 255
    assert byte >> 2 == dscp
    assert byte & 3 in ((2,) if ecn else (0,))


@given(st.integers(352, 9194))
def test_path_mtu_always_fits(host_mtu: int) -> None:
    assert derive.path_mtu(host_mtu) + 96 <= host_mtu


def test_switch_and_ipoib_mtu() -> None:
    assert (derive.switch_mtu("roce"), derive.switch_mtu("infiniband")) == (9216, None)
    # kernel Documentation/infiniband/ipoib.rst: the IB MTU minus 4
    assert (derive.ipoib_mtu(4096), derive.ipoib_mtu(2048)) == (4092, 2044)


def test_units_of_the_spec() -> None:
    assert (derive.gbps("400G"), derive.gbps(None), derive.metres("7m"), derive.metres(None)) == (400.0, None, 7, None)
