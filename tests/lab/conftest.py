# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab for tests: booted and converged once a run; every test starts at the snapshot ``converged``."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab import Lab, deps

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = "converged"
# Seconds. A whole playbook takes half a minute under emulation; a test that hangs must not take the run with it.
PLAYBOOK_TIMEOUT = 600.0


@dataclass(frozen=True)
class Played:
    """A playbook run: exit code, all output, and the report's document when one was written."""

    rc: int
    out: str
    report: dict[str, Any]

    def roots(self) -> list[dict[str, Any]]:
        """Findings that do not pass by themselves: no consequence of another, not waived."""
        return [
            finding
            for finding in self.report.get("findings", [])
            if finding["state"] != "pass" and not finding["caused_by"] and not finding["waived"]
        ]

    def changed(self) -> dict[str, int]:
        """Changed tasks of each host, from the closing recap."""
        return {
            host: int(count) for host, count in re.findall(r"^(\S+)\s+: ok=.*?changed=(\d+)", self.out, re.MULTILINE)
        }

    def steps(self) -> set[str]:
        """The steps that ``--diff`` showed: lines such as ``+rail0: MTU of enp1s0 4200``."""
        return {line[1:] for line in self.out.splitlines() if re.match(r"\+[a-z]", line)}


class ConvergedLab:
    """The lab and the playbooks of this checkout."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def playbook(self, name: str, *arguments: str, check: bool = True) -> Played:
        """Run a playbook, such as ``site.yml`` or ``playbooks/prove.yml``; ``check`` wants exit code 0."""
        folder = Path(tempfile.mkdtemp(prefix="rw-"))
        try:
            done = subprocess.run(
                self.command(folder, name, *arguments),
                cwd=ROOT,
                env=self.environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=PLAYBOOK_TIMEOUT,
                check=False,
            )
            document = folder / "report" / "report.json"
            report = json.loads(document.read_text(encoding="utf-8")) if document.exists() else {}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        assert not check or done.returncode == 0, f"{name} ended with {done.returncode}\n{done.stdout[-6000:]}"
        return Played(done.returncode, done.stdout, report)

    @staticmethod
    def command(folder: Path, name: str, *arguments: str) -> list[str]:
        """The command line of a playbook run that keeps its report below ``folder``."""
        program = Path(sys.executable).with_name("ansible-playbook")
        return [str(program), str(ROOT / name), "-e", f"fabric_report_dir={folder / 'report'}", *arguments]

    @staticmethod
    def environment(folder: Path) -> dict[str, str]:
        """Its environment: a connection that was shared before a reset is dead after it, so each run has its own."""
        return dict(
            os.environ,
            ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
            ANSIBLE_SSH_CONTROL_PATH_DIR=str(folder / "cp"),
            ANSIBLE_NOCOLOR="1",
        )

    def fingerprint(self, node: str) -> set[str]:
        """All that a run could have changed on a node, a line each."""
        script = (ROOT / "extensions/molecule/shared/files/fingerprint.sh").read_text(encoding="utf-8")
        return set(self.lab.run(node, ["sh -s"], stdin=script, timeout=PLAYBOOK_TIMEOUT).stdout.splitlines())

    def netdev(self, node: str, rail: str) -> str:
        """The network device that carries a rail."""
        device = {"rail0": "0000:01:00.0", "rail1": "0000:02:00.0"}[rail]
        return self.lab.run(node, [f"ls /sys/bus/pci/devices/{device}/virtio*/net"]).stdout.strip()

    def await_agent(self, node: str) -> None:
        """Wait until the agent has done its work at boot, and is content."""
        deadline = time.monotonic() + 120
        while self.lab.run(node, ["systemctl show -P ActiveState railwright-apply"]).stdout.strip() != "active":
            assert time.monotonic() < deadline, f"{node}: the agent did not finish at boot"
            time.sleep(2)
        done = self.lab.run(node, ["railwright", "check"], check=False)
        assert done.returncode == 0, f"{node}: {done.stdout}{done.stderr}"

    def await_neighbour(self, node: str, rail: str, leaf: str) -> None:
        """Wait until the node hears over LLDP that the rail is plugged into this leaf."""
        netdev, deadline = self.netdev(node, rail), time.monotonic() + 120
        while leaf not in (seen := self.lab.run(node, [f"lldpcli show neighbors ports {netdev}"]).stdout):
            assert time.monotonic() < deadline, seen
            time.sleep(2)


@pytest.fixture(scope="session")
def lab():
    """The lab, brought up where it is not; ends what it started, unless LAB_KEEP=1."""
    absent = deps.missing()
    if absent:
        pytest.skip(f"the lab needs packages that are not installed: {' '.join(absent)} (make lab-deps)")
    rack = Lab()
    started = rack.up()
    try:
        yield rack
    finally:
        if started and os.environ.get("LAB_KEEP") != "1":
            rack.down()
        else:
            rack.reset()


@pytest.fixture
def fresh_lab(lab):
    """The lab as it was when its nodes had just booted."""
    lab.reset()
    return lab


@dataclass(frozen=True)
class FirstRuns:
    """How the lab was converged: the run in check mode and the run that did it, and what the first of them wrote."""

    predicted: Played
    done: Played
    written_in_check_mode: dict[str, set[str]]


@pytest.fixture(scope="session")
def first_runs(lab):
    """Converges the lab once, from fresh nodes, check mode first."""
    lab.reset()
    converged = ConvergedLab(lab)
    before = {node: converged.fingerprint(node) for node in lab.config.node_names}
    predicted = converged.playbook("site.yml", "--check", "--diff", "-v")
    written = {node: before[node] ^ converged.fingerprint(node) for node in lab.config.node_names}
    done = converged.playbook("site.yml", "--diff")
    lab.snapshot(SNAPSHOT)
    return FirstRuns(predicted, done, written)


@pytest.fixture(scope="session")
def _converged(lab, first_runs):
    return ConvergedLab(lab)


@pytest.fixture
def converged_lab(_converged):
    """A converged lab without faults, as ``.lab`` (``lab.Lab``) and ``.playbook(name, *arguments)``."""
    _converged.lab.reset(SNAPSHOT)
    return _converged
