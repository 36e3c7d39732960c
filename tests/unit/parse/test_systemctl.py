# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``systemctl show``: what systemd 252 prints for several units, and damage."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import systemctl

TEXT = """\
LimitMEMLOCK=8388608
Id=ssh.service
LoadState=loaded
MainPID=312

LimitMEMLOCK=8388608
Id=slurmd.service
LoadState=not-found
MainPID=0
"""


def test_a_block_a_unit():
    assert systemctl.parse(TEXT) == (
        {"LimitMEMLOCK": "8388608", "Id": "ssh.service", "LoadState": "loaded", "MainPID": "312"},
        {"LimitMEMLOCK": "8388608", "Id": "slurmd.service", "LoadState": "not-found", "MainPID": "0"},
    )
    assert systemctl.parse("") == ()


@pytest.mark.parametrize(
    "text",
    ["Failed to connect to bus", "LoadState=loaded\n", TEXT.replace("\n\n", "\n"), "=x\n", f"{TEXT}\nMainPID=1\n"],
)
def test_damage(text):
    with pytest.raises(ParseError):
        systemctl.parse(text)


def test_no_text_crashes_it():
    hypothesis = pytest.importorskip("hypothesis")

    @hypothesis.given(hypothesis.strategies.text())
    def parsed(text):
        try:
            blocks = systemctl.parse(text)
        except ParseError:
            return
        assert all(block["Id"] for block in blocks)

    parsed()


@pytest.mark.parametrize("length", range(1, len(TEXT)))
def test_a_cut_output_says_less_and_nothing_else(length):
    try:
        blocks = systemctl.parse(TEXT[:length])
    except ParseError:
        return
    whole = systemctl.parse(TEXT)
    assert len(blocks) <= len(whole)
    for cut, full in zip(blocks, whole):
        for name, value in cut.items():
            assert full.get(name, "").startswith(value)
