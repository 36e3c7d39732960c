# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings about the traffic class of what was sent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import PairResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import Run, build, judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.pair_class import check_classes
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.verify.lossless import lossless

NODES = {f"node{number}": lossless(number) for number in (1, 2)}
WRONG = {"error": "9000 bytes left in priority 0, 0 in 3", "reason": "wrong_class"}


def pair(kind="class", value=3.0, expected=3.0, **changes):
    return PairResult(kind, "node1", "node2", "rail0", "rail0", expected, value, **changes)


def judged(*pairs, nodes=NODES):
    return check_classes(pairs, nodes)


ROWS = [
    ("pair.class", "pass", pair(), "priority 3"),
    ("pair.class", "fail", pair(value=0.0, **WRONG), "left in priority 0"),
    # A value that is not the wanted one is wrong whatever else is said.
    ("pair.class", "fail", pair(value=0.0), "priority 0"),
    ("pair.class", "unknown", pair(value=None, error="counts no bytes", reason="no_counters"), "counts no bytes"),
    ("pair.class", "unknown", pair(value=None, error="no load", reason="rdma"), "no load"),
    ("pair.class", "unknown", pair(value=None), "not measured"),
    ("pair.cm_class", "pass", pair("cm_class"), "priority 3"),
    ("pair.cm_class", "fail", pair("cm_class", 0.0, **WRONG), "left in priority 0"),
    ("pair.lossless", "pass", pair("lossless", 0.0, 0.0), "none dropped"),
    ("pair.lossless", "fail", pair("lossless", 7.0, 0.0, error="7 packets dropped", reason="discards"), "7 packets"),
    ("pair.lossless", "unknown", pair("lossless", None, 0.0, error="none counted", reason="no_counters"), "none"),
]


@pytest.mark.parametrize(
    ("rule", "state", "result", "words"),
    [pytest.param(*item, marks=pytest.mark.rule(item[0], item[1])) for item in ROWS],
)
def test_rule(rule, state, result, words):
    (found,) = judged(result)
    assert (found.rule, found.state, words in found.found) == (rule, state, True), found
    if state == "fail":
        assert all((found.expected, found.cause, found.remedy, found.peer))


def test_the_worst_of_several_counts():
    (found,) = judged(pair(), pair(value=0.0, **WRONG), pair())
    assert found.state == "fail"


@pytest.mark.parametrize(
    ("port", "words"),
    [
        ({"cm_tos": None, "cm_mode": None}, "no default ToS for mlx5_0: its connections carry DSCP 0"),
        ({"cm_tos": 104}, "is 104 (DSCP 26), not 106"),
        ({}, "ToS is right"),
    ],
)
def test_a_failed_proof_of_rdma_cm_says_why(port, words):
    nodes = {**NODES, "node1": lossless(1, port=port)}
    (found,) = judged(pair("cm_class", 0.0, **WRONG), nodes=nodes)
    assert words in found.cause


@pytest.mark.parametrize(
    ("changes", "pairs", "root"),
    [
        ({"port": {"cm_tos": None, "cm_mode": None}}, [pair("cm_class", 0.0, **WRONG)], "qos.tos@node1/rail0"),
        ({"trust": "pcp"}, [pair(value=0.0, **WRONG), pair("cm_class", 0.0, **WRONG)], "qos.trust@node1/rail0"),
        (
            {"pfc": ()},
            [pair("lossless", 7.0, 0.0, error="7 dropped", reason="discards")],
            "qos.pfc@node1/rail0",
        ),
        # Both ends are as they should be: it is on the way.
        ({}, [pair(value=0.0, **WRONG), pair("cm_class", 0.0, **WRONG)], "pair.class@node1/rail0>node2"),
        (
            {},
            [
                replace(pair("bandwidth", None, None), error="retry exceeded", reason="rdma"),
                pair(value=None, error="no load", reason="rdma"),
                pair("cm_class", None, error="no load", reason="rdma"),
                pair("lossless", None, 0.0, error="no load", reason="rdma"),
            ],
            "pair.bandwidth@node1/rail0>node2",
        ),
    ],
)
def test_one_fault_is_one_root(changes, pairs, root):
    nodes = {**NODES, "node1": lossless(1, **changes)}
    assert [item.key for item in roots(judge(nodes, pairs, "2026-01-01"))] == [root]


def test_the_document_states_each_kind():
    pairs = (pair(), pair("cm_class", 0.0, **WRONG), pair("lossless", None, 0.0, error="none", reason="no_counters"))
    findings = judge(NODES, pairs, "2026-01-01")
    document = build(Run("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"), NODES, findings, pairs)
    assert [(item["kind"], item["state"]) for item in document["pairs"]] == [
        ("class", "pass"), ("cm_class", "fail"), ("lossless", "unknown"),
    ]  # fmt: skip
    assert document["coverage"]["pairs"]["lossless"] == {"measured": 0, "total": 4}
