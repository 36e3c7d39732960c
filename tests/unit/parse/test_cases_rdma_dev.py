# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.rdma_dev import parse

from tests.unit.cases import case


def test_broadcom():
    found = parse(case("rdma-dev/broadcom.txt"))
    assert [(entry.device.name, entry.protocol) for entry in found] == [("bnxt_re0", "roce"), ("bnxt_re1", "roce")]
    assert found[0].device.firmware == "203.0.113.0"
    assert found[0].device.node_guid == "0x8e8474fffe0e3450"


def test_a_management_child_is_no_adapter():
    (entry,) = parse(case("rdma-dev/smi-type-parent.txt"))
    assert (entry.device.name, entry.kind, entry.parent) == ("smi1", "smi", "ibp8s0f1")
