# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What hosts left in their variables, and documents of earlier runs."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.node import slim

from tests.unit.report.test_views import HEALTHY
from tests.unit.verify import nodes

pytest.importorskip("jsonschema")
pytest.importorskip("yaml")
from ansible_collections.railwright.fabric.plugins.plugin_utils import report_files
from ansible_collections.railwright.fabric.plugins.plugin_utils.report_collect import (
    NO_RESULT,
    node_result,
    pair_results,
)

EARLIER = ("preflight_host", "preflight_info")
JUDGED = nodes.result(1)
GOOD = {"findings": encode(JUDGED.findings), "facts": encode(slim(JUDGED.intent, JUDGED.facts)), "changed": False}
GONE = {"unreachable": True, "msg": "Failed to connect:\n  refused", "changed": False}


def collect(**variables):
    return node_result(variables, JUDGED.intent, "fabric_check_result", EARLIER)


def test_a_judged_node_comes_back_whole():
    found = collect(fabric_check_result=GOOD, preflight_info={"changed": False})
    assert (found.state, found.findings, found.facts.rdma) == ("judged", JUDGED.findings, JUDGED.facts.rdma)


@pytest.mark.parametrize(
    ("variables", "state", "message"),
    [
        ({"fabric_check_result": GONE}, "unreachable", "Failed to connect: refused"),
        ({"preflight_info": GONE}, "unreachable", "Failed to connect: refused"),
        # The module broke, and the playbook went on all the same.
        ({"fabric_check_result": {"msg": "no python", "failed": False}}, "failed", "no python"),
        ({"preflight_host": {"failed": True, "msg": "no NIC"}, "preflight_info": {"facts": {}}}, "failed", "no NIC"),
        ({"preflight_info": {"msg": "just a word", "failed": False}}, "failed", NO_RESULT),
        ({}, "failed", NO_RESULT),
        # An empty list of findings is no judgement.
        ({"fabric_check_result": {"findings": [], "facts": {}}}, "failed", NO_RESULT),
    ],
)
def test_a_node_without_result_says_why(variables, state, message):
    found = collect(**variables)
    assert (found.state, found.message, found.facts) == (state, message, None)


def test_a_result_of_another_version_is_one_error():
    with pytest.raises(ParseError, match=r"node1: fabric_check_result.facts"):
        collect(fabric_check_result={**GOOD, "facts": {"new_section": 1}})


def test_pairs_of_a_host():
    pair = {"kind": "mtu", "host": "node1", "peer": "node2", "rail": "rail0", "peer_rail": "rail0", "value": 4200}
    (found,) = pair_results({"fabric_pairs": [pair]}, "node1", "fabric_pairs")
    assert (found.value, found.expected) == (4200.0, None)
    assert pair_results({}, "node1", "fabric_pairs") == ()


def test_files_are_replaced_and_read_back(tmp_path):
    for _again in range(2):
        report_files.write(HEALTHY, tmp_path / "lab")
    assert sorted(path.name for path in (tmp_path / "lab").iterdir()) == [
        "junit.xml",
        "report.html",
        "report.json",
        "report.prom",
    ]
    assert report_files.read(tmp_path / "lab/report.json") == HEALTHY


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "No such file"), ("{", "damaged"), ("[]", "schema"), (json.dumps({"schema": 2}), "does not know")],
)
def test_what_is_no_report_is_one_error(tmp_path, text, message):
    if text is not None:
        (tmp_path / "report.json").write_text(text)
    with pytest.raises(ParseError, match=message):
        report_files.read(tmp_path / "report.json")
