# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about the traffic class of what ``prove`` sent: its priority, and that nothing was dropped there."""

from __future__ import annotations

from typing import Iterable, Mapping, Optional

from ..model.finding import Finding, PairResult
from ..resolve.bind import BoundRail
from .node import Bound, NodeResult, bind_all
from .pair import peer_name
from .rule import Rule, severity_rank

CLASS = Rule(
    "pair.class",
    "Traffic with the fabric's class is in its priority",
    "fail",
    "pair",
    "What is in another priority is lossy: it is neither paused nor slowed down, and drops under load.",
    "Check trust and DSCP map of both NICs, and that the leaves pass the DSCP on.",
    "the NICs' counters by priority during ib_write_bw --tclass; fabric_spec.fabrics.*.qos.data",
)
CM_CLASS = Rule(
    "pair.cm_class",
    "Connections by RDMA-CM are in the fabric's priority without asking for it",
    "fail",
    "pair",
    "Applications that connect by RDMA-CM get its default ToS: without one they are lossy, and nobody sees why.",
    "Run site.yml (role roce_qos): it sets RDMA-CM's default ToS, and again whenever the RDMA device appears anew.",
    "the NICs' counters by priority during ib_write_bw -R; kernel Documentation/ABI/testing/configfs-rdma_cm",
)
LOSSLESS = Rule(
    "pair.lossless",
    "Nothing is dropped in the lossless class under load",
    "fail",
    "pair",
    "One drop costs a RoCE connection everything that was sent after it.",
    "Compare PFC, buffers and cable length of this NIC with its leaf port: both need PFC on the same priority.",
    "the NICs' discards by priority during ib_write_bw",
)
CLASS_KINDS = ("class", "cm_class", "lossless")
_RULES = dict(zip(CLASS_KINDS, (CLASS, CM_CLASS, LOSSLESS)))
_BAD = ("wrong_class", "discards")


def check_classes(results: Iterable[PairResult], nodes: Mapping[str, NodeResult]) -> tuple[Finding, ...]:
    """One finding a result about a class, the worst where several speak about one. Not linked."""
    bound: Optional[Bound] = None
    found: dict[str, Finding] = {}
    for result in results:
        rule = _RULES.get(result.kind)
        if rule is None:
            continue
        bound = bind_all(nodes) if bound is None else bound
        rail = next((rail for rail in bound.get(result.host, ()) if rail.intent.name == result.rail), None)
        finding = _judge(rule, result, rail)
        known = found.get(finding.key)
        if known is None or severity_rank(finding.state) > severity_rank(known.state):
            found[finding.key] = finding
    return tuple(found.values())


def _judge(rule: Rule, result: PairResult, rail: Optional[BoundRail]) -> Finding:
    host, name, peer = result.host, result.rail, peer_name(result)
    lossless = rule is LOSSLESS
    expected = "no packet dropped" if lossless else f"priority {_number(result.expected)}"
    wrong = result.value is not None and result.value != result.expected
    if result.reason in _BAD or (result.error is None and wrong):
        found = result.error or f"{'dropped' if lossless else 'priority'} {_number(result.value)}"
        cause = _cause(rule, rail)
        return rule.broken(host, name, expected=expected, found=found, cause=cause, peer=peer)
    if result.error is not None or result.value is None or result.expected is None:
        return rule.unknown(host, name, expected=expected, found=result.error or "not measured", peer=peer)
    found = "none dropped" if lossless else f"priority {_number(result.value)}"
    return rule.passed(host, name, found=found, peer=peer)


def _number(value: Optional[float]) -> str:
    return "unknown" if value is None else f"{value:g}"


def _cause(rule: Rule, rail: Optional[BoundRail]) -> str:
    if rule is LOSSLESS:
        return "the sender was not paused in time, or not at all: PFC or buffers are wrong here or on the leaf"
    qos = rail.intent.qos if rail is not None else None
    if rail is None or qos is None or rule is CLASS:
        dscp = f"DSCP {qos.data_dscp}" if qos is not None else "the DSCP"
        return f"trust or DSCP map of a NIC on the way gives {dscp} another priority, or a leaf changes the DSCP"
    device, tos = rail.rdma.name if rail.rdma else "the device", rail.port.cm_tos if rail.port else None
    if tos is None:
        return f"RDMA-CM has no default ToS for {device}: its connections carry DSCP 0"
    if tos != qos.tos:
        return f"RDMA-CM's default ToS of {device} is {tos} (DSCP {tos >> 2}), not {qos.tos} (DSCP {qos.data_dscp})"
    return f"RDMA-CM's default ToS is right, so trust or DSCP map gives DSCP {qos.data_dscp} another priority"
