# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The proof of traffic classes in the document and its views."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import PairResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import Run, build, judge

from tests.unit.verify.lossless import lossless

pytest.importorskip("jinja2")
from ansible_collections.railwright.fabric.plugins.plugin_utils import (
    report_html,
    report_junit,
    report_prometheus,
    report_terminal,
)

ROOT = Path(__file__).resolve().parents[3]
WRONG = {"error": "9000 bytes left in priority 0, 0 in 3", "reason": "wrong_class"}
NONE = {"error": "the driver counts no packets that it drops", "reason": "no_counters"}


def pairs(rail, **cm):
    """Both directions of one rail; ``cm`` changes what RDMA-CM gave."""
    for host, peer in (("node1", "node2"), ("node2", "node1")):
        yield PairResult("class", host, peer, rail, rail, 3.0, 3.0)
        yield PairResult("cm_class", host, peer, rail, rail, 3.0, **{"value": 3.0, **cm})
        yield PairResult("lossless", host, peer, rail, rail, 0.0, None if rail == "rail1" else 0.0, **(
            NONE if rail == "rail1" else {}
        ))  # fmt: skip


def document():
    nodes = {f"node{number}": lossless(number) for number in (1, 2)}
    results = (*pairs("rail0"), *pairs("rail1", value=0.0, **WRONG))
    findings = judge(nodes, results, "2026-01-02")
    run = Run("2026-01-02T10:00:00Z", "2026-01-02T10:01:30Z", "lab", "c0ffee" * 10)
    return json.loads(json.dumps(build(run, nodes, findings, results)))


MADE = document()


def test_it_holds_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "schemas/report.schema.json").read_text())
    assert [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(MADE)] == []


def test_coverage_counts_what_was_counted():
    assert MADE["coverage"]["pairs"] == {
        "class": {"measured": 4, "total": 4},
        "cm_class": {"measured": 4, "total": 4},
        "lossless": {"measured": 2, "total": 4},
    }


def test_each_rail_has_its_proof_in_the_metrics():
    text = report_prometheus.render(MADE)
    for rail, kind, value in (("rail0", "class", 1), ("rail0", "cm_class", 1), ("rail1", "cm_class", 0)):
        assert f'railwright_rail_class_proved{{spec="lab",rail="{rail}",kind="{kind}"}} {value}\n' in text
    # What was not measured is neither proved nor refuted.
    assert 'rail="rail1",kind="lossless"' not in text


def test_the_page_has_a_map_of_each_kind():
    page = report_html.render(MADE)
    for title in ("Traffic class", "Traffic class by RDMA-CM", "Lossless under load"):
        assert f"<h3>{title}</h3>" in page
    assert "wrong_class: 9000 bytes left in priority 0, 0 in 3" in page
    assert "only small packets" not in page


def test_terminal_and_junit_name_the_rail_and_the_reason():
    terminal, junit = report_terminal.render(MADE, 100), report_junit.render(MADE)
    assert "pair.cm_class: Connections by RDMA-CM are in the fabric" in terminal
    assert "pair.cm_class" in junit
    for text in (terminal, junit):
        assert "left in priority 0" in text
    assert "pairs: traffic class by RDMA-CM" in terminal
