#!/usr/bin/env python3
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamic inventory of the lab: what ``python3 -m lab inventory`` prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    if sys.argv[1:2] == ["--host"]:
        # All variables come with --list, under _meta.
        print("{}")
        raise SystemExit(0)
    raise SystemExit(subprocess.run([sys.executable, "-m", "lab", "inventory"], cwd=REPOSITORY, check=False).returncode)
