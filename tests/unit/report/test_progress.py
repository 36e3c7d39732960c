# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress of long tasks: a few lines where it is long, silence elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.plugin_utils import progress
from ansible_collections.railwright.fabric.plugins.plugin_utils.progress import Progress, span

ROOT = Path(__file__).resolve().parents[3]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def run(total, step, ends=()):
    clock = Clock()
    progress = Progress("Send packets", total, clock)
    lines = []
    for number in range(total):
        clock.now += step
        lines.append(progress.done(ends[number] if number < len(ends) else "ok"))
    return [line for line in lines if line]


def test_a_line_each_quarter():
    lines = run(200, 0.5, ("failed", "unreachable", "failed"))
    assert lines == [
        "Send packets: 50 of 200 nodes, 2 failed, 1 unreachable, 25 s so far, about 1 min 15 s left",
        "Send packets: 100 of 200 nodes, 2 failed, 1 unreachable, 50 s so far, about 50 s left",
        "Send packets: 150 of 200 nodes, 2 failed, 1 unreachable, 1 min 15 s so far, about 25 s left",
        "Send packets: 200 of 200 nodes, 2 failed, 1 unreachable, 1 min 40 s so far",
    ]


@pytest.mark.parametrize(("total", "step"), [(19, 60), (200, 0.01), (0, 1), (1, 100)])
def test_silence_where_there_is_nothing_to_wait_for(total, step):
    assert run(total, step) == []


def test_a_line_a_minute_while_little_happens():
    lines = run(100, 25)
    assert lines[0].startswith("Send packets: 3 of 100 nodes")
    assert len(lines) < 40, "one a minute at most, and the quarters"


def test_more_ends_than_hosts_say_nothing():
    progress = Progress("x", 20, Clock())
    assert [progress.done() for _again in range(25)] == [""] * 25


def test_spans():
    assert (span(0.2), span(59.5), span(61)) == ("1 s", "1 min 00 s", "1 min 01 s")


def test_a_run_shows_it_and_others_do_not(tmp_path):
    """The callback in a real run: twenty hosts, and a task that takes longer than ten seconds in all."""
    pytest.importorskip("ansible")
    (tmp_path / "play.yml").write_text(
        "- hosts: all\n  gather_facts: false\n  tasks:\n"
        "    - name: Quick\n      ansible.builtin.debug: {msg: x}\n"
        "    - name: Long\n      ansible.builtin.wait_for: {timeout: 10}\n"
    )
    hosts = ",".join(f"n{number}" for number in range(20)) + ","
    argv = ["ansible-playbook", "-i", hosts, "-c", "local", "-f", "20", "play.yml"]
    argv += ["-e", f"ansible_python_interpreter={sys.executable}"]
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    # The directory of the interpreter, so that a run never picks up another Ansible.
    environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # An installed collection has no ansible.cfg beside it.
    environment["ANSIBLE_CALLBACKS_ENABLED"] = "railwright.fabric.progress"
    environment["ANSIBLE_COLLECTIONS_PATH"] = str(Path(progress.__file__).parents[5])
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Long: 20 of 20 nodes, " in done.stdout
    assert "Quick:" not in done.stdout
