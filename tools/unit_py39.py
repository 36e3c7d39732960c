#!/usr/bin/env python3
"""Run the core's unit tests under Python 3.9, the oldest on nodes, with nothing installed but what they use."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import setup

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("pytest>=8.3,<9", "hypothesis>=6.120,<7", "jsonschema>=4.21,<5", "pyyaml>=6.0,<7")
# They run on the controller and in the lab, where Python is newer.
NOT_ON_NODES = ("tests/unit/lab", "tests/unit/report", "tests/unit/spec")
PROBE = "import sys, venv, ensurepip; assert sys.version_info[:2] == (3, 9)"


def find_python39() -> str:
    """A working Python 3.9, or an empty string."""
    for command in setup.commands("python3.9"):
        if subprocess.run([command, "-c", PROBE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return command
    return ""


def main() -> int:
    """Entry point."""
    python39 = find_python39()
    if not python39:
        print("unit-py39: skipped: no Python 3.9 with venv on PATH")
        return 0
    venv = ROOT / ".venv-39"
    stamp = venv / setup.STAMP
    wanted = hashlib.sha256("\n".join(PACKAGES).encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([python39, "-m", "venv", "--clear", str(venv)], check=True)
        setup.pip(venv / "bin" / "python", "install", "-q", *PACKAGES)
        stamp.write_text(wanted)
    argv = [
        str(venv / "bin" / "python"),
        "-m",
        "pytest",
        "tests/unit",
        *(f"--ignore={folder}" for folder in NOT_ON_NODES),
        "--without-ansible",
        "-q",
    ]
    return subprocess.run(argv + sys.argv[1:], cwd=str(ROOT), env=dict(os.environ)).returncode


if __name__ == "__main__":
    sys.exit(main())
