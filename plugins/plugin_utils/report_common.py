# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What every view of a report document reads alike. A document is plain data, see schemas/report.schema.json."""

from __future__ import annotations

from datetime import datetime
from typing import Any

Document = dict[str, Any]
Item = dict[str, Any]

STATES = ("fail", "unknown", "warn", "pass")
# What a kind of measurement is called.
KINDS = {
    "mtu": "Full-size packets",
    "bandwidth": "Bandwidth",
    "class": "Traffic class",
    "cm_class": "Traffic class by RDMA-CM",
    "lossless": "Lossless under load",
}
SYMBOLS = {"pass": "✓", "warn": "!", "fail": "✕", "unknown": "?"}


def roots(document: Document) -> list[Item]:
    """Findings that follow from no other and are not waived, worst first."""
    found = [item for item in document["findings"] if not item["caused_by"] and not item["waived"]]
    return sorted(found, key=lambda item: STATES.index(item["state"]))


def waived(document: Document) -> list[Item]:
    """Findings under a waiver that would be roots."""
    return [item for item in document["findings"] if item["waived"] and not item["caused_by"]]


def consequences(document: Document) -> dict[str, list[Item]]:
    """What follows from each root, by the root's key."""
    found: dict[str, list[Item]] = {}
    for item in document["findings"]:
        if item["caused_by"]:
            found.setdefault(item["caused_by"], []).append(item)
    return found


def where(item: Item) -> str:
    """The place of a finding in words: ``node1 rail0 → node2``, or what several nodes have in common."""
    place = " ".join(word for word in (item["host"] or item["device"], item["rail"]) if word) or "fabric"
    if not item["peer"]:
        return place
    if item["host"] is None:
        return f"{place} ({item['peer']})"
    return f"{place} {'→' if item['rule'].startswith('pair.') else 'and'} {item['peer']}"


def headline(document: Document) -> str:
    """The verdict in one sentence."""
    counts, nodes = document["counts"], document["coverage"]["nodes"]
    parts = [
        many(counts[state], one, more)
        for state, one, more in (
            ("fail", "fault", "faults"),
            ("unknown", "thing that could not be judged", "things that could not be judged"),
            ("warn", "warning", "warnings"),
        )
        if counts[state]
    ]
    asked = nodes["total"] - nodes["left_out"]
    return f"{', '.join(parts) or 'no fault'} on {many(asked, 'node', 'nodes')}"


def coverage(document: Document) -> list[tuple[str, str]]:
    """What was judged, out of what there is: (``4 of 4``, ``pairs: bandwidth (100 %)``)."""
    nodes = document["coverage"]["nodes"]
    words = {"unreachable": "unreachable", "failed": "failed", "left_out": "left out of this run"}
    lost = [f"{nodes[state]} {word}" for state, word in words.items() if nodes[state]]
    lines = [(f"{nodes['judged']} of {nodes['total']}", ", ".join(["nodes judged", *lost]))]
    for kind, pairs in document["coverage"]["pairs"].items():
        share = f" ({100 * pairs['measured'] / pairs['total']:.3g} %)" if pairs["total"] else ""
        lines.append((f"{pairs['measured']:,} of {pairs['total']:,}", f"pairs: {_lower(KINDS.get(kind, kind))}{share}"))
    if not document["coverage"]["pairs"]:
        lines.append(("none", "of the pairs measured: playbooks/prove.yml does that"))
    return lines


def _lower(text: str) -> str:
    """In the middle of a sentence."""
    return text[:1].lower() + text[1:]


def when(document: Document) -> str:
    """End of the run, to the minute."""
    return f"{document['finished'][:16].replace('T', ' ')} UTC"


def seconds(document: Document) -> float:
    """How long the run took."""
    start, end = (datetime.fromisoformat(document[key]) for key in ("started", "finished"))
    return max(0.0, (end - start).total_seconds())


def many(number: int, one: str, more: str = "") -> str:
    """A number with its noun: ``1 node``, ``1,200 nodes``."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"
