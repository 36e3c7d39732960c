# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as a terminal shows it: verdict first, then each root with what to do, then what follows from it."""

from __future__ import annotations

import re
import textwrap
from typing import Iterable

from .report_common import Document, Item, consequences, coverage, headline, roots, waived, when, where

COLOURS = {"fail": "31;1", "unknown": "35;1", "warn": "33;1", "pass": "32;1", "dim": "2", "bold": "1"}
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
FOLLOWING = 4  # consequences shown a root; the HTML page has them all


class _Paint:
    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str) -> str:
        return f"\033[{COLOURS[style]}m{text}\033[0m" if self.colour else text


def render(document: Document, width: int = 100, colour: bool = False) -> str:
    """The whole report as text of ``width`` columns (kept between 60 and 120)."""
    width, paint = max(60, min(width, 120)), _Paint(colour)
    document = {**document, "findings": [_printable(item) for item in document["findings"]]}
    verdict = document["verdict"]
    name = document["spec"]["name"] or "fabric"
    lines = [
        paint("─" * width, "dim"),
        f"{paint(verdict.upper(), verdict)}  {paint(name, 'bold')}: {headline(document)}",
    ]
    lines += [paint(f"      {number:>12} {words}", "dim") for number, words in coverage(document)]
    counts = document["counts"]
    more = f"{counts['consequences']} follow from a root, {counts['waived']} waived"
    lines.append(paint(f"      {counts['pass']:>12} checks passed; {more}", "dim"))
    following = consequences(document)
    for item in roots(document):
        lines += ["", *_root(item, following.get(item["key"], []), width, paint)]
    if waived(document):
        lines += ["", paint("Waived", "bold")]
        lines += _wrapped((f"{item['rule']} {where(item)}: {item['waived']}" for item in waived(document)), width)
    end = f"Railwright {document['railwright']}, {when(document)}, exit code {document['exit_code']}"
    return "\n".join([*lines, "", paint(end, "dim")])


def _printable(item: Item) -> Item:
    """A finding that moves no cursor: what nodes and tools say may hold control characters."""
    return {key: _CONTROL.sub("�", value) if isinstance(value, str) else value for key, value in item.items()}


def _root(item: Item, following: list[Item], width: int, paint: _Paint) -> list[str]:
    head = f"{item['state'].upper():<7} {where(item)}"
    lines = [f"{paint(head, item['state'])}  {item['title']}" if len(head) + len(item["title"]) + 2 <= width else ""]
    if not lines[0]:
        lines = [paint(head, item["state"]), f"        {item['title']}"]
    for word in ("found", "expected", "cause", "remedy"):
        if item[word]:
            text = textwrap.wrap(item[word], width - 18, break_on_hyphens=False) or [""]
            lines.append(f"        {paint(f'{word:<9}', 'dim')} {text[0]}")
            lines += [f"{'':18}{more}" for more in text[1:]]
    lines.append(f"        {paint('rule', 'dim')}      {item['rule']}")
    if following:
        lines.append(f"        {paint(f'follows   {len(following)} more, gone when this is mended:', 'dim')}")
        shown = [
            f"{other['state']} {other['rule']} {where(other)}: {other['found']}" for other in following[:FOLLOWING]
        ]
        lines += [paint(f"          {textwrap.shorten(text, width - 10, placeholder=' …')}", "dim") for text in shown]
        if len(following) > FOLLOWING:
            lines.append(paint(f"          … and {len(following) - FOLLOWING} more", "dim"))
    return lines


def _wrapped(items: Iterable[str], width: int) -> list[str]:
    lines: list[str] = []
    for text in items:
        lines += textwrap.wrap(text, width - 4, initial_indent="    ", subsequent_indent="      ")
    return lines
