# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""In which priority the packets of a test really went, as the node's own NICs count it.

The client's NIC counts what it sends by the priority that its own marking and map give it, and what comes back, the
peer's acknowledgements and another client's data, by the priority that the DSCP on the wire gives here. In the ring of
a proof each NIC both sends and receives, so each map and each direction is seen.
"""

from __future__ import annotations

from typing import Iterable, Mapping, Optional

from ..model.finding import PairResult
from ..ports import Port
from ..probe.counters import sample_classes
from ..resolve.bind import BoundRail
from .work import Test

CLASS, CM_CLASS, LOSSLESS = "class", "cm_class", "lossless"
# As many packets of a priority do not come from anything but a test; in the other direction a few are a proof.
_MANY, _SOME = 100, 10
_NOTHING = "the test moved nothing"

Look = dict[str, int]


class Classes:
    """Reads the counters by priority of the rails that have a class; every call is one process a port."""

    def __init__(self, port: Port, rails: Mapping[str, BoundRail], tests: Iterable[Test]) -> None:
        self._port = port
        names = {test.rail for test in tests if test.priority is not None}
        self._netdevs = {
            name: [item.netdev.name for item in rails[name].ports if item.netdev is not None]
            for name in names
            if name in rails
        }

    def look(self, rail: str) -> Look:
        """Counters of a rail, its ports summed up; empty for one without a class, or without counters."""
        found: Look = {}
        for counters in sample_classes(self._port, self._netdevs.get(rail, ())).values():
            for name, value in counters.items():
                found[name] = found.get(name, 0) + value
        return found

    def all(self) -> dict[str, Look]:
        """The same of all rails."""
        return {name: self.look(name) for name in self._netdevs}


def gained(before: Look, after: Look) -> Look:
    """What each counter gained; one that was cleared meanwhile is left out."""
    return {name: now - before[name] for name, now in after.items() if now >= before.get(name, now + 1)}


def judge_class(test: Test, ran: PairResult, sent: Look, whole: Look) -> PairResult:
    """Where a test with the fabric's traffic class went.

    :param ran: the test's own result: one that failed tells nothing about its class.
    :param sent: what was gained during the test, ``whole`` in all the time of the proof's tests.
    """
    result = _judge_sent(CLASS, test, ran, sent, f"traffic class {test.traffic_class}")
    if result.error is not None:
        return result
    arrived = _by_priority("rx_packets", whole)
    if arrived.get(test.priority or 0, 0) >= _SOME or not arrived:
        return result
    most = max(arrived, key=lambda priority: arrived[priority])
    if arrived[most] < _MANY:
        return result
    error = (
        f"{arrived[most]} packets arrived in priority {most}, {arrived.get(test.priority or 0, 0)} in {test.priority}"
    )
    return _result(CLASS, test, most, error, "wrong_class")


def judge_cm(test: Test, ran: PairResult, sent: Look) -> PairResult:
    """Where connections of RDMA-CM went that asked for no class of their own."""
    return _judge_sent(CM_CLASS, test, ran, sent, "no traffic class of its own, by RDMA-CM")


def judge_drops(test: Test, ran: PairResult, whole: Look) -> PairResult:
    """How many packets of the lossless priority this node's NIC dropped in all the time of the proof's tests.

    None dropped where none came is no proof.
    """
    if ran.error is not None and ran.reason not in ("wrong_path", "rdma"):
        return _result(LOSSLESS, test, None, f"no load: {ran.error}", ran.reason)
    own = whole.get(f"rx_discards_{test.priority}")
    dropped = whole.get("rx_discards") if own is None else own
    if dropped is None:
        return _result(LOSSLESS, test, None, "the driver counts no packets that it drops", "no_counters")
    where = f"priority {test.priority}" if own is not None else "the NIC"
    if dropped:
        error = f"{dropped} packets of {where} were dropped on {test.client}"
        return _result(LOSSLESS, test, dropped, error, "discards")
    if not ran.value:
        return _result(LOSSLESS, test, None, f"no load: {ran.error or _NOTHING}", ran.reason or "rdma")
    return _result(LOSSLESS, test, 0, None, None)


def _judge_sent(kind: str, test: Test, ran: PairResult, sent: Look, how: str) -> PairResult:
    """Half of what the test moved is enough to tell the priority: headers come on top, and others send as well."""
    if ran.error is not None or not ran.value:
        return _result(kind, test, None, f"no load: {ran.error or _NOTHING}", ran.reason or "rdma")
    left = _by_priority("tx_bytes", sent)
    if not left:
        return _result(kind, test, None, "the driver counts no bytes by priority", "no_counters")
    seconds = test.cm_seconds if kind == CM_CLASS else test.seconds
    half = ran.value * 1e9 / 8 * seconds / 2
    if left.get(test.priority or 0, 0) >= half:
        return _result(kind, test, test.priority, None, None)
    most = max(left, key=lambda priority: left[priority])
    if left[most] < half:
        counted = f"the test moved {2 * half:.3g} bytes, the NIC counted {left[most]} in priority {most}"
        return _result(kind, test, None, f"{counted} and less in others", "no_counters")
    error = f"sent with {how}: {left[most]} bytes left in priority {most}, {left.get(test.priority or 0, 0)} in"
    return _result(kind, test, most, f"{error} {test.priority}", "wrong_class")


def _by_priority(what: str, counters: Look) -> dict[int, int]:
    return {priority: counters[f"{what}_{priority}"] for priority in range(8) if f"{what}_{priority}" in counters}


def _result(kind: str, test: Test, value: Optional[int], error: Optional[str], reason: Optional[str]) -> PairResult:
    expected = 0 if kind == LOSSLESS else test.priority
    return PairResult(
        kind,
        test.client,
        test.server,
        test.rail,
        test.peer_rail,
        expected=None if expected is None else float(expected),
        value=None if value is None else float(value),
        error=error,
        reason=reason,
    )


def unproved(test: Test, reason: str, error: str) -> list[PairResult]:
    """The results about the class of a test that was not run."""
    if test.priority is None:
        return []
    kinds = [CLASS, *([CM_CLASS] if test.cm_seconds else []), *([LOSSLESS] if test.lossless else [])]
    return [_result(kind, test, None, error, reason) for kind in kinds]
