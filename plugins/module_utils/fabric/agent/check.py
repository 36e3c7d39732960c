# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright check``: the local rules, fit for a Slurm prolog, a probe of Kubernetes or a timer."""

from __future__ import annotations

import json
import time
from typing import TextIO

from ..model.codec import encode
from ..model.document import load
from ..model.finding import UNKNOWN
from ..ports import Port
from ..probe.node import probe
from ..verify.local import judge_node
from ..verify.verdict import exit_code, roots, verdict
from ..verify.waive import waive
from .options import Options


def check(port: Port, options: Options, out: TextIO) -> int:
    """Judge the node by its own intent.

    What could not be read is exit code 2; ``--on-unknown pass|fail`` makes it 0 or 1, for callers that know two
    answers only. Waived findings are shown and do not count.

    :raises IntentError: without a usable intent: then nothing can be judged.
    """
    intent = load(port)
    findings = waive(judge_node(intent.host, intent, None, probe(port)), intent.waivers, time.strftime("%Y-%m-%d"))
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
