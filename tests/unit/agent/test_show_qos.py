# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of lossless settings."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.show import show
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.show_qos import HEADINGS, qos_rows
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts, QosState
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort

from tests.unit import dcb, trees

NIC, PCI = "enp24s0np0", "0000:18:00.0"


@pytest.fixture
def node(tmp_path):
    return trees.node(tmp_path, [replace(trees.rail_nics()[0], gid_table=8)])


def shown(root):
    out = io.StringIO()
    assert show(RecordedPort(str(root)), {}, out) == 0
    lines = [line for line in out.getvalue().split("\n") if line.startswith("-") and NIC in line]
    return out.getvalue(), lines[1:]


def test_a_lossless_rail(node):
    dcb.record(node, NIC)
    dcb.cc_params(node, PCI)
    dcb.rdma_cm(node, "mlx5_0")
    text, (line,) = shown(node)
    assert all(word in text for word in HEADINGS)
    columns = ("host ieee", "dscp", "26:3 48:6", "3", "0:ets 50% 3:ets 50% 6:strict", "off", "-", "48:6", "106")
    assert line.split() == ["-", NIC, *" ".join(columns).split()]


def test_nothing_to_show(node):
    text, lines = shown(node)
    assert lines == []
    assert "trust" not in text


@pytest.mark.parametrize(
    ("column", "changes", "expected"),
    [
        ("DCBX", {"dcbx": ()}, "firmware"),
        ("DCBX", {"dcbx": ("host",), "willing": True}, "host willing"),
        ("DSCP", {"dscp_prio": tuple((dscp, dscp >> 3) for dscp in range(16))}, "0-7:0 8-15:1"),
        ("DSCP", {"dscp_prio": ((26, 3), (26, 4))}, "26:3 26:4"),
        ("DSCP", {"dscp_prio": ()}, "none"),
        ("PFC", {"pfc": ()}, "none"),
        ("PFC", {"pfc": (3, 4)}, "3,4"),
        ("pause", {"pause_rx": True, "pause_tx": True}, "rx tx"),
        ("pause", {"pause_rx": True}, "-"),
        ("ECN", {"ecn_np": (3,), "ecn_rp": (3,)}, "3"),
        ("ECN", {"ecn_np": (3,), "ecn_rp": None}, "np 3 rp -"),
        ("CNP", {"cnp_dscp": 48}, "48:-"),
        ("classes", {"pfc": (3,)}, "-"),
    ],
)
def test_what_a_column_says(column, changes, expected):
    facts = NodeFacts(qos=(QosState("eth0", **changes),))
    (row,) = qos_rows(facts, {"eth0": "rail0"})
    assert dict(zip(HEADINGS, row))[column] == expected
