# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The rule about error counters: what they gained between two samples. What they had before is history."""

from __future__ import annotations

from typing import Mapping, Optional

from ..model.facts import NodeFacts
from ..model.finding import Finding
from ..model.intent import NodeIntent
from ..probe.counters import CARRIER, is_saturated
from ..resolve.bind import BoundRail, bind
from .rule import Rule

COUNTERS = Rule(
    "rail.counters",
    "The rail's error counters stand still",
    "fail",
    "local",
    "Errors that grow now are packets that are lost or sent again now; a cable says so long before it fails.",
    "Clean or exchange cable and transceiver for link errors; for losses in queues look at PFC, ECN and buffers.",
    "kernel Documentation/ABI/stable/sysfs-class-infiniband, counters; bounds as in NVIDIA/NVSentinel",
)

Sample = Mapping[str, Mapping[str, int]]
# Any of these is a fault, however few.
FATAL = ("link_downed", "excessive_buffer_overrun_errors", "local_link_integrity_errors", "rnr_nak_retry_err")
# More than this many a second are worth an alarm.
RATES = {"symbol_error": 10.0, "link_error_recovery": 5 / 60, "roce_slow_restart": 10.0}
# Signs of loss: not fatal, but none of them belongs to a quiet lossless rail.
SIGNS = ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rx_icrc_encapsulated", "port_rcv_errors")
CARRIER_CHANGES = 2
# The counters with a bound: one that no bound is set on is not judged, at its end or not.
_JUDGED = frozenset((*FATAL, *RATES, *SIGNS, CARRIER))
# Queue counters of mlx5 have 32 bits and wrap (drivers/infiniband/hw/mlx5/counters.c).
_WRAP = 1 << 32
_WRAPPING = ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "rx_icrc_encapsulated")


def judge(intent: NodeIntent, facts: NodeFacts, before: Sample, after: Sample, seconds: float) -> tuple[Finding, ...]:
    """One finding a rail with counters. Not linked.

    :param before: counters by ``<device>/<port>`` and by netdev, ``seconds`` earlier than ``after``.
    """
    findings = (_rail(intent.host, rail, before, after, seconds) for rail in bind(intent, facts))
    return tuple(finding for finding in findings if finding is not None)


def _rail(host: str, rail: BoundRail, before: Sample, after: Sample, seconds: float) -> Optional[Finding]:
    name = rail.intent.name
    places = [f"{port.rdma.name}/{port.port.number}" for port in rail.ports if port.rdma and port.port]
    places += [port.netdev.name for port in rail.ports if port.netdev is not None]
    expected = f"no errors in {seconds:g} s"
    read = [place for place in dict.fromkeys(places) if before.get(place) and after.get(place)]
    if not read:
        return COUNTERS.unknown(host, name, expected=expected, found="no counters of the rail could be read twice")
    fatal: list[str] = []
    light: list[str] = []
    full: list[str] = []
    for place in read:
        for counter, now in after[place].items():
            was = before[place].get(counter)
            if was is None or counter not in _JUDGED:
                continue
            if is_saturated(counter, was):
                full.append(f"{place} {counter} is at its end, {was}")
                continue
            gained = grown(counter, was, now)
            words = f"{place} {counter} +{gained}"
            if gained and counter in FATAL:
                fatal.append(words)
            elif _too_fast(counter, gained, seconds):
                light.append(words)
    if fatal or light:
        return COUNTERS.broken(
            host,
            name,
            expected=expected,
            found=", ".join([*fatal, *light]),
            cause="errors grow while nobody does anything to the link"
            if fatal
            else "the rail loses or repairs packets",
            warn=not fatal,
            device=(fatal or light)[0].split(" ")[0].partition("/")[0],
        )
    if full:
        return COUNTERS.broken(
            host,
            name,
            expected=expected,
            found=", ".join(full),
            cause="a counter that is full tells nothing any more",
            remedy="Clear it when nobody needs it: perfquery -R, or reload the driver.",
            warn=True,
        )
    return COUNTERS.passed(host, name, found=f"none in {seconds:g} s")


def grown(counter: str, was: int, now: int) -> int:
    """What a counter gained; one that became smaller wrapped, where it is one that wraps, or was cleared."""
    if now >= was:
        return now - was
    wrapped = now + _WRAP - was
    # Half the range in a window of seconds is no wrap, but a reset.
    return wrapped if counter in _WRAPPING and wrapped < _WRAP // 2 else now


def _too_fast(counter: str, gained: int, seconds: float) -> bool:
    if counter == CARRIER:
        return gained > CARRIER_CHANGES
    if counter in RATES:
        # A single one in a short window is no rate.
        return gained > 1 and gained > RATES[counter] * seconds
    return counter in SIGNS and gained > 0
