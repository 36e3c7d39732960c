# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML page without anything external: it can be mailed, archived or put behind any web server."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from .report_common import STATES, Document, Item, consequences, coverage, headline, roots, waived, when, where

TEMPLATES = Path(__file__).resolve().parent / "templates"
SYMBOLS = {"pass": "✓", "warn": "!", "fail": "✕", "unknown": "?"}
# Up to here a matrix is a table with numbers; above it, a picture: 200 nodes are 40000 cells.
TABLE_LIMIT = 24
OPEN_LIMIT = 4  # nodes in trouble whose details are open from the start
SHADES = 5


@dataclass
class Cell:
    """One ordered pair over all rails: the worst state, the lowest value, and both in words."""

    state: str
    value: float | None
    words: list[str] = field(default_factory=list)
    shade: int = 0
    text: str = ""


def render(document: Document) -> str:
    """The page."""
    hosts = sorted(document["hosts"].items(), key=lambda pair: STATES.index(pair[1]["state"]))
    trouble = [name for name, node in hosts if node["state"] != "pass"]
    return _template().render(
        document=document,
        symbols=SYMBOLS,
        headline=headline(document),
        coverage=coverage(document),
        when=when(document),
        where=where,
        roots=roots(document),
        waived=waived(document),
        following=consequences(document),
        hosts=hosts,
        opened=trouble if len(trouble) <= OPEN_LIMIT else [],
        by_host=_by_host(document),
        matrices=[matrix(document, kind) for kind in document["coverage"]["pairs"]],
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html.j2")


def _by_host(document: Document) -> dict[str, list[Item]]:
    """Each node's own findings; pairs have their matrix."""
    found: dict[str, list[Item]] = {}
    for item in document["findings"]:
        if item["host"] and not item["rule"].startswith("pair."):
            found.setdefault(item["host"], []).append(item)
    return found


def matrix(document: Document, kind: str) -> dict[str, Any]:
    """One heat map over all rails. Shades tell measured values apart, symbols and colours the states."""
    cells: dict[tuple[str, str], Cell] = {}
    for pair in document["pairs"]:
        if pair["kind"] != kind:
            continue
        cell = cells.setdefault((pair["host"], pair["peer"]), Cell(pair["state"], pair["value"]))
        if STATES.index(pair["state"]) < STATES.index(cell.state):
            cell.state = pair["state"]
        if pair["value"] is not None:
            cell.value = pair["value"] if cell.value is None else min(cell.value, pair["value"])
        measured = (
            "" if pair["value"] is None else f"{pair['value']:.3g} {'Gbit/s' if kind == 'bandwidth' else 'bytes'}"
        )
        cell.words.append(f"{pair['rail']}: {pair['error'] or measured or pair['state']}")
    best = max((cell.value for cell in cells.values() if cell.value), default=0.0)
    for cell in cells.values():
        share = (cell.value or 0.0) / best if best else 1.0
        cell.shade = max(1, min(SHADES, round(share * SHADES))) if kind == "bandwidth" else SHADES
        shown = kind == "bandwidth" and cell.state in ("pass", "warn") and cell.value is not None
        cell.text = _short(cell.value or 0.0) if shown else SYMBOLS[cell.state]
    names = list(document["hosts"])
    table = len(names) <= TABLE_LIMIT
    return {
        "kind": kind,
        "unit": "Gbit/s, the slowest rail of each pair"
        if kind == "bandwidth"
        else "full-size packets, all rails of each pair",
        "names": names,
        "cells": cells,
        "table": table,
        "paths": {} if table else _paths(names, cells),
        "best": best,
    }


def _paths(names: list[str], cells: dict[tuple[str, str], Cell]) -> dict[str, str]:
    """One SVG path for all cells of one look: the page stays small and quick."""
    index = {name: number for number, name in enumerate(names)}
    paths: dict[str, list[str]] = {}
    for (host, peer), cell in cells.items():
        if host in index and peer in index:
            look = f"pass s{cell.shade}" if cell.state == "pass" else cell.state
            paths.setdefault(look, []).append(f"M{index[peer]} {index[host]}h1v1h-1z")
    return {look: "".join(parts) for look, parts in sorted(paths.items())}


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
