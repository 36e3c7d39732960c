# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The one word of netplan's files that says who is behind it, netplan(5). No YAML library is on a node for sure."""

from __future__ import annotations

from typing import Optional


def renderer(text: str) -> Optional[str]:
    """The global ``renderer`` below ``network``, in block or flow style; ``None`` when the file names none.

    One of a single definition is deeper, and does not count.
    """
    inside, indent, depth = False, -1, 0
    for raw in text.split("\n"):
        line = raw.split(" #")[0].rstrip()
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        column = len(line) - len(line.lstrip())
        if depth == 0 and column == 0:
            inside = words.startswith(("network:", '"network":'))
            indent = -1
            words = words.partition(":")[2].strip() if inside else ""
        elif depth == 0 and inside and indent < 0:
            indent = column
        if not inside:
            continue
        if depth == 0 and column == indent and words.startswith("renderer:"):
            return _word(words.partition(":")[2])
        start = 0
        for place, letter in enumerate(words):
            if letter in "{[":
                depth, start = depth + 1, place + 1
            elif letter in "}]":
                depth -= 1
            elif letter == ",":
                start = place + 1
            elif letter == ":" and depth == 1 and words[start:place].strip().strip("\"'") == "renderer":
                return _word(words[place + 1 :])
    return None


def _word(text: str) -> Optional[str]:
    for end in ",}":
        text = text.partition(end)[0]
    return text.strip().strip("\"'") or None
