# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report document: one JSON object of which every view is made (schemas/report.schema.json)."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from ..model.finding import FAIL, PASS, UNKNOWN, WARN, Finding, PairResult
from ..model.intent import Waiver
from ..records import dataclass
from ..version import VERSION
from .document_node import describe
from .fabric import check_fabric
from .leaf import blame_leaves
from .node import FAILED, JUDGED, UNREACHABLE, NodeResult
from .pair import NOT_MEASURED, check_pairs, peer_name
from .pair_class import CLASS_KINDS, check_classes
from .places import Places
from .roots import link_roots
from .rule import severity_rank
from .verdict import exit_code, roots, verdict
from .waive import waive

SCHEMA = 1
_KINDS = {
    "pair.bandwidth": "bandwidth",
    "pair.class": "class",
    "pair.cm_class": "cm_class",
    "pair.lossless": "lossless",
    "pair.mtu": "mtu",
    "pair.path": "mtu",
    "pair.reach": "mtu",
}


@dataclass(frozen=True)
class Run:
    """The frame of one run: times are ISO 8601 in UTC; the spec's name and hash are empty when nothing was resolved.

    ``left_out`` counts the nodes of the spec that the run was not about.
    """

    started: str
    finished: str
    spec_name: str = ""
    spec_hash: str = ""
    left_out: int = 0


def judge(
    nodes: Mapping[str, NodeResult], pairs: Iterable[PairResult], today: str, switches: Iterable[Finding] = ()
) -> tuple[Finding, ...]:
    """All findings of a run: local ones as the nodes gave them, cross-node and pair rules, roots, leaves, waivers.

    :param switches: findings about switches' own dumps, see :func:`.switches.judge_switch`.
    """
    local = [finding for node in nodes.values() for finding in node.findings]
    proved = tuple(pairs)
    about_pairs = (*check_pairs(proved, nodes), *check_classes(proved, nodes))
    linked = link_roots((*check_fabric(nodes), *switches, *local, *about_pairs))
    blamed = link_roots(blame_leaves(linked, nodes))
    waivers: dict[Waiver, None] = {}
    for node in nodes.values():
        waivers.update((waiver, None) for waiver in (node.intent.waivers if node.intent is not None else ()))
    return waive(blamed, waivers, today)


def build(
    run: Run, nodes: Mapping[str, NodeResult], findings: tuple[Finding, ...], pairs: tuple[PairResult, ...]
) -> dict[str, Any]:
    """The document, as plain data. Passes are folded into ``hosts.*.passed``: 200 nodes have tens of thousands."""
    state = verdict(findings)
    places = Places(findings)
    trouble = (*roots(findings), *(item for item in findings if item.state != PASS and item.caused_by is not None))
    return {
        "schema": SCHEMA,
        "railwright": VERSION,
        "spec": {"name": run.spec_name, "hash": run.spec_hash},
        "started": run.started,
        "finished": run.finished,
        "verdict": state,
        "exit_code": exit_code(state),
        "counts": _counts(findings),
        "coverage": {"nodes": _nodes(nodes, run.left_out), "pairs": _coverage(nodes, pairs)},
        "hosts": {name: describe(node, places) for name, node in nodes.items()},
        # Both are flat: their fields are the keys.
        "findings": [{"key": finding.key, **vars(finding)} for finding in trouble],
        "pairs": [{"state": state_of, **vars(pair)} for pair, state_of in _judged(pairs, findings)],
    }


def _counts(findings: tuple[Finding, ...]) -> dict[str, int]:
    """Roots by state; passes; what follows from a root, and what is waived, apart."""
    found = {PASS: 0, WARN: 0, FAIL: 0, UNKNOWN: 0, "consequences": 0, "waived": 0}
    for finding in findings:
        if finding.caused_by is not None:
            found["consequences"] += 1
        elif finding.waived is not None:
            found["waived"] += 1
        else:
            found[finding.state] += 1
    return found


def _nodes(nodes: Mapping[str, NodeResult], left_out: int) -> dict[str, int]:
    states = [node.state for node in nodes.values()]
    counts = {state: states.count(state) for state in (JUDGED, UNREACHABLE, FAILED)}
    return {"total": len(states) + left_out, **counts, "left_out": left_out}


def _coverage(nodes: Mapping[str, NodeResult], pairs: tuple[PairResult, ...]) -> dict[str, dict[str, int]]:
    """Measured out of all ordered pairs on one rail, by kind of probe; a probe that sent nothing measured nothing."""
    members: dict[str, int] = {}
    classed: dict[str, int] = {}
    for node in nodes.values():
        for rail in node.intent.rails if node.intent is not None else ():
            members[rail.name] = members.get(rail.name, 0) + 1
            classed[rail.name] = classed.get(rail.name, 0) + (rail.qos is not None)
    measured: dict[str, int] = {}
    for pair in pairs:
        measured[pair.kind] = measured.get(pair.kind, 0) + (pair.reason not in NOT_MEASURED)
    total, own = (sum(count * (count - 1) for count in counts.values()) for counts in (members, classed))
    return {kind: {"measured": n, "total": own if kind in CLASS_KINDS else total} for kind, n in measured.items()}


def _judged(pairs: tuple[PairResult, ...], findings: tuple[Finding, ...]) -> Iterable[tuple[PairResult, str]]:
    """Each pair with the worst state that the rules about its kind of probe gave it."""
    states: dict[tuple[Optional[str], ...], str] = {}
    for finding in findings:
        kind = _KINDS.get(finding.rule)
        if kind is None or finding.waived is not None:
            continue
        key = (kind, finding.host, finding.rail, finding.peer)
        known = states.setdefault(key, finding.state)
        if known != finding.state and severity_rank(finding.state) > severity_rank(known):
            states[key] = finding.state
    for pair in pairs:
        yield pair, states.get((pair.kind, pair.host, pair.rail, peer_name(pair)), UNKNOWN)
