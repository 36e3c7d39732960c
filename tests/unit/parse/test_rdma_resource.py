# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Who uses an RDMA device."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.rdma_resource import parse_users

TEXT = """[{"ifindex":0,"ifname":"rxe_rail0","port":1,"lqpn":1,"type":"GSI","state":"RTS","sq-psn":0,"comm":"ib_core"},
{"ifindex":0,"ifname":"rxe_rail0","port":1,"lqpn":17,"rqpn":18,"type":"RC","state":"RTS","pid":4242,"comm":"ib_write_bw"},
{"ifindex":0,"ifname":"rxe_rail0","port":1,"lqpn":18,"rqpn":19,"type":"RC","state":"RTS","pid":4242,"comm":"ib_write_bw"},
{"ifindex":1,"ifname":"mlx5_1","lqpn":18,"type":"UD","state":"RTS","pid":77}]"""


def test_users():
    assert parse_users(TEXT) == {"mlx5_1": ("process (77)",), "rxe_rail0": ("ib_write_bw (4242)",)}


def test_a_store_that_the_kernel_has_mounted_is_a_user():
    text = '[{"ifname": "mlx5_0", "type": "RC", "state": "RTS", "comm": "[nvme_rdma]"}, {"ifname": "a", "type": "UD"}]'
    assert parse_users(text) == {"mlx5_0": ("nvme_rdma (kernel)",)}


@pytest.mark.parametrize("text", ["[]", "[ ]\n"])
def test_nobody(text):
    assert parse_users(text) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "link 0", "7", '"x"', '["x"]', '[{"pid": 1}]', '[{"pid": 1, "ifname": null}]', "[" * 100000]
)
def test_anything_else_is_an_error(text):
    with pytest.raises(ParseError):
        parse_users(text)
