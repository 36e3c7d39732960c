# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A probe, and two samples of the error counters behind it: the first needs to know the devices."""

from __future__ import annotations

import time
from typing import Optional

from ..model.facts import NodeFacts
from ..model.finding import Finding
from ..model.intent import NodeIntent
from ..ports import Port
from ..probe.node import probe


def watch(
    port: Port, intent: Optional[NodeIntent], seconds: float, detail: bool = False
) -> tuple[NodeFacts, tuple[Finding, ...]]:
    """The facts of a node, and what its counters gained in at least ``seconds``; nothing for 0 or without an intent."""
    facts = probe(port, detail)
    if seconds <= 0 or intent is None:
        return facts, ()
    from ..probe.counters import sample  # noqa: PLC0415 - a health check without a window does not pay for it
    from .counters import judge  # noqa: PLC0415

    before, started = sample(port, facts), time.monotonic()
    time.sleep(seconds)
    after = sample(port, facts)
    return facts, judge(intent, facts, before, after, time.monotonic() - started)
