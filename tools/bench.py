#!/usr/bin/env python3
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The performance table, as ratios within one run: absolute times of an emulated rack say nothing.

Runs that are compared alternate, so that both see the same load of the machine. What needs the lab is measured when the
lab is up; the lab is left as it was found, at its snapshot. Exit status 1 when a run that should change nothing does,
or when a setting that was drifted by hand is not found.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab import Lab, LabError  # noqa: E402
from tools import bench_agent, bench_setter  # noqa: E402

PAIRS = 3
SNAPSHOT = "bench"
DRIFT_NODE, DRIFT_PCI, DRIFT_MTU = "node1", "0000:01:00.0", 1500
RECAP = re.compile(
    r"^(?P<host>\S+)\s*: ok=\d+\s+changed=(?P<changed>\d+)\s+unreachable=(?P<down>\d+)\s+failed=(?P<bad>\d+)"
)


class BenchError(Exception):
    """A run did not do what it was measured for."""


@dataclass(frozen=True)
class Run:
    """One playbook run: wall seconds, changed tasks a host, and module calls that went to nodes."""

    seconds: float
    changed: dict[str, int]
    calls: list[dict[str, str]]

    def calls_per_node(self) -> int:
        """Module calls of the busiest node."""
        counted = Counter(call["host"] for call in self.calls if call["kind"] == "module")
        return max(counted.values(), default=0)

    def commands_per_node(self) -> float:
        """Commands, round trips over the connection, on average."""
        hosts = {call["host"] for call in self.calls if call["kind"] == "module"}
        return sum(call["kind"] == "command" for call in self.calls) / max(len(hosts), 1)


def play(playbook: Path, folder: Path) -> Run:
    """Run a playbook against the lab.

    :raises BenchError: when a host fails or cannot be reached.
    """
    log = folder / "calls"
    log.write_text("", encoding="utf-8")
    environment = dict(
        os.environ,
        ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
        ANSIBLE_CALLBACK_PLUGINS=str(ROOT / "tools" / "callbacks"),
        ANSIBLE_CALLBACKS_ENABLED="remote_calls",
        ANSIBLE_NOCOLOR="1",
        # Connections that were shared before this run may be to nodes that were reset since.
        ANSIBLE_SSH_CONTROL_PATH_DIR=str(folder / "cp"),
        RAILWRIGHT_CALLS=str(log),
    )
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), str(playbook)]
    began = time.monotonic()
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    hosts = [found for found in map(RECAP.match, done.stdout.splitlines()) if found]
    if done.returncode != 0 or not hosts or any(int(host["down"]) or int(host["bad"]) for host in hosts):
        raise BenchError(f"{playbook.name} failed ({done.returncode}):\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    calls = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return Run(seconds, {host["host"]: int(host["changed"]) for host in hosts}, calls)


def unchanged(run: Run) -> Run:
    """The same run, once it is sure that it changed nothing."""
    if any(run.changed.values()):
        raise BenchError(f"a run that should change nothing changed: {run.changed}")
    return run


def pings(folder: Path, count: int) -> Path:
    """A playbook of that many bare module calls on the same hosts."""
    tasks = [{"name": f"Call {number}", "ansible.builtin.ping": None} for number in range(count)]
    play_of_pings = [{"name": "Bare module calls", "hosts": "gpu_nodes", "gather_facts": False, "tasks": tasks}]
    path = folder / "pings.yml"
    path.write_text(json.dumps(play_of_pings), encoding="utf-8")
    return path


class Drift:
    """One setting of one node, changed by hand."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.netdev = lab.run(DRIFT_NODE, [f"ls /sys/bus/pci/devices/{DRIFT_PCI}/virtio*/net"]).stdout.strip()

    def mtu(self) -> int:
        """What the node has."""
        return int(self.lab.run(DRIFT_NODE, [f"cat /sys/class/net/{self.netdev}/mtu"]).stdout)

    def timed(self, site: Path, folder: Path) -> Run:
        """Drift the MTU, and time the same kind of run.

        :raises BenchError: when the run does not find exactly that, or does not put it back.
        """
        good = self.mtu()
        self.lab.run(DRIFT_NODE, [f"ip link set dev {self.netdev} mtu {DRIFT_MTU}"])
        run = play(site, folder)
        others = sum(count for host, count in run.changed.items() if host != DRIFT_NODE)
        if not run.changed.get(DRIFT_NODE) or others:
            raise BenchError(f"MTU {DRIFT_MTU} on {DRIFT_NODE} was set by hand; the run changed: {run.changed}")
        if self.mtu() != good:
            raise BenchError(f"the MTU of {self.netdev} on {DRIFT_NODE} is {self.mtu()} after the run, not {good}")
        return run


def bench_lab(lab: Lab, say: Reporter) -> None:
    """The parts that need the lab, in a snapshot of their own."""
    site = ROOT / "site.yml"
    with tempfile.TemporaryDirectory(prefix="rw-") as name:
        folder = Path(name)
        play(site, folder)  # converge, untimed
        lab.snapshot(SNAPSHOT)
        first = unchanged(play(site, folder))
        count = first.calls_per_node()
        bare = pings(folder, count)
        pairs = [(unchanged(play(site, folder)), play(bare, folder)) for _ in range(PAIRS)]
        ratios = [run.seconds / ping.seconds for run, ping in pairs]
        ping_s = statistics.median(ping.seconds for _, ping in pairs)
        say.row(f"site.yml, no change / {count} pings", statistics.median(ratios), "1.3 or less", _spread(ratios))
        drifted = Drift(lab).timed(site, folder)
        say.row("site.yml that finds a drifted MTU / pings", drifted.seconds / ping_s, "", "found and put back")
        say.row("remote module calls a node", first.calls_per_node(), "20 or fewer")
        say.row("round trips a node", first.commands_per_node(), "")
        began = time.monotonic()
        lab.reset(SNAPSHOT)
        seconds = time.monotonic() - began
        say.row("lab reset / one ping", seconds / (ping_s / count), "", f"{seconds:.1f} s")
        lab.reset()


class Reporter:
    """Prints the table while it comes to be."""

    def row(self, what: str, value: float, aim: str, note: str = "") -> None:
        """One line."""
        print(f"{what:<46} {value:>8.2f}  {aim:<12} {note}".rstrip(), flush=True)


def _spread(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f} in {len(values)} pairs"


def main() -> int:
    """Entry point."""
    say = Reporter()
    print(f"{'':<46} {'ratio':>8}  {'aim':<12}")
    try:
        cost = bench_agent.measure()
        say.row("railwright check / python3 -c pass, CPU", cost.ratio, "6 or less", f"{cost.check_s * 1000:.0f} ms")
        say.row("railwright check, peak memory in MB", cost.peak_mb, "under 25")
        say.row("roce_qos, 8 rails, no change / ping, CPU", bench_setter.measure(), "2 or less")
        lab = Lab()
        if lab.status()["up"]:
            bench_lab(lab, say)
        else:
            print("the lab is not up, so nothing was measured there: make lab-up, or make bench")
    except (BenchError, LabError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
