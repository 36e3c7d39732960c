# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Waivers: findings that a site accepts for a while. They stay visible and do not count."""

from __future__ import annotations

from typing import Iterable

from ..model.finding import PASS, Finding
from ..model.intent import Waiver
from ..records import replace


def waive(findings: Iterable[Finding], waivers: Iterable[Waiver], today: str) -> tuple[Finding, ...]:
    """Mark each finding that a waiver covers on ``today`` (ISO date); one that ended is named in the remedy."""
    known = tuple(waivers)
    return tuple(_waived(finding, known, today) for finding in findings)


def covers(waiver: Waiver, finding: Finding) -> bool:
    """Whether the waiver is about this finding, whatever the date."""
    return waiver.rule == finding.rule and waiver.host in (None, finding.host) and waiver.rail in (None, finding.rail)


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
