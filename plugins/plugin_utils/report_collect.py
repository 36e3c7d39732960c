# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run left in the variables of its hosts, as the verifier wants it."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..module_utils.fabric.errors import ParseError
from ..module_utils.fabric.model.codec import decode
from ..module_utils.fabric.model.facts import NodeFacts
from ..module_utils.fabric.model.finding import Finding, PairResult
from ..module_utils.fabric.model.intent import NodeIntent
from ..module_utils.fabric.verify.node import FAILED, JUDGED, UNREACHABLE, NodeResult
from .spec_schema import plain

NO_RESULT = "it gave no result: it failed or dropped out earlier in this run"


def node_result(variables: Mapping[str, Any], intent: NodeIntent, name: str, earlier: Sequence[str]) -> NodeResult:
    """One node: its registered result ``name``, or what one of the ``earlier`` results says about its absence.

    :raises ParseError: when the result was not made by this version of fabric_check.
    """
    result = _result(variables, name)
    if result.get("findings"):
        return NodeResult(
            intent.host,
            JUDGED,
            "",
            intent,
            decode(NodeFacts, result["facts"], f"{intent.host}: {name}.facts", ParseError),
            tuple(decode(Finding, item, f"{intent.host}: {name}.findings", ParseError) for item in result["findings"]),
        )
    # The latest trouble is the nearest: the check's own result, then earlier ones in the order given.
    for trouble in (result, *(_result(variables, other) for other in earlier)):
        if trouble.get("unreachable"):
            return NodeResult(intent.host, UNREACHABLE, _sentence(trouble), intent)
        if trouble.get("failed") or (trouble is result and trouble.get("msg")):
            return NodeResult(intent.host, FAILED, _sentence(trouble), intent)
    return NodeResult(intent.host, FAILED, NO_RESULT, intent)


def pair_results(variables: Mapping[str, Any], host: str, name: str) -> tuple[PairResult, ...]:
    """The pairs that one host measured; none where nothing was proved."""
    if name not in variables:
        return ()
    return tuple(decode(PairResult, item, f"{host}: {name}", ParseError) for item in plain(variables[name], name))


def _result(variables: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = plain(variables[name], name) if name in variables else None
    return found if isinstance(found, dict) else {}


def _sentence(result: Mapping[str, Any]) -> str:
    """Ansible's message on one line, without the tail of a traceback."""
    text = " ".join(str(result.get("msg") or "").split())
    return text if len(text) <= 400 else f"{text[:399]}…"
