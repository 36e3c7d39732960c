# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as a terminal shows it: one screen, however large the fabric is.

Verdict first, then each root with what to do; the last line says PASS or FAIL once more, and where the whole report is.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from .report_common import Document, coverage, headline, many, waived, when, where
from .report_group import WORDS, Group, groups

COLOURS = {"fail": "31;1", "unknown": "35;1", "warn": "33;1", "pass": "32;1", "dim": "2", "bold": "1"}
LINES = 40
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_WAIVED = 3  # lines of waivers at most
_SHORTEST = 2  # lines of a text that is cut, so that more roots have theirs


class _Paint:
    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str) -> str:
        return f"\033[{COLOURS[style]}m{text}\033[0m" if self.colour else text


def render(document: Document, width: int = 100, colour: bool = False, place: str = "") -> str:
    """The summary as text of ``width`` columns (kept between 60 and 120), ``place`` being where the report is."""
    width, paint = max(60, min(width, 120)), _Paint(colour)
    document = _printable(document)
    verdict, name = document["verdict"], document["spec"]["name"] or "fabric"
    lines = [
        paint("─" * width, "dim"),
        f"{paint(verdict.upper(), verdict)}  {paint(name, 'bold')}: {headline(document)}",
    ]
    counts = document["counts"]
    more = f"{counts['consequences']} follow from a root, {counts['waived']} waived"
    numbers = [*coverage(document), (f"{counts['pass']:,}", f"checks passed; {more}")]
    lines += [paint(f"      {number:>16} {words}", "dim") for number, words in numbers]
    ending = _waivers(document, width, paint)
    end = f"{verdict.upper()}  Railwright {document['railwright']}, {when(document)}, exit code {document['exit_code']}"
    last = paint(end, verdict) if not place else f"{paint(verdict.upper(), verdict)}  {place}"
    room = LINES - len(lines) - len(ending) - 2
    return "\n".join([*lines, *_groups(groups(document), room, width, paint), *ending, "", last])


def _printable(value: Any) -> Any:
    """The part of a document that is shown, moving no cursor: nodes and tools may say control characters."""
    shown = ("host", "rail", "device", "peer", "title", *WORDS, "waived", "rule")
    findings = [
        {key: _CONTROL.sub("�", text) if key in shown and isinstance(text, str) else text for key, text in item.items()}
        for item in value["findings"]
    ]
    return {**value, "findings": findings}


def _groups(found: list[Group], room: int, width: int, paint: _Paint) -> list[str]:
    """As many roots in full as there is room for, the worst first; the others by name."""
    for cut in (0, _SHORTEST, 1):
        whole = [line for group in found for line in ["", *_whole(group, width, paint, cut)]]
        if len(whole) <= room:
            return whole
    lines: list[str] = []
    for at, group in enumerate(found):
        whole = ["", *_whole(group, width, paint, _SHORTEST)]
        left = len(found) - at - 1
        # Room for the name of each that is left, and a blank line before them.
        if at and len(lines) + len(whole) + min(left, 4) + 2 > room:
            return [*lines, "", *_names(found[at:], room - len(lines) - 1, width, paint)]
        lines += whole
    return lines


def _names(found: list[Group], room: int, width: int, paint: _Paint) -> list[str]:
    shown = found if len(found) <= room else found[: max(room - 1, 0)]
    lines = []
    for group in shown:
        state = group.first["state"]
        text = textwrap.shorten(
            f"{group.where}  {group.first['rule']}: {group.first['title']}", width - 8, placeholder=" …"
        )
        lines.append(f"{paint(f'{state.upper():<7}', state)} {text}")
    if len(shown) < len(found):
        lines.append(paint(f"        … and {len(found) - len(shown)} more kinds of trouble, in the report", "dim"))
    return lines


def _whole(group: Group, width: int, paint: _Paint, cut: int) -> list[str]:
    """One root in full; ``cut`` lines at most of each text, or all for 0."""
    item = group.first
    head = f"{item['state'].upper():<7} {group.where}"
    lines = [paint(textwrap.shorten(head, width, placeholder=" …") if len(head) > width else head, item["state"])]
    for key in WORDS:
        text, whose = group.word(key)
        if text and not (cut == 1 and key == "expected"):
            said = f"{text} ({whose})" if whose else text
            wrapped = textwrap.wrap(said, width - 18, break_on_hyphens=False, max_lines=cut or None, placeholder=" …")
            lines.append(f"        {paint(f'{key:<9}', 'dim')} {wrapped[0]}")
            lines += [f"{'':18}{more}" for more in wrapped[1:]]
    follows = f"; {many(len(group.following), 'finding follows', 'findings follow')}" if group.following else ""
    # What is required is no headline: beside FAIL it reads as if it were so.
    room = width - 20 - len(item["rule"]) - len(follows)
    title = f": {textwrap.shorten(item['title'], room, placeholder=' …')}" if room > 2 * len(" …") else ""
    lines.append(f"        {paint('rule', 'dim')}      {item['rule']}{paint(title + follows, 'dim')}")
    return lines


def _waivers(document: Document, width: int, paint: _Paint) -> list[str]:
    items = waived(document)
    if not items:
        return []
    lines = [
        textwrap.shorten(f"{item['rule']} {where(item)}: {item['waived']}", width - 8, placeholder=" …")
        for item in (items if len(items) <= _WAIVED else items[: _WAIVED - 1])
    ]
    if len(items) > len(lines):
        lines.append(f"… and {len(items) - len(lines)} more, in the report")
    return ["", *(f"{paint('WAIVED ', 'bold')} {line}" for line in lines)]
