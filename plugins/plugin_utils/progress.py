# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""How far a task over many hosts is: at most a few lines a task, and none for what is quick."""

from __future__ import annotations

import math
import time
from typing import Callable

MANY = 20  # hosts; fewer are seen at a glance
QUICK = 10.0  # seconds that are no wait
QUIET = 60.0  # seconds after which a line comes although no further quarter is done


class Progress:
    """One task. ``done`` is told each host's end, and returns the line to show, or nothing."""

    def __init__(self, name: str, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._total, self._clock = name, total, clock
        self._begin = self._last = clock()
        self._ends = {"ok": 0, "failed": 0, "unreachable": 0}
        self._quarter = 0

    def done(self, end: str = "ok") -> str:
        """One more host came to its ``end``: ok, failed or unreachable."""
        self._ends[end] += 1
        count, now = sum(self._ends.values()), self._clock()
        if self._total < MANY or count > self._total or now - self._begin < QUICK:
            return ""
        quarter = 4 * count // self._total
        if quarter == self._quarter and now - self._last < QUIET:
            return ""
        self._quarter, self._last = quarter, now
        return self._line(count, now - self._begin)

    def _line(self, count: int, passed: float) -> str:
        words = [f"{count} of {self._total} nodes"]
        words += [f"{self._ends[end]} {end}" for end in ("failed", "unreachable") if self._ends[end]]
        words.append(f"{span(passed)} so far")
        if count < self._total:
            words.append(f"about {span(passed / count * (self._total - count))} left")
        return f"{self._name}: {', '.join(words)}"


def span(seconds: float) -> str:
    """Whole seconds, or minutes and seconds."""
    whole = math.ceil(seconds)
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"
