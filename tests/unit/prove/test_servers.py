# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Test servers on a real machine: they outlive the call, end by themselves, and can be ended by the next call."""

from __future__ import annotations

import os
import shutil
import time

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove import servers
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.cover import plan_proof
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.work import announce

from tests.unit.prove.fakes import node

pytestmark = pytest.mark.skipif(not shutil.which("timeout"), reason="timeout of coreutils is not installed")


@pytest.fixture
def starter(tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "LOGS", str(tmp_path))
    return servers.LocalStarter()


def pid(tmp_path):
    return int((tmp_path / "one.pid").read_text())


def gone(number, seconds):
    """Whether a process ended within a bound of time; an ended child of ours stays as a zombie."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{number}/stat", encoding="ascii") as stream:
                if stream.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_it_ends_by_itself(starter, tmp_path):
    starter.start(["sleep", "60"], 1, "one")
    assert not gone(pid(tmp_path), 0.3)
    assert gone(pid(tmp_path), 5)


def test_the_next_call_ends_what_was_left(starter, tmp_path):
    starter.start(["sleep", "60"], 60, "one")
    number = pid(tmp_path)
    while not servers._runs(str(number), "sleep"):  # its command line shows a moment after it started
        time.sleep(0.05)
    starter.end_all("sleep")
    assert gone(number, 5)
    assert not (tmp_path / "one.pid").exists()


def test_a_process_of_somebody_else_is_left_alone(starter, tmp_path):
    (tmp_path / "one.pid").write_text(str(os.getpid()))
    starter.end_all("sleep")
    assert not gone(os.getpid(), 0.1)
    starter.end_all("sleep")


def test_output_is_kept(starter, tmp_path):
    starter.start(["echo", "Couldn't listen to port 18600"], 5, "one")
    assert gone(pid(tmp_path), 5)
    assert (tmp_path / "one.log").read_text() == "Couldn't listen to port 18600\n"


def test_announcements_send_nothing_and_name_everything():
    work = plan_proof({"node1": node(1), "node2": node(2)}).nodes["node1"]
    assert announce(work, "mtu")[0] == "rail0: 4200 bytes from 10.0.0.1 to node2 (10.0.0.2)"
    assert announce(work, "serve")[0] == "rail0: a test server for node2 on TCP port 18600"
    assert announce(work, "measure")[1] == "rail1: 6 s of bandwidth from 10.1.0.1 to node2 (10.1.0.2)"
