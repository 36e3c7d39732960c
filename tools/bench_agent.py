# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What `railwright check` costs: CPU time against a bare interpreter, and peak memory, on a recorded 8-rail node."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "plugins" / "module_utils" / "fabric"
RUNS = 15

# Runs under the node's interpreter, as the module node_agent does it there.
BUILD = """
import importlib.util, pathlib, sys
core, target, peak, root = sys.argv[1:]
spec = importlib.util.spec_from_file_location("archive", core + "/agent/archive.py")
archive = importlib.util.module_from_spec(spec)
sys.modules["archive"] = archive
spec.loader.exec_module(archive)
core = pathlib.Path(core)
files = {str(path.relative_to(core)): path.read_text("utf-8") for path in sorted(core.rglob("*.py"))}
recorded = (
    "import railwright.agent.main as agent\\n"
    "from railwright.ports import RecordedPort\\n"
    "agent.LocalPort = lambda: RecordedPort(%r)\\n" % root
)
archive.MAIN = recorded + "agent.run()\\n"
pathlib.Path(target).write_bytes(archive.build(archive.pack_sources(files)))
# A child's ru_maxrss begins with what its parent had before exec (getrusage(2)): the process itself knows better.
archive.MAIN = recorded + (
    "import os, sys\\n"
    "end = os._exit\\n"
    "os._exit = lambda code: (os.write(2, open('/proc/self/status', 'rb').read()), end(code))\\n"
    "agent.run()\\n"
)
pathlib.Path(peak).write_bytes(archive.build(archive.pack_sources(files)))
"""


@dataclass(frozen=True)
class Cost:
    """Median CPU seconds of both, the median of their paired ratios, and the check's peak memory in MB."""

    bare_s: float
    check_s: float
    ratio: float
    peak_mb: float


def interpreter() -> str:
    """The system's own Python, as a node has it; else the one that runs this."""
    found = shutil.which("python3", path="/usr/bin:/bin")
    return found or sys.executable


def measure(runs: int = RUNS) -> Cost:
    """Alternate a bare interpreter and a check of the installed form; raises RuntimeError when the check fails."""
    python = interpreter()
    with tempfile.TemporaryDirectory() as folder:
        tree, agent, peak = (Path(folder) / name for name in ("node", "railwright", "railwright-peak"))
        record(tree)
        subprocess.run([python, "-c", BUILD, str(CORE), str(agent), str(peak), str(tree)], check=True)
        done = subprocess.run([python, "-IS", str(peak), "check"], capture_output=True, text=True, check=False)
        memory = re.search(r"VmHWM:\s*(\d+) kB", done.stderr) or re.search(r"VmRSS:\s*(\d+) kB", done.stderr)
        if not done.stdout.startswith("pass") or memory is None:
            msg = f"the recorded node is healthy, but check says: {done.stdout}{done.stderr}"
            raise RuntimeError(msg)
        check = [python, "-IS", str(agent), "check"]
        pairs = [(cpu([python, "-c", "pass"]), cpu(check)) for _ in range(runs)]
    return Cost(
        statistics.median(bare for bare, _ in pairs),
        statistics.median(cpu for _, cpu in pairs),
        statistics.median(cpu / bare for bare, cpu in pairs),
        int(memory[1]) / 1024,
    )


def cpu(argv: list[str], environment: dict[str, str] | None = None) -> float:
    """CPU seconds of one process and its children."""
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def record(tree: Path) -> None:
    """A healthy node with eight lossless rails, and its intent."""
    sys.path[:0] = [str(ROOT), str(ROOT / "collections")]
    from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model import document, intent

    from tests.unit import dcb, trees

    trees.eight_rails(tree)
    for nic in trees.rail_nics():
        dcb.record(tree, nic.netdev)
        # Other code points lead neither to the data nor to the CNPs.
        others = ((dscp, 0) for dscp in (*range(24, 32), *range(48, 56)))
        dcb.ofed(tree, nic.netdev, dscp_prio=(*others, (26, 3), (48, 6)))
        dcb.rdma_cm(tree, nic.rdma)
    trees.Tree(tree).file("/etc/systemd/system/multi-user.target.wants/railwright-apply.service", "")
    trees.Tree(tree).file("/usr/sbin/dcb", "")
    classes = (
        intent.TrafficClass(3, (3,), "ets", 50),
        intent.TrafficClass(6, (6,), "strict"),
        intent.TrafficClass(0, (0, 1, 2, 4, 5, 7), "ets", 50),
    )
    qos = intent.Qos("pfc+dcqcn", (3,), (3,), 26, 3, 48, 6, 106, classes, 7)
    rails = tuple(
        intent.RailIntent(
            name=f"rail{index}",
            index=index,
            fabric="compute",
            transport="roce",
            ports=(intent.PortIntent((intent.DeviceMatch(pci=nic.pci),), leaf=nic.leaf),),
            host_mtu=nic.mtu,
            switch_mtu=9216,
            path_mtu=nic.active_mtu,
            addressing="pool",
            addresses=nic.addresses[:1],
            speed_gbps=400.0,
            qos=qos,
        )
        for index, nic in enumerate(trees.rail_nics())
    )
    node = intent.NodeIntent(1, "0", "bench", "0" * 64, "node01", "su1", 1, rails)
    target = tree / document.PATH.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(document.dump(node), encoding="utf-8")
