# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""From findings to one verdict and one exit code."""

from __future__ import annotations

from typing import Iterable

from ..model.finding import FAIL, PASS, UNKNOWN, WARN, Finding

EXIT = {PASS: 0, WARN: 0, FAIL: 1, UNKNOWN: 2}


def counts(finding: Finding) -> bool:
    """Whether a finding counts in the verdict: a root that is not waived."""
    return finding.caused_by is None and finding.waived is None


def roots(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are not passes and follow from no other, worst first, waived ones last."""
    order = {FAIL: 0, UNKNOWN: 1, WARN: 2}
    found = [finding for finding in findings if finding.state != PASS and finding.caused_by is None]
    return tuple(sorted(found, key=lambda finding: (finding.waived is not None, order[finding.state])))


def verdict(findings: Iterable[Finding]) -> str:
    """The worst state that counts. Fail wins over unknown; nothing judged at all is unknown."""
    kept = tuple(findings)
    states = {finding.state for finding in kept if counts(finding)}
    for state in (FAIL, UNKNOWN, WARN):
        if state in states:
            return state
    return PASS if kept else UNKNOWN


def exit_code(state: str, on_unknown: str = UNKNOWN) -> int:
    """0 pass or warn, 1 fail, 2 unknown; ``on_unknown`` (pass or fail) settles what unknown shall mean."""
    return EXIT[on_unknown if state == UNKNOWN else state]
