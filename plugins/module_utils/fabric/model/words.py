# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""How values are written for people."""

from __future__ import annotations

from typing import Iterable


def spans(numbers: Iterable[int]) -> str:
    """Sorted numbers: ``24-25 27``."""
    ends: list[list[int]] = []
    for number in numbers:
        if ends and ends[-1][1] == number - 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)
