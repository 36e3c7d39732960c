# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as Prometheus text, for the textfile collector or a push gateway. States are one sample each, 0 or 1."""

from __future__ import annotations

from datetime import datetime

from .report_common import STATES, Document, roots

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def render(document: Document) -> str:
    """Text exposition format 0.0.4."""
    spec = document["spec"]["name"]
    lines: list[str] = []

    def metric(name: str, words: str, samples: list[tuple[dict[str, str], float]]) -> None:
        lines.extend([f"# HELP railwright_{name} {words}", f"# TYPE railwright_{name} gauge"])
        for labels, value in samples:
            pairs = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in {"spec": spec, **labels}.items())
            lines.append(f"railwright_{name}{{{pairs}}} {value:.10g}")

    finished = datetime.fromisoformat(document["finished"]).timestamp()
    metric("report_timestamp_seconds", "End of the run that this is about.", [({}, finished)])
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
    labels = ("rule", "state", "host", "rail", "device", "peer")
    metric(
        "root_finding",
        "A finding that follows from no other and is not waived.",
        [({"node" if key == "host" else key: item[key] or "" for key in labels}, 1.0) for item in roots(document)],
    )
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
        [
            ({"node": pair["host"], "peer": pair["peer"], "rail": pair["rail"]}, pair["value"])
            for pair in document["pairs"]
            if pair["kind"] == "bandwidth" and pair["value"] is not None and pair["state"] != "unknown"
        ],
    )
    return "\n".join(lines) + "\n"
