# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Optics, statistics and the kernel's log, read when details are wanted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import decode, encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Module, NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe

from tests.unit import trees

NIC, PCI = "enp24s0np0", "0000:18:00.0"
OPTIC = "Identifier : 0x18 (QSFP-DD)\nModule temperature : 46.20 degrees C / 115.16 degrees F\n"


@pytest.fixture
def node(tmp_path):
    root = trees.node(tmp_path, [replace(trees.rail_nics()[0], gid_table=8)])
    for name, firmware in ((NIC, "28.43.2026"), ("eno1", "3.30")):
        out = f"driver: x\nfirmware-version: {firmware}\n"
        trees.edit_command(root, ["ethtool", "-i", name], out=out)
    trees.edit_command(root, ["ethtool", "-m", NIC], out=OPTIC)
    trees.edit_command(
        root, ["ethtool", "-m", "eno1"], rc=1, err="Cannot get Module EEPROM data: Operation not supported\n"
    )
    trees.edit_command(root, ["ethtool", "-S", NIC], out="NIC statistics:\n     rx_crc_errors_phy: 3\n")
    trees.edit_command(root, ["ethtool", "-S", "eno1"], rc=94, err="no stats available\n")
    trees.edit_command(root, ["dmesg"], out=f"[1.0] mlx5_core {PCI}: Port module event: module 0, Cable unplugged\n")
    return root


def facts(root):
    return probe(RecordedPort(str(root)), detail=True)


def test_details(node):
    found = facts(node)
    assert found.unread == ()
    assert found.optics == (Module(NIC, kind="QSFP-DD", temperature=46.2),)
    assert found.statistics == {NIC: {"rx_crc_errors_phy": 3}}
    assert [(event.kind, event.device, event.count) for event in found.kernel_log] == [("module_unplugged", PCI, 1)]
    assert decode(NodeFacts, encode(found)) == found


def test_they_are_not_read_unless_they_are_wanted(node):
    found = probe(RecordedPort(str(node)))
    assert (found.optics, found.statistics, found.kernel_log) == (None, None, None)


def test_bit_error_rates(node):
    trees.Tree(node).file("/usr/bin/mlxlink", "")
    output = {
        "a": {"State": "Active"},
        "b": {"Raw Physical BER": "3E-9", "Symbol BER": "15E-255"},
        "c": {"Vendor Name": "N"},
    }
    argv = ["mlxlink", "-d", PCI, "-m", "-c", "--json"]
    trees.edit_command(node, argv, out=json.dumps({"result": {"output": output}}))
    (module,) = facts(node).optics
    assert (module.raw_ber, module.symbol_ber, module.vendor, module.temperature) == (3e-9, 0.0, "N", 46.2)


def test_what_fails_is_told(node):
    trees.edit_command(node, ["ethtool", "-m", NIC], rc=1, err="netlink error: Input/output error\n")
    trees.hang(node, ["dmesg"])
    found = facts(node)
    assert (found.optics, found.kernel_log) == ((), None)
    assert [entry.subject for entry in found.unread] == ["optics", "kernel_log"]
