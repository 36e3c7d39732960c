# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Waivers: findings that a site accepts for a while. They stay visible and do not count."""

from __future__ import annotations

from typing import Iterable, Optional

from ..model.finding import PASS, Finding
from ..model.intent import Waiver
from ..records import replace
from .rule import Rule

EXPIRED = Rule(
    "spec.waiver",
    "No waiver is past its last day",
    "warn",
    "local",
    "What was accepted for a while counts again, and somebody should know before a job does.",
    "Take the waiver out of fabric_spec.waivers, or give it a new date.",
    "fabric_spec.waivers.*.until",
)


def waive(findings: Iterable[Finding], waivers: Iterable[Waiver], today: str) -> tuple[Finding, ...]:
    """Mark each finding that a waiver covers on ``today`` (ISO date); those that ended are findings of their own.

    What follows from a waived finding stays below it, so that it does not count either.
    """
    known = tuple(waivers)
    if not known:
        return tuple(findings)
    return (*(_waived(finding, known, today) for finding in findings), *_expired(known, today))


def _expired(waivers: tuple[Waiver, ...], today: str) -> list[Finding]:
    places: dict[tuple[Optional[str], Optional[str]], list[Waiver]] = {}
    for waiver in waivers:
        if waiver.until < today:
            places.setdefault((waiver.host, waiver.rail), []).append(waiver)
    return [
        EXPIRED.broken(
            host,
            rail,
            expected=f"no waiver that ended before {today}",
            found=", ".join(f"{waiver.rule} until {waiver.until}" for waiver in ended),
            cause="; ".join(f"{waiver.rule} was accepted until {waiver.until}: {waiver.reason}" for waiver in ended),
            device="waivers",
        )
        for (host, rail), ended in places.items()
    ]


def covers(waiver: Waiver, finding: Finding) -> bool:
    """Whether the waiver is about this finding, whatever the date; a switch is the device of its findings."""
    who = finding.host or finding.device
    return waiver.rule == finding.rule and waiver.host in (None, who) and waiver.rail in (None, finding.rail)


def _waived(finding: Finding, waivers: tuple[Waiver, ...], today: str) -> Finding:
    if finding.state == PASS:
        return finding
    fitting = [waiver for waiver in waivers if covers(waiver, finding)]
    for waiver in fitting:
        if today <= waiver.until:
            return replace(finding, waived=f"{waiver.reason} (until {waiver.until})")
    if fitting:
        ended = max(waiver.until for waiver in fitting)
        return replace(finding, remedy=f"{finding.remedy} Its waiver ended on {ended}.".strip())
    return finding
