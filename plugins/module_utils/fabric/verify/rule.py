# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a rule is: the words that every finding of it starts from."""

from __future__ import annotations

from typing import Optional

from ..model.finding import FAIL, PASS, UNKNOWN, WARN, Finding
from ..records import dataclass


@dataclass(frozen=True)
class Rule:
    """One named check.

    ``severity`` is the state of a finding that does not hold (fail; unknown for the probe itself); ``scope`` what it
    needs to see: one node (local), all nodes (fabric) or an active probe (pair). ``why`` says what breaks without it,
    ``source`` where the expectation comes from.
    """

    id: str
    title: str
    severity: str
    scope: str
    why: str
    remedy: str
    source: str

    def passed(self, host: Optional[str] = None, rail: Optional[str] = None, found: str = "", **words: str) -> Finding:
        """It holds."""
        return Finding(self.id, PASS, self.title, host, rail, found=found, **words)

    def broken(
        self,
        host: Optional[str],
        rail: Optional[str] = None,
        *,
        expected: str,
        found: str,
        cause: str,
        remedy: str = "",
        warn: bool = False,
        **words: str,
    ) -> Finding:
        """It does not hold; ``warn`` makes light of one case of a rule that otherwise fails."""
        return Finding(
            self.id,
            WARN if warn else self.severity,
            self.title,
            host,
            rail,
            expected=expected,
            found=found,
            cause=cause,
            remedy=remedy or self.remedy,
            **words,
        )

    def unknown(
        self, host: Optional[str], rail: Optional[str] = None, *, found: str, expected: str = "", **words: str
    ) -> Finding:
        """It could not be judged; ``found`` says what was not there to judge by."""
        words.setdefault("remedy", self.remedy)
        return Finding(self.id, UNKNOWN, self.title, host, rail, expected=expected, found=found, **words)


def severity_rank(state: str) -> int:
    """Order of states, worst last; unknown stands above warn, since it may hide a fail."""
    return (PASS, WARN, UNKNOWN, FAIL).index(state)
