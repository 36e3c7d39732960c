# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Whole files as steps: text and mode."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.plan import WriteFile
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.files import file_step, read_files

from tests.unit.fakes import FakePort

PATH = "/etc/NetworkManager/system-connections/railwright-rail0.nmconnection"
WANTED = WriteFile(PATH, "[connection]\nid=rail0\n", 0o600)


def step(port):
    return file_step(read_files(port, (PATH,)), WANTED, "rail0", f"file {PATH}", "10.0.0.1/24")


def test_a_file_as_it_should_be():
    port = FakePort({PATH: WANTED.text})
    port.modes[PATH] = 0o600
    assert step(port) is None


@pytest.mark.parametrize("mode", [0o644, 0o400, 0o755])
def test_a_file_that_its_reader_would_pass_over(mode):
    port = FakePort({PATH: WANTED.text})
    port.modes[PATH] = mode
    assert str(step(port)) == f"rail0: file {PATH} 10.0.0.1/24, mode 0{mode:o} -> 10.0.0.1/24, mode 0600"
    assert step(port).actions == (WANTED,)


def test_another_text():
    port = FakePort({PATH: "[connection]\nid=rail1\n"})
    assert step(port).before == "another content (-id=rail1 +id=rail0)"
    assert step(FakePort()).before == ""
