#!/usr/bin/env python3
"""Run tiers of tests one after the other, all of them even when one fails, and close with a table and one count."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB_TIERS = ("molecule", "lab-test", "lab-test-full")
# For one tier: a hung tool must not take the whole run with it.
LIMIT_SECONDS = 45 * 60
LONG_SECONDS = {"lab-test-full": 150 * 60}


def run_tier(tier: str, environment: dict[str, str]) -> int:
    """Run one make target in a process group of its own; 124 when it took too long."""
    make = subprocess.Popen(
        ["make", tier], cwd=str(ROOT), env=environment, stdin=subprocess.DEVNULL, start_new_session=True
    )
    limit = LONG_SECONDS.get(tier, LIMIT_SECONDS)
    try:
        return make.wait(limit)
    except subprocess.TimeoutExpired:
        print("tiers: %s took more than %d minutes" % (tier, limit // 60), flush=True)
        return 124
    except KeyboardInterrupt:
        return 130
    finally:
        if make.poll() is None:
            os.killpg(make.pid, signal.SIGTERM)
            make.wait()


def lab_down(environment: dict[str, str]) -> None:
    """Stop the lab, whatever became of the tiers; LAB_KEEP=1 leaves it for a look around."""
    if os.environ.get("LAB_KEEP") == "1":
        print("tiers: the lab is kept (LAB_KEEP=1); make lab-down stops it", flush=True)
    elif subprocess.run(["make", "lab-down"], cwd=str(ROOT), env=environment, stdin=subprocess.DEVNULL).returncode:
        print("tiers: the lab could not be stopped", flush=True)


def terminated(_number: int, _frame: object) -> None:
    """SIGTERM ends a run as Ctrl-C does: the tier first, then the lab."""
    raise KeyboardInterrupt


def counts(path: Path) -> dict[str, int]:
    """Add up what the pytest runs of a tier left behind."""
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for line in path.read_text().splitlines():
        for key, number in json.loads(line).items():
            total[key] += number
    return total


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", default=".venv")
    parser.add_argument("tiers", nargs="+")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, terminated)
    total = {"passed": 0, "failed": 0, "skipped": 0}
    table, worst = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for tier in options.tiers:
            tally = Path(folder) / tier
            tally.touch()
            print(f"\n=== {tier}", flush=True)
            began = time.monotonic()
            code = run_tier(tier, dict(os.environ, VENV=options.venv, RAILWRIGHT_TALLY=str(tally)))
            seconds = time.monotonic() - began
            seen = counts(tally)
            if code and not seen["failed"]:
                seen["failed"] = 1
            if not code and not any(seen.values()):
                seen["passed"] = 1  # a linter: one check that passed
            for key, number in seen.items():
                total[key] += number
            table.append((tier, "passed" if not code else "FAILED (%d)" % code, seconds, seen))
            worst = worst or code
            if code == 130:
                break
        if any(tier in LAB_TIERS for tier, *_ in table):
            lab_down(dict(os.environ, VENV=options.venv))
    print("\n%-14s %-13s %8s %8s %8s %8s" % ("tier", "result", "seconds", *total))
    for tier, result, seconds, seen in table:
        print("%-14s %-13s %8.0f %8d %8d %8d" % (tier, result, seconds, *seen.values()))
    print("\n%d passed, %d failed, %d skipped" % (total["passed"], total["failed"], total["skipped"]), flush=True)
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
