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
from ..records import replace


def watch(
    port: Port, intent: Optional[NodeIntent], seconds: float, detail: bool = False
) -> tuple[NodeFacts, tuple[Finding, ...]]:
    """The facts of a node, and what its counters gained in at least ``seconds``; nothing for 0 or without an intent."""
    facts = probe(port, detail)
    if seconds <= 0 or intent is None:
        return facts, ()
    from ..probe.counters import sample  # noqa: PLC0415 - a health check without a window does not pay for it
    from .counters import judge  # noqa: PLC0415

    if any(rail.qos is not None for rail in intent.rails):
        return _watch_classes(port, intent, facts, seconds)
    before, started = sample(port, facts), time.monotonic()
    time.sleep(seconds)
    after = sample(port, facts)
    return facts, judge(intent, facts, before, after, time.monotonic() - started)


def _watch_classes(
    port: Port, intent: NodeIntent, facts: NodeFacts, seconds: float
) -> tuple[NodeFacts, tuple[Finding, ...]]:
    """With the counters of traffic classes, and what congestion control did; lossless rails alone have those."""
    from ..probe.counters import sample, sample_classes  # noqa: PLC0415
    from . import counters, qos_counters  # noqa: PLC0415

    netdevs = qos_counters.lossless_netdevs(intent, facts)

    def read() -> counters.Sample:
        found, classes = sample(port, facts), sample_classes(port, netdevs)
        return {place: {**found.get(place, {}), **classes.get(place, {})} for place in {*found, *classes}}

    before, started = read(), time.monotonic()
    time.sleep(seconds)
    after = read()
    findings = counters.judge(intent, facts, before, after, time.monotonic() - started)
    facts = replace(facts, gained=qos_counters.congestion(intent, facts, before, after))
    return facts, (*findings, *qos_counters.judge(intent, facts, before, after))
