# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lists and ranges of numbers and names as switches write them: ``0-2,5``, ``swp1-3,swp7s0-3``."""

from __future__ import annotations

import re
from typing import Optional

_NUMBERS = re.compile(r"[0-9]{1,3}(-[0-9]{1,3})?")
_NAMES = re.compile(r"(?P<head>.*?)(?P<first>[0-9]{1,4})-(?P<last>[0-9]{1,4})")
_LONGEST = 1024  # no switch has more ports, and a damaged range must not fill the memory


def numbers(text: str) -> Optional[tuple[int, ...]]:
    """``0-2,5`` -> (0, 1, 2, 5); ``None`` for what is no such list."""
    found: list[int] = []
    for part in text.replace(" ", "").split(","):
        if not part.isascii() or not _NUMBERS.fullmatch(part):
            return None
        first, _dash, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def names(text: str) -> tuple[str, ...]:
    """``swp1-3,swp7s0-1`` -> swp1, swp2, swp3, swp7s0, swp7s1; a name without a range stands for itself."""
    found: list[str] = []
    for part in text.split(","):
        match = _NAMES.fullmatch(part)
        if match is None or int(match["last"]) - int(match["first"]) not in range(_LONGEST):
            found.append(part)
            continue
        found.extend(f"{match['head']}{number}" for number in range(int(match["first"]), int(match["last"]) + 1))
    return tuple(found)


def whole(value: object) -> Optional[str]:
    """A number as text, from a number or from text; ``None`` for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and len(value) < 16 and value.isascii() and value.isdigit():
        return str(int(value))
    return None
