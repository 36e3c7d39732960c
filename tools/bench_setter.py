# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What the setter of lossless settings costs on a node with eight rails and no change, over a bare `ping` call."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import bench_agent

ROOT = Path(__file__).resolve().parent.parent
RUNS = 9
# Takes the place of the node itself.
LOCAL = """
class LocalPort(RecordedPort):
    def __init__(self):
        super().__init__({tree!r})
"""
SETTER, PING = "railwright.fabric.roce_qos", "ansible.builtin.ping"


def measure(runs: int = RUNS) -> float:
    """The median of paired CPU ratios of the two modules, run as they arrive at a node, without the connection.

    :raises RuntimeError: when a module cannot be had or does not report "no change".
    """
    python = bench_agent.interpreter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = folder / "node"
        bench_agent.record(tree)
        setter, ping = (_exploded(python, module, folder) for module in (SETTER, PING))
        core = setter.with_name("debug_dir") / "ansible_collections/railwright/fabric/plugins/module_utils/fabric"
        with (core / "ports.py").open("a", encoding="utf-8") as ports:
            ports.write(LOCAL.format(tree=str(tree)))
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run(
            [python, str(setter), "execute"], capture_output=True, text=True, check=False, env=environment
        )
        if '"changed": false' not in done.stdout:
            msg = f"the recorded node is as it should be, but the setter says: {done.stdout}{done.stderr}"
            raise RuntimeError(msg)
        pairs = [
            [bench_agent.cpu([python, str(module), "execute"], environment) for module in (setter, ping)]
            for _ in range(runs)
        ]
    return statistics.median(ours / bare for ours, bare in pairs)


def _exploded(python: str, module: str, folder: Path) -> Path:
    """What Ansible sends to a node for ``module``, laid out as files beside the returned program."""
    temporary = folder / module
    environment = dict(
        os.environ,
        ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
        ANSIBLE_KEEP_REMOTE_FILES="1",
        ANSIBLE_REMOTE_TEMP=str(temporary),
    )
    program = Path(sys.executable).with_name("ansible")
    argv = [str(program), "localhost", "-i", "localhost,", "-c", "local", "-m", module, "--check"]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    sent = next(temporary.glob("*/AnsiballZ_*.py"), None)
    if sent is None:
        msg = f"Ansible kept no {module}: {done.stdout}{done.stderr}"
        raise RuntimeError(msg)
    subprocess.run([python, str(sent), "explode"], check=True, capture_output=True)
    return sent
