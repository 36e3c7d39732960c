# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report document against its schema, and every view of it."""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import PairResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Waiver
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import Run, build, judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.node import NodeResult

from tests.unit.verify import nodes
from tests.unit.verify.test_faults import FAULTS, sweep, three

pytest.importorskip("jinja2")
from ansible_collections.railwright.fabric.plugins.plugin_utils import (
    report_common,
    report_html,
    report_junit,
    report_prometheus,
    report_terminal,
)

ROOT = Path(__file__).resolve().parents[3]
NASTY = "<script>alert('x')</script> \"&\" \x1b[31m\x00 Straße 界"
NAME = '<script>"&" \x1b[31m\x00 Straße'


def document(results, pairs=()):
    findings = judge(results, pairs, "2026-01-02")
    run = Run("2026-01-02T10:00:00Z", "2026-01-02T10:01:30Z", "lab", "c0ffee" * 10)
    return json.loads(json.dumps(build(run, results, findings, tuple(pairs))))


def nasty():
    """Hostile text wherever a node or a tool may put one."""
    lost = NodeResult(NAME, "unreachable", NASTY, nodes.intent(2, host=NAME))
    pair = PairResult("mtu", "node1", NAME, "rail0", "rail0", error=NASTY, reason="unreachable")
    return document({"node1": nodes.result(1), NAME: lost}, (pair,))


HEALTHY = document(three(), sweep())
EVERY = {"healthy": HEALTHY, "nasty": nasty(), "nothing": document({})}
EVERY.update({name: document(case[0], case[1]) for name, case in FAULTS.items()})


@pytest.mark.parametrize("name", EVERY)
def test_document_holds_its_schema(name):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "schemas/report.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert [error.message for error in validator.iter_errors(EVERY[name])] == []
    assert list(validator.iter_errors({**EVERY[name], "more": 1})), "the schema lets anything pass"


@pytest.mark.parametrize("name", EVERY)
def test_caused_by_names_a_root_of_the_document(name):
    by_key = {item["key"]: item for item in EVERY[name]["findings"]}
    for item in by_key.values():
        if item["caused_by"]:
            assert by_key[item["caused_by"]]["caused_by"] is None


def test_counts_and_coverage():
    made = EVERY["node unreachable"]
    assert made["coverage"]["nodes"] == {"total": 3, "judged": 2, "unreachable": 1, "failed": 0, "left_out": 0}
    # 3 nodes and 2 rails: 12 ordered pairs, of which node2 has 8.
    assert made["coverage"]["pairs"]["mtu"] == {"measured": 4, "total": 12}
    assert (made["verdict"], made["exit_code"], made["counts"]["fail"]) == ("fail", 1, 1)
    passes = len(judge(three(), sweep(), "2026-01-02"))
    assert HEALTHY["counts"] == {"pass": passes, "warn": 0, "fail": 0, "unknown": 0, "consequences": 0, "waived": 0}


def test_a_node_is_as_good_as_its_own_roots():
    hosts = EVERY["rail down"]["hosts"]
    assert {name: node["state"] for name, node in hosts.items()} == {"node1": "pass", "node2": "fail", "node3": "pass"}
    states = {(name, rail): what["state"] for name, node in hosts.items() for rail, what in node["rails"].items()}
    assert [place for place, state in states.items() if state != "pass"] == [("node2", "rail0")]


def test_nothing_judged_is_no_pass():
    assert (EVERY["nothing"]["verdict"], EVERY["nothing"]["exit_code"]) == ("unknown", 2)


def test_waived_findings_stay_visible_and_do_not_count():
    waiver = Waiver("rail.mtu", "old image", "2026-03-01", host="node2")
    want = nodes.intent(2, waivers=(waiver,))
    have = nodes.port(nodes.netdev(nodes.facts(2), mtu=1500), active_mtu=1024)
    made = document(nodes.cluster(node2=nodes.result(2, have, expected=want)))
    assert (made["verdict"], made["counts"]["waived"]) == ("pass", 1)
    assert "old image (until 2026-03-01)" in report_terminal.render(made)
    assert "old image" in report_html.render(made)
    skipped = [item.get("message") for item in ET.fromstring(report_junit.render(made)).iter("skipped")]
    assert set(skipped) == {"waived: old image (until 2026-03-01)", "follows from rail.mtu@node2/rail0"}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("width", [80, 100, 120])
def test_terminal_fits(name, width):
    text = report_terminal.render(EVERY[name], width)
    assert text.splitlines()[1].startswith(EVERY[name]["verdict"].upper())
    long = [line for line in text.splitlines() if len(line) > width and "<script>" not in line]
    assert long == []


def test_terminal_colours_only_when_asked():
    assert "\033[31;1m" in report_terminal.render(EVERY["rail down"], 100, colour=True)
    assert "\033" not in report_terminal.render(EVERY["rail down"], 100)


def test_terminal_names_what_an_operator_needs():
    text = report_terminal.render(EVERY["rail down"], 100)
    for word in (
        "FAIL    node2 rail0",
        "enp1s0 is set down",
        "remedy    ip link set enp1s0 up",
        "rule      rail.link: The rail's link is up and its RDMA port is ACTIVE; 17 findings follow",
        "findings follow",
    ):
        assert word in text


def test_hostile_text_reaches_no_terminal():
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", report_terminal.render(EVERY["nasty"], 100))


class _Page(html.parser.HTMLParser):
    VOID = ("meta", "br", "input")

    def __init__(self):
        super().__init__()
        self.open, self.names, self.links, self.ids = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        self.ids |= {value for name, value in attrs if name == "id"}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.mark.parametrize("name", EVERY)
def test_page_is_whole_and_alone(name):
    text = report_html.render(EVERY[name])
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert page.names.count("script") == 1
    assert "link" not in page.names
    assert [link for link in page.links if not link.startswith("#")] == []
    assert {link[1:] for link in page.links} <= page.ids
    assert not re.search(r"https?://|url\(|@import", text)
    assert f"{EVERY[name]['spec']['name']}: {EVERY[name]['verdict']}" in text


@pytest.mark.parametrize("name", EVERY)
def test_junit_adds_up(name):
    made = EVERY[name]
    root = ET.fromstring(report_junit.render(made))
    assert root.tag == "testsuites"
    for suite in (root, *root):
        cases = list(suite.iter("testcase"))
        assert int(suite.get("tests")) == len(cases)
        for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            if suite is not root or key != "skipped":
                assert int(suite.get(key)) == len(list(suite.iter(tag)))
    assert len(list(root.iter("failure"))) == made["counts"]["fail"]
    assert len(list(root.iter("error"))) == made["counts"]["unknown"]
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(cases)) == len(cases)
    assert float(root.get("time")) == 90


@pytest.mark.parametrize("name", EVERY)
def test_prometheus_text_parses(name):
    text = report_prometheus.render(EVERY[name])
    label = r'[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
    sample = re.compile(rf"railwright_[a-z_]+\{{{label}(?:,{label})*\}} -?\d[\d.e+-]*")
    lines = [line for line in text.split("\n") if line and not line.startswith("# ")]
    assert [line for line in lines if not sample.fullmatch(line)] == []
    keys = [line.rpartition(" ")[0] for line in lines]
    assert len(set(keys)) == len(keys)
    spec = EVERY[name]["spec"]["name"]
    assert f'railwright_verdict{{spec="{spec}",state="{EVERY[name]["verdict"]}"}} 1' in lines
    assert sum(line.endswith(" 1") for line in lines if line.startswith("railwright_verdict")) == 1


def test_places_in_words():
    item = {"host": "node1", "rail": "rail0", "device": None, "peer": "node2", "rule": "pair.mtu"}
    assert report_common.where(item) == "node1 rail0 → node2"
    assert report_common.where({**item, "rule": "fabric.duplicate_address"}) == "node1 rail0 and node2"
    assert report_common.where({**item, "host": None, "device": "leaf0"}) == "leaf0 rail0 (node2)"
