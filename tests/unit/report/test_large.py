# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of many nodes: few things to read, small maps, a summary of one screen."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import PairResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import Run, build, judge

from tests.unit.verify import nodes
from tests.unit.verify.test_faults import gone, sweep, wrong_mtu

pytest.importorskip("jinja2")
from ansible_collections.railwright.fabric.plugins.plugin_utils import (
    report_blocks,
    report_group,
    report_html,
    report_matrix,
    report_terminal,
)

RUN = Run("2026-01-02T10:00:00Z", "2026-01-02T10:01:30Z", "lab", "c0ffee" * 10)


def document(results, pairs=()):
    return build(RUN, results, judge(results, pairs, "2026-01-02"), tuple(pairs))


def healthy(count, unit=8):
    made = {}
    for number in range(1, count + 1):
        want = nodes.intent(number, unit=f"su{(number - 1) // unit + 1}")
        made[want.host] = nodes.result(number, expected=want)
    return made


def ring(names, value=0.02, **changed):
    pairs = [PairResult("bandwidth", a, b, "rail0", "rail0", value=value) for a, b in zip(names, names[1:] + names[:1])]
    return tuple(changed.get(pair.host, pair) for pair in pairs)


def test_one_fault_on_many_nodes_is_one_entry():
    results = healthy(12)
    results.update({f"node{number}": wrong_mtu(number) for number in range(3, 6)})
    results["node10"] = gone(10)
    made = document(results)
    found = report_group.groups(made)
    assert [(group.where, len(group.items)) for group in found] == [("node10", 1), ("node3, node4, node5, rail0", 3)]
    assert found[1].word("remedy") == (found[1].first["remedy"], "")
    assert {item["host"] for item in found[1].following} >= {f"node{number}" for number in range(3, 6)}
    page = report_html.render(made)
    assert page.count('<article class="card finding') == 2
    assert all(f"<b>node{number} rail0</b>" in page for number in range(3, 6))


def test_different_causes_stay_apart():
    results = healthy(3)
    results["node1"] = gone(1)
    results["node2"] = wrong_mtu(2)
    assert [group.where for group in report_group.groups(document(results))] == ["node1", "node2 rail0"]


def test_a_text_that_differs_says_whom_it_is_about():
    results = healthy(4)
    results["node2"] = wrong_mtu(2)
    results["node3"] = nodes.result(3, nodes.port(nodes.netdev(nodes.facts(3), mtu=1400), active_mtu=1024))
    (group,) = report_group.groups(document(results))
    assert group.where == "node2, node3, rail0"
    assert group.word("found")[1] == "node2 rail0"


@pytest.mark.parametrize(("count", "unit", "rows"), [(2, 8, 2), (16, 8, 16), (40, 40, 20), (200, 8, 25), (240, 4, 30)])
def test_rows_stay_few_and_hold_every_node_once(count, unit, rows):
    made = report_blocks.blocks(document(healthy(count, unit)))
    assert len(made) == rows
    held = [name for row in made for name in row.nodes]
    assert sorted(held) == sorted(f"node{number}" for number in range(1, count + 1))
    assert len({row.name for row in made}) == rows
    assert held[:3] == ["node1", "node2", "node3"][: len(held)]


def test_a_cell_counts_its_pairs_and_leads_to_their_list():
    results = healthy(40)
    names = list(results)
    slow = PairResult("bandwidth", "node9", "node10", "rail0", "rail0", error="retry exceeded", reason="rdma")
    made = document(results, ring(names, node9=slow))
    rows = report_blocks.blocks(made)
    whole, rail = report_matrix.matrices(made, "bandwidth", rows)
    row = next(at for at, block in enumerate(rows) if "node9" in block.nodes)
    (bad,) = [cell for cell in rail.cells.values() if cell.bad]
    assert (bad.state, bad.sign, bad.bad) == ("fail", "✕", 1)
    assert list(rail.lines(row)) == [("node9", "fail", "rdma: retry exceeded", "node10")]
    assert whole.total.words.startswith("39 of 40 pass, lowest 100 %")
    page = report_html.render(made)
    assert f'href="#bandwidth-1-{row}"' in page
    assert f'id="bandwidth-1-{row}"' in page


def test_shades_and_signs():
    results = healthy(3)
    pairs = list(sweep(hosts=("node1", "node2", "node3"), rails=("rail0",)))
    pairs[0] = PairResult("mtu", "node1", "node2", "rail0", "rail0", 4200.0, 1500.0, error="lost", reason="size_lost")
    pairs[1] = PairResult("bandwidth", "node1", "node2", "rail0", "rail0", value=0.015)
    made = document(results, pairs)
    rows = report_blocks.blocks(made)
    assert report_matrix.matrices(made, "mtu", rows)[1].cells[(0, 1)].text == "M"
    slow, good = (report_matrix.matrices(made, "bandwidth", rows)[1].cells[at] for at in ((0, 1), (1, 0)))
    assert (slow.text, slow.look, good.text, good.look) == ("75", "pass s2", "100", "pass s5")
    assert report_matrix.reference(made) == "% of the best pair of the rail"
    assert (0, 0) not in report_matrix.matrices(made, "mtu", rows)[1].cells


def test_pairs_that_were_not_sent_are_unknown_and_not_tested():
    results = healthy(2)
    results["node2"] = gone(2)
    made = document(
        results, (PairResult("mtu", "node1", "node2", "rail0", "rail0", error="no part", reason="not_run"),)
    )
    (cell,) = report_matrix.matrices(made, "mtu", report_blocks.blocks(made))[1].cells.values()
    assert (cell.state, cell.text, cell.tested, cell.skipped) == ("unknown", "?", 0, 1)


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("faults", [0, 1, 3, 9])
def test_the_summary_is_one_screen(width, faults):
    results = healthy(40)
    for number in range(1, faults * 4 + 1):
        words = ("a long word about it " * 20, f"{'xyz'[number % 3] * (number % 9 + 1)} went wrong")
        results[f"node{number}"] = nodes.NodeResult(
            f"node{number}", ("failed", "unreachable")[number % 2], words[number % 2], nodes.intent(number)
        )
    made = document(results)
    lines = report_terminal.render(made, width, place="See /srv/report.html").splitlines()
    assert len(lines) <= report_terminal.LINES
    assert lines[-1] == f"{made['verdict'].upper()}  See /srv/report.html"
    assert max(map(len, lines)) <= width


def test_a_large_page_stays_small():
    results = healthy(64)
    names = list(results)
    pairs = tuple(
        PairResult("mtu", a, b, rail, rail, expected=4200.0, value=4200.0)
        for rail in ("rail0", "rail1")
        for a in names
        for b in names
        if a != b
    )
    page = report_html.render(document(results, pairs))
    assert page.count("<td") < 4000
    assert len(page) < 400_000
    assert "8,064 of 8,064 ordered pairs" in page
