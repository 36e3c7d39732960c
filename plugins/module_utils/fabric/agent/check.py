# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright check``: the local rules, fit for a Slurm prolog, a probe of Kubernetes or a timer."""

from __future__ import annotations

import json
import time
from typing import TextIO

from ..errors import FabricError
from ..model.codec import encode
from ..model.document import load
from ..model.finding import UNKNOWN
from ..ports import Port
from ..verify.local import judge_node
from ..verify.verdict import exit_code, roots, verdict
from ..verify.waive import waive
from ..verify.watch import watch
from .options import Options


def check(port: Port, options: Options, out: TextIO) -> int:
    """Judge the node by its own intent.

    What could not be read is exit code 2; ``--on-unknown pass|fail`` makes it 0 or 1, for callers that know two
    answers only. Waived findings are shown and do not count.

    :raises IntentError: without a usable intent: then nothing can be judged.
    :raises FabricError: for a window that is no time.
    """
    intent = load(port)
    facts, counted = watch(port, intent, _seconds(options.get("--window", "0")))
    findings = judge_node(intent.host, intent, None, facts, counted)
    findings = waive(findings, intent.waivers, time.strftime("%Y-%m-%d"))
    state = verdict(findings)
    if "--json" in options:
        out.write(json.dumps({"state": state, "findings": [encode(found) for found in findings]}, indent=1) + "\n")
    else:
        for found in roots(findings):
            where = f"{found.rail}: " if found.rail else ""
            waived = f" [waived: {found.waived}]" if found.waived else ""
            out.write(f"{found.state}: {where}{found.title}: expected {found.expected}, found {found.found}{waived}\n")
            if found.remedy:
                out.write(f"  {found.remedy}\n")
        out.write(f"{state} ({len(findings)} findings)\n")
    return exit_code(state, options.get("--on-unknown", UNKNOWN))


def _seconds(text: str) -> float:
    """At most an hour."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise FabricError("a number of seconds up to 3600 is expected", "check --window", text)
    return seconds
