# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright prove``: this node's part of a proof, for those who drive one without Ansible."""

from __future__ import annotations

import json
from typing import TextIO

from ..agent.options import Options
from ..errors import FabricError
from ..model.codec import decode, encode
from ..model.document import load
from ..ports import Port
from ..probe.node import probe
from .node import PHASES, prove_node
from .servers import LocalStarter, Starter
from .work import NodeWork


def prove(port: Port, options: Options, given: TextIO, out: TextIO, starter: Starter = LocalStarter()) -> int:  # noqa: B008 - holds nothing
    """Carry out one phase of the work that ``given`` holds as JSON, and print the outcome as JSON.

    Exit code 0: the phase was carried out, whatever it found; 1: the node took no part.

    :raises FabricError: without a usable intent, phase or work.
    """
    if "--phase" not in options:
        raise FabricError(f"say which phase: {', '.join(PHASES)}", "railwright prove --phase")
    intent = load(port)
    try:
        work = decode(NodeWork, json.load(given), "work", FabricError)
    except ValueError as error:
        raise FabricError(f"the work is no JSON: {error}", "standard input") from None
    outcome = prove_node(port, starter, intent, probe(port), work, phase=options["--phase"], force="--force" in options)
    out.write(json.dumps(encode(outcome), indent=1) + "\n")
    return 1 if outcome.refused else 0
