#!/usr/bin/env python3
"""The main job on the lab: site.yml, then prove, then where the report is. Both run whatever the first one says."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLAYBOOKS = ("site.yml", "playbooks/prove.yml")


def main() -> int:
    """Entry point."""
    began = time.time()
    codes = []
    for playbook in PLAYBOOKS:
        print(f"\n=== {playbook}", flush=True)
        argv = [str(Path(sys.executable).parent / "ansible-playbook"), playbook, *sys.argv[1:]]
        codes.append(subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL).returncode)
    fresh = [path for path in (ROOT / "reports").rglob("*.html") if path.stat().st_mtime >= began]
    for path in sorted(fresh, key=lambda item: item.stat().st_mtime)[-1:]:
        print(f"\ndemo: the report is {path}")
    if not fresh:
        print("\ndemo: no report was written")
    for playbook, code in zip(PLAYBOOKS, codes, strict=True):
        print(f"demo: {playbook}: {'finished' if not code else f'FAILED ({code})'}")
    print(f"demo: {time.time() - began:.0f} s")
    print(
        "demo: the lab is up. To break something, and see what is said of it:\n"
        "        .venv/bin/python -m lab inject link-down node2 rail1\n"
        "        .venv/bin/ansible-playbook playbooks/verify.yml\n"
        "      docs/lab.md lists the faults; make lab-ssh NODE=node1 is a shell, make lab-down ends it."
    )
    return next((code for code in codes if code), 0 if fresh else 1)


if __name__ == "__main__":
    sys.exit(main())
