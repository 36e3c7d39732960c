# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report document: one JSON object of which every view is made (schemas/report.schema.json)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Optional

from ..model.codec import encode
from ..model.facts import NodeFacts
from ..model.finding import FAIL, PASS, UNKNOWN, WARN, Finding, PairResult
from ..model.intent import Waiver
from ..resolve.bind import BoundRail, bind
from ..version import VERSION
from .address import link_local
from .fabric import check_fabric
from .leaf import blame_leaves
from .node import FAILED, JUDGED, UNREACHABLE, NodeResult
from .pair import NOT_MEASURED, check_pairs, peer_name
from .roots import ends, link_roots
from .rule import severity_rank
from .verdict import exit_code, roots, verdict
from .waive import waive

SCHEMA = 1


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


def judge(nodes: Mapping[str, NodeResult], pairs: Iterable[PairResult], today: str) -> tuple[Finding, ...]:
    """All findings of a run: local ones as the nodes gave them, cross-node and pair rules, roots, leaves, waivers."""
    local = [finding for node in nodes.values() for finding in node.findings]
    linked = link_roots((*check_fabric(nodes), *local, *check_pairs(pairs, nodes)))
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
    by_host: dict[Optional[str], list[Finding]] = {}
    for finding in findings:
        for host in dict.fromkeys(host for host, _rail in ends(finding)):
            by_host.setdefault(host, []).append(finding)
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
        "hosts": {name: _host(node, by_host.get(name, [])) for name, node in nodes.items()},
        "findings": [{"key": finding.key, **encode(finding)} for finding in trouble],
        "pairs": [
            {"state": _pair_state(pair, findings_of), **encode(pair)} for pair, findings_of in _judged(pairs, findings)
        ],
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
    for node in nodes.values():
        for rail in node.intent.rails if node.intent is not None else ():
            members[rail.name] = members.get(rail.name, 0) + 1
    total = sum(count * (count - 1) for count in members.values())
    kinds = dict.fromkeys(pair.kind for pair in pairs)
    return {
        kind: {"measured": sum(pair.kind == kind and pair.reason not in NOT_MEASURED for pair in pairs), "total": total}
        for kind in kinds
    }


def _worst(findings: Iterable[Finding]) -> str:
    states = [finding.state for finding in findings if finding.waived is None]
    return max(states, key=severity_rank) if states else UNKNOWN


def _host(node: NodeResult, findings: list[Finding]) -> dict[str, Any]:
    """A node's state is that of the roots that name it; a rail's that of all that was found on it."""
    passed: dict[str, list[str]] = {}
    for finding in findings:
        if finding.state == PASS and finding.host == node.host and not finding.rule.startswith("pair."):
            passed.setdefault(finding.rule, []).extend([finding.rail] if finding.rail else [])
    facts = node.facts
    return {
        "state": _worst(item for item in findings if item.caused_by is None),
        "result": node.state,
        "message": node.message,
        "unit": node.intent.unit if node.intent is not None else None,
        "node_id": node.intent.node_id if node.intent is not None else None,
        "kernel": facts.system.kernel if facts is not None else None,
        "distribution": f"{facts.system.distribution} {facts.system.release}" if facts is not None else None,
        "rails": _rails(node, findings),
        "passed": passed,
    }


def _rails(node: NodeResult, findings: list[Finding]) -> dict[str, Any]:
    if node.intent is None:
        return {}
    bound: tuple[BoundRail, ...] = bind(node.intent, node.facts or NodeFacts())
    # A pair that fails because of its other end says nothing about this one.
    own = [item for item in findings if item.caused_by is None or not item.rule.startswith("pair.")]
    return {
        rail.intent.name: {
            "state": _worst(item for item in own if (node.host, rail.intent.name) in ends(item)),
            "leaf": list(dict.fromkeys(port.intent.leaf for port in rail.ports if port.intent.leaf)),
            "netdev": rail.netdev_name,
            "rdma": rail.rdma.name if rail.rdma is not None else None,
            "driver": next((port.netdev.driver for port in rail.ports if port.netdev is not None), None),
            "firmware": rail.rdma.firmware if rail.rdma is not None else None,
            "rate_gbps": rail.port.rate_gbps if rail.port is not None and not rail.intent.soft_roce else None,
            "mtu": rail.netdev.mtu if rail.netdev is not None else None,
            "path_mtu": rail.port.active_mtu if rail.port is not None else None,
            "addresses": [item for item in rail.netdev.addresses if not link_local(item)] if rail.netdev else [],
        }
        for rail in bound
    }


def _judged(pairs: tuple[PairResult, ...], findings: tuple[Finding, ...]) -> Iterable[tuple[PairResult, list[Finding]]]:
    by_pair: dict[tuple[Optional[str], ...], list[Finding]] = {}
    for finding in findings:
        if finding.rule.startswith("pair."):
            by_pair.setdefault((finding.host, finding.rail, finding.peer), []).append(finding)
    for pair in pairs:
        yield pair, by_pair.get((pair.host, pair.rail, peer_name(pair)), [])


def _pair_state(pair: PairResult, findings: list[Finding]) -> str:
    """The state that the rules about this kind of probe gave the pair."""
    rules = ("pair.bandwidth",) if pair.kind == "bandwidth" else ("pair.reach", "pair.mtu", "pair.path")
    return _worst(finding for finding in findings if finding.rule in rules)
