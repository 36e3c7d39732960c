# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Who uses an RDMA device."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.rdma_resource import (
    parse_counts,
    parse_users,
)

from tests.unit.cases import case

TEXT = """[{"ifindex":0,"ifname":"rxe_rail0","port":1,"lqpn":1,"type":"GSI","state":"RTS","sq-psn":0,"comm":"ib_core"},
{"ifindex":0,"ifname":"rxe_rail0","port":1,"lqpn":17,"rqpn":18,"type":"RC","state":"RTS","pid":4242,"comm":"ib_write_bw"},
{"ifindex":0,"ifname":"rxe_rail0","port":1,"lqpn":18,"rqpn":19,"type":"RC","state":"RTS","pid":4242,"comm":"ib_write_bw"},
{"ifindex":1,"ifname":"mlx5_1","lqpn":18,"type":"UD","state":"RTS","pid":77}]"""


def test_users():
    assert parse_users(TEXT) == {"mlx5_1": ("process (77)",), "rxe_rail0": ("ib_write_bw (4242)",)}


def test_a_store_that_the_kernel_has_mounted_is_a_user():
    text = """[{"ifname": "mlx5_0", "type": "RC", "state": "RTS", "comm": "[nvme_rdma]"},
    {"ifname": "a", "type": "UD", "comm": "ib_core"}, {}]"""
    assert parse_users(text) == {"mlx5_0": ("nvme_rdma (kernel)",)}


def test_a_queue_pair_of_nobody_is_somebodys():
    """A datagram one as well: the kernel names its own."""
    assert parse_users('[{"ifname": "mlx5_0", "lqpn": 9, "type": "UD"}]') == {"mlx5_0": ("a process without a name",)}


def test_counts_of_the_field_case():
    found = parse_counts(case("rdma-res/ctx-leak.txt"))
    assert list(found) == ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
    assert found["mlx5_2"] == {"pd": 8056, "cq": 4030, "qp": 8053, "cm_id": 12079, "mr": 16159, "ctx": 4027, "srq": 2}
    assert [held["ctx"] for held in found.values()] == [4027] * 4


def test_counts_as_json():
    text = '[{"ifindex":0,"ifname":"mlx5_0","pd":2,"qp":1,"ctx":0},{}]'
    assert parse_counts(text) == {"mlx5_0": {"pd": 2, "qp": 1, "ctx": 0}}
    assert parse_counts("[]") == parse_counts("") == {}


@pytest.mark.parametrize(
    "text",
    [
        "0: mlx5_0: pd 2 cq",
        "0: mlx5_0:",
        "0: mlx5_0: pd 2 pd 3",
        "0: mlx5_0: pd two",
        "0: mlx5_0: pd -1",
        "mlx5_0 pd 2",
        "0: mlx5_0: pd 2\n0: mlx5_0: pd 2",
        "[",
        "[7]",
        '[{"pd": 2}]',
        '[{"ifname": "mlx5_0"}]',
        '[{"ifname": "mlx5_0", "pd": null}]',
        '[{"ifname": "mlx5_0", "ctx": 1.5}]',
    ],
)
def test_a_count_that_is_none(text):
    with pytest.raises(ParseError) as caught:
        parse_counts(text)
    assert caught.value.place.startswith("rdma resource:")


@pytest.mark.parametrize("text", ["[]", "[ ]\n"])
def test_nobody(text):
    assert parse_users(text) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "link 0", "7", '"x"', '["x"]', '[{"pid": 1}]', '[{"pid": 1, "ifname": null}]', "[" * 100000]
)
def test_anything_else_is_an_error(text):
    with pytest.raises(ParseError):
        parse_users(text)
