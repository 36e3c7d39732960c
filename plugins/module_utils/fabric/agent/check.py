# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright check``: the local rules, fit for a Slurm prolog, a probe of Kubernetes or a timer."""

from __future__ import annotations

import json
from typing import TextIO

from ..model.codec import encode
from ..model.document import load
from ..model.finding import FAIL, PASS, UNKNOWN, WARN
from ..ports import Port
from ..probe.node import probe
from ..verify.local import judge_node
from .options import Options

EXIT = {PASS: 0, WARN: 0, FAIL: 1, UNKNOWN: 2}


def check(port: Port, options: Options, out: TextIO) -> int:
    """Judge the node by its own intent.

    What could not be read is exit code 2; ``--on-unknown pass|fail`` makes it 0 or 1, for callers that know two
    answers only. Waived findings and consequences of another finding are shown and do not count.

    :raises IntentError: without a usable intent: then nothing can be judged.
    """
    intent = load(port)
    findings = judge_node(intent.host, intent, None, probe(port))
    counting = {found.state for found in findings if found.caused_by is None and found.waived is None}
    state = next((state for state in (FAIL, UNKNOWN, WARN) if state in counting), PASS)
    code = EXIT[state]
    if state == UNKNOWN and "--on-unknown" in options:
        code = 0 if options["--on-unknown"] == "pass" else 1
    if "--json" in options:
        out.write(json.dumps({"state": state, "findings": [encode(found) for found in findings]}, indent=1) + "\n")
        return code
    for found in findings:
        if found.state != PASS:
            where = " ".join(word for word in (found.rail, found.device) if word)
            out.write(f"{found.state}: {found.rule} {where}: expected {found.expected}, found {found.found}\n")
            if found.caused_by is None and found.remedy:
                out.write(f"  {found.remedy}\n")
    out.write(f"{state}: {len(findings)} findings\n")
    return code
