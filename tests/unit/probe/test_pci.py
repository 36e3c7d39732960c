# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""PCIe links of NICs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import sysfs
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe

from tests.unit import trees


def link(root, **changes):
    facts = probe(RecordedPort(str(trees.node(root, [replace(trees.rail_nics()[0], gid_table=8, **changes)]))))
    function = next(function for function in facts.pci if function.address == "0000:18:00.0")
    return (function.speed_gts, function.width, function.max_speed_gts, function.max_width), facts.unread


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (("32.0 GT/s PCIe", 16), (32.0, 16)),
        (("8.0 GT/s PCIe", 8), (8.0, 8)),
        (("2.5 GT/s", 1), (2.5, 1)),
        (("8 GT/s", 16), (8.0, 16)),
        (("Unknown", 0), (None, None)),
        (("Unknown speed", 255), (None, None)),
    ],
)
def test_links(tmp_path, current, expected):
    assert link(tmp_path, pcie=current) == ((*expected, 32.0, 16), ())


def test_a_function_without_pci_express(tmp_path):
    functions = probe(RecordedPort(str(trees.soft_roce(tmp_path)))).pci
    assert [function.width for function in functions if function.address == "0000:01:00.0"] == [None]


def test_what_cannot_be_understood_is_told(tmp_path):
    found, unread = link(tmp_path, pcie=("fast", 16))
    assert found == (None, 16, 32.0, 16)
    assert [(entry.subject, entry.source.rpartition("/")[2]) for entry in unread] == [
        ("0000:18:00.0", "current_link_speed")
    ]


@pytest.mark.parametrize("text", ["", "16", "16.0 GB/s", "1.6.0 GT/s", " GT/s PCIe", "16.0  GT/s", "²5 GT/s"])
def test_no_speed(text):
    with pytest.raises(ParseError):
        sysfs.link_speed(text)
    with pytest.raises(ParseError):
        sysfs.link_width(f"x{text}")
