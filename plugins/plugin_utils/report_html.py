# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML page without anything external: it can be mailed, archived or put behind any web server.

Everything is there without the script, which only filters. The page lets no other script run than that one.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import report_matrix
from .report_blocks import Block, blocks
from .report_common import (
    KINDS,
    STATES,
    SYMBOLS,
    Document,
    Item,
    coverage,
    headline,
    many,
    seconds,
    waived,
    when,
    where,
)
from .report_group import WORDS, groups

TEMPLATES = Path(__file__).resolve().parent / "templates"
OPEN_LIMIT = 4  # nodes in trouble whose details are open from the start
NAMED = 40  # places that one list names; report.json has them all
MEANINGS = {
    "mtu": "whether the peer answers, and a full-size packet passes unfragmented",
    "class": "whether traffic with the fabric's class is in its priority",
    "cm_class": "whether connections by RDMA-CM are in that priority without asking for it",
    "lossless": "whether nothing was dropped in the lossless priority",
}


def render(document: Document) -> str:
    """The page."""
    hosts = sorted(document["hosts"].items(), key=lambda pair: STATES.index(pair[1]["state"]))
    trouble = [name for name, node in hosts if node["state"] != "pass"]
    rows = blocks(document)
    environment, script = _environment(), (TEMPLATES / "report.js").read_text(encoding="utf-8")
    return environment.get_template("report.html.j2").render(
        document=document,
        style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - a file of ours
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        headline=headline(document),
        coverage=coverage(document),
        when=when(document),
        duration=seconds(document),
        groups=groups(document),
        waived=waived(document),
        tally={state: sum(node["state"] == state for _name, node in hosts) for state in reversed(STATES)},
        hosts=hosts,
        opened=trouble if len(trouble) <= OPEN_LIMIT else [],
        by_host=_by_host(document),
        rails=list(dict.fromkeys(rail for _name, node in hosts for rail in node["rails"])),
        rows=rows,
        single=all(len(row.nodes) == 1 for row in rows),
        charts=[_chart(document, kind, rows) for kind in document["coverage"]["pairs"]],
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        symbols=SYMBOLS, states=STATES, words=WORDS, named=NAMED, where=where, many=many, rate=rate
    )
    environment.filters["pcie"] = pcie
    return environment


def _chart(document: Document, kind: str, rows: list[Block]) -> dict[str, Any]:
    """All maps of one kind of probe."""
    pairs = document["coverage"]["pairs"][kind]
    return {
        "kind": kind,
        "title": KINDS.get(kind, kind),
        "meaning": MEANINGS.get(kind) or f"bandwidth in {report_matrix.reference(document)}",
        "pairs": pairs,
        "matrices": report_matrix.matrices(document, kind, rows),
    }


def _by_host(document: Document) -> dict[str, list[Item]]:
    """Each node's own findings; pairs have their matrix."""
    found: dict[str, list[Item]] = {}
    for item in document["findings"]:
        if item["host"] and not item["rule"].startswith("pair."):
            found.setdefault(item["host"], []).append(item)
    return found


def pcie(port: Item) -> str:
    """The link of a port's function: ``32 GT/s x16``, and of what it is capable where that is more."""
    link = _link(port["pcie_gts"], port["pcie_width"])
    most = _link(port["pcie_max_gts"], port["pcie_max_width"])
    return link if not link or not most or link == most else f"{link} of {most}"


def rate(value: float | None) -> str:
    """Gbit/s in words, or nothing."""
    return f"{value:g} Gbit/s" if value else ""


def _link(speed: float | None, width: int | None) -> str:
    return " ".join(word for word in (f"{speed:g} GT/s" if speed else "", f"x{width}" if width else "") if word)
