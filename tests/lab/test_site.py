# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""site.yml on real kernels: the first run and its prediction, the second, drift, reboots, runs that were cut off."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.lab.conftest import ROOT, ConvergedLab

pytestmark = pytest.mark.lab
NODES = ("node1", "node2")
NOTHING = {"node1": 0, "node2": 0, "localhost": 0}


def shell(lab, node, *words):
    return lab.run(node, list(words)).stdout


def test_check_mode_before_the_first_run_writes_nothing(first_runs):
    assert first_runs.predicted.rc == 0, first_runs.predicted.out[-4000:]
    assert "as they are, without the changes that this run only predicts" in " ".join(first_runs.predicted.out.split())
    for node, lines in first_runs.written_in_check_mode.items():
        assert not lines, f"{node}: {sorted(lines)}"


def test_check_mode_predicts_each_step_of_the_first_run(first_runs):
    predicted, done = first_runs.predicted.steps(), first_runs.done.steps()
    assert any("MTU" in step for step in done)
    assert any("soft RoCE device" in step for step in done)
    unforeseen = done - predicted
    assert not unforeseen, "\n".join(sorted(unforeseen))


def test_the_first_run_converged_to_a_pass(first_runs):
    assert first_runs.done.report["verdict"] == "pass"
    assert first_runs.done.changed()["node1"] > 0


@pytest.mark.full
def test_the_second_run_changes_nothing(converged_lab):
    assert converged_lab.playbook("site.yml").changed() == NOTHING


@pytest.mark.full
def test_check_mode_on_a_converged_fabric_predicts_nothing(converged_lab):
    assert converged_lab.playbook("site.yml", "--check").changed() == NOTHING


def test_drift_by_hand_is_found_shown_and_repaired(converged_lab):
    lab = converged_lab.lab
    netdev = converged_lab.netdev("node1", "rail0")
    shell(lab, "node1", "ip", "link", "set", "dev", netdev, "mtu", "1500")
    shell(lab, "node2", "rdma", "link", "delete", "rxe_rail1")
    played = converged_lab.playbook("site.yml", "--diff")
    assert played.changed() == {"node1": 1, "node2": 1, "localhost": 0}
    assert f"-rail0: MTU of {netdev}: 1500" in played.out
    assert f"+rail0: MTU of {netdev}: 4200" in played.out
    assert "+rail1: soft RoCE device: rxe_rail1 on " in played.out
    assert played.report["verdict"] == "pass"
    assert shell(lab, "node1", "cat", f"/sys/class/net/{netdev}/mtu").strip() == "4200"


def test_after_a_reboot_verify_passes_with_no_run_in_between(converged_lab):
    for node in NODES:
        converged_lab.lab.reboot(node)
    for node in NODES:
        converged_lab.await_agent(node)
    played = converged_lab.playbook("playbooks/verify.yml")
    assert played.report["verdict"] == "pass"
    assert played.changed() == NOTHING


@pytest.mark.full
def test_one_node_down_leaves_the_other_finished_and_the_run_says_so(lab):
    lab.reset()
    lab.power_off("node2")
    converged = ConvergedLab(lab)
    played = converged.playbook("site.yml", check=False)
    assert played.rc != 0
    assert [(root["rule"], root["host"]) for root in played.roots()] == [("host.reachable", "node2")]
    assert re.search(r"^FAIL +node2$", played.out, re.MULTILINE), played.out[-3000:]
    assert lab.run("node1", ["railwright", "check"]).returncode == 0
    lab.power_on("node2")
    assert converged.playbook("site.yml").report["verdict"] == "pass"


@pytest.mark.full
def test_a_controller_killed_half_way_converges_on_the_next_run(lab):
    lab.reset()
    converged = ConvergedLab(lab)
    for task in ("rdma_stack : Install the missing packages", "rail_network : Configure the rails"):
        kill_at(converged, task)
    assert converged.playbook("site.yml").report["verdict"] == "pass"
    assert converged.playbook("site.yml").changed() == NOTHING


@pytest.mark.full
def test_a_node_reset_half_way_converges_on_the_next_run(lab):
    lab.reset()
    converged = ConvergedLab(lab)
    kill_at(converged, "rail_network : Configure the rails", lambda: lab.hard_reset("node1"))
    assert converged.playbook("site.yml").report["verdict"] == "pass"
    assert converged.playbook("site.yml").changed() == NOTHING


def family(pid):
    """A process and all that descend from it."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def kill_at(converged, task, first=lambda: None, arguments=(), after=3.0):
    """Start site.yml and, ``after`` seconds into ``task``, do ``first`` and kill the controller with its children."""
    # Short, because the sockets of shared connections go there: their paths are limited to about 100 characters.
    folder = Path(tempfile.mkdtemp(prefix="rw-"))
    with subprocess.Popen(
        converged.command(folder, "site.yml", *arguments),
        cwd=ROOT,
        env=dict(converged.environment(folder), PYTHONUNBUFFERED="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        seen = any(task in line for line in process.stdout)
        time.sleep(after)
        first()
        # Ansible's workers have sessions of their own (executor/process/worker.py), and would finish their task.
        for pid in family(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)
    assert seen, f"site.yml never came to {task}"
