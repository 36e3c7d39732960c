# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``systemctl show``: properties of units, one block a unit."""

from __future__ import annotations

from .text import numbered, wrong

TOOL = "systemctl show"


def parse(text: str) -> tuple[dict[str, str], ...]:
    """The properties of every unit, in the order in which they were asked for; no unit is a valid answer.

    A block ends at a blank line (systemctl(1)); one without ``Id`` is damaged.
    """
    blocks: list[dict[str, str]] = []
    last = -1
    for number, line in numbered(text):
        name, equals, value = line.partition("=")
        if not equals or not name.isalnum():
            raise wrong(TOOL, number, line, "no line of the form 'Property=value'")
        if number != last + 1:
            blocks.append({})
        if name in blocks[-1]:
            raise wrong(TOOL, number, line, f"{name} is there twice in one unit")
        blocks[-1][name] = value.strip()
        last = number
    for block in blocks:
        if not block.get("Id"):
            raise wrong(TOOL, 1, text, "a unit without its Id")
    return tuple(blocks)
