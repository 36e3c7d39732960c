# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as Prometheus text, for the textfile collector or a push gateway. States are one sample each, 0 or 1."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Iterable

from ..module_utils.fabric.verify.pair_class import CLASS_KINDS
from .report_common import STATES, Document, roots

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
# What promtool wants of names (check metrics); units are in the names.
PREFIX = "railwright_"


def render(document: Document) -> str:
    """Text exposition format 0.0.4. Samples carry no timestamps: the textfile collector refuses them."""
    spec = document["spec"]["name"]
    lines: list[str] = []
    # A few thousand names stand in a million labels.
    escaped = cache(lambda text: text.translate(_ESCAPES))

    def metric(name: str, words: str, samples: Iterable[tuple[dict[str, str], float]]) -> None:
        # A series may be there once only; of two the larger value stays.
        series: dict[str, float] = {}
        for labels, value in samples:
            pairs = ",".join(f'{key}="{escaped(text)}"' for key, text in {"spec": spec, **labels}.items())
            series[pairs] = max(value, series.get(pairs, value))
        if series:
            lines.extend([f"# HELP {PREFIX}{name} {words}", f"# TYPE {PREFIX}{name} gauge"])
            lines.extend(f"{PREFIX}{name}{{{pairs}}} {value:.12g}" for pairs, value in series.items())

    for key, name, words in (("started", "start_", "Start"), ("finished", "", "End")):
        at = datetime.fromisoformat(document[key]).timestamp()
        metric(f"report_{name}timestamp_seconds", f"{words} of the run that this is about.", [({}, at)])
    metric("verdict", "Verdict of the fabric.", [({"state": s}, float(document["verdict"] == s)) for s in STATES])
    metric(
        "findings",
        "Findings by state; consequences and waived ones apart.",
        [({"state": state}, float(number)) for state, number in document["counts"].items()],
    )
    metric(
        "node_state",
        "State of each node.",
        [
            ({"node": name, "unit": node["unit"] or "", "state": state}, float(node["state"] == state))
            for name, node in document["hosts"].items()
            for state in STATES
        ],
    )
    metric(
        "node_judged",
        "Whether the node was reached and judged in this run.",
        [({"node": name}, float(node["result"] == "judged")) for name, node in document["hosts"].items()],
    )
    metric(
        "rule_findings",
        "Findings of each rule that do not pass, roots by state; consequences and waived ones apart.",
        [
            ({"rule": rule, "state": state}, float(n))
            for rule, counts in _rules(document).items()
            for state, n in counts
        ],
    )
    labels = ("rule", "state", "host", "rail", "device", "peer")
    metric(
        "root_finding",
        "A finding that follows from no other and is not waived.",
        [({"node" if key == "host" else key: item[key] or "" for key in labels}, 1.0) for item in roots(document)],
    )
    measured = [
        pair
        for pair in document["pairs"]
        if pair["kind"] == "bandwidth" and pair["value"] is not None and pair["state"] != "unknown"
    ]
    metric(
        "pairs",
        "Pairs of nodes on a rail, by kind of probe.",
        [
            ({"kind": kind, "what": what}, float(number))
            for kind, numbers in document["coverage"]["pairs"].items()
            for what, number in numbers.items()
        ],
    )
    metric(
        "pair_bandwidth_gbps",
        "Measured bandwidth of a pair on a rail.",
        [({"node": pair["host"], "peer": pair["peer"], "rail": pair["rail"]}, pair["value"]) for pair in measured],
    )
    lowest: dict[str, float] = {}
    for pair in measured:
        lowest[pair["rail"]] = min(pair["value"], lowest.get(pair["rail"], pair["value"]))
    metric(
        "rail_bandwidth_lowest_gbps",
        "Measured bandwidth of the slowest pair of a rail.",
        [({"rail": rail}, value) for rail, value in lowest.items()],
    )
    proved: dict[tuple[str, str], bool] = {}
    for pair in document["pairs"]:
        if pair["kind"] in CLASS_KINDS and pair["state"] != "unknown":
            place = (pair["rail"], pair["kind"])
            proved[place] = proved.get(place, True) and pair["state"] == "pass"
    metric(
        "rail_class_proved",
        "Whether all measured pairs of a rail passed a proof of its traffic class.",
        [({"rail": rail, "kind": kind}, float(good)) for (rail, kind), good in proved.items()],
    )
    return "\n".join(lines) + "\n"


def _rules(document: Document) -> dict[str, list[tuple[str, int]]]:
    """Counts of every rule that said anything, zeros included: a series must not end when its fault does."""
    rules: dict[str, list[str]] = {rule: [] for node in document["hosts"].values() for rule in node["passed"]}
    for item in document["findings"]:
        what = "waived" if item["waived"] else "consequence" if item["caused_by"] else item["state"]
        rules.setdefault(item["rule"], []).append(what)
    states = ("fail", "unknown", "warn", "consequence", "waived")
    return {rule: [(state, said.count(state)) for state in states] for rule, said in sorted(rules.items())}
