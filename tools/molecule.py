#!/usr/bin/env python3
"""Run Molecule scenarios one after the other, each from the lab's fresh snapshot; all of them even when one fails."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def run(*argv: str) -> int:
    """Run a command in the checkout with no input."""
    return subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL).returncode


def main() -> int:
    """Entry point."""
    results = []
    for scenario in sys.argv[1:]:
        began = time.monotonic()
        code = run(sys.executable, "-m", "lab", "reset")
        # What Molecule keeps about a scenario between runs has no meaning on nodes that were reset.
        code = code or run(str(BIN / "molecule"), "reset", "-s", scenario)
        code = code or run(str(BIN / "molecule"), "test", "-s", scenario)
        results.append((scenario, code, time.monotonic() - began))
    print()
    for scenario, code, seconds in results:
        print(f"molecule: {scenario}: {'passed' if not code else f'FAILED ({code})'} in {seconds:.0f} s")
    if not results:
        print("molecule: there is no scenario")
    return 1 if not results or any(code for _, code, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
