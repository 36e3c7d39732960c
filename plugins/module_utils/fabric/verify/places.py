# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of each node and rail, from one pass over the findings: a thousand nodes have a million of them."""

from __future__ import annotations

from typing import Iterable, Optional

from ..model.finding import PASS, UNKNOWN, Finding
from .roots import ends
from .rule import severity_rank

Place = tuple[Optional[str], Optional[str]]


class Places:
    """``passed`` has the rules that each node passed, each with its rails; pair rules are in the pairs."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.passed: dict[Optional[str], dict[str, list[str]]] = {}
        self._nodes: dict[Optional[str], str] = {}
        self._rails: dict[Place, str] = {}
        known: dict[tuple[Optional[str], Optional[str]], tuple[Place, ...]] = {}
        for finding in findings:
            pair = finding.rule.startswith("pair.")
            if finding.state == PASS and not pair:
                rails = self.passed.setdefault(finding.host, {}).setdefault(finding.rule, [])
                rails.extend([finding.rail] if finding.rail else [])
            if finding.waived is not None:
                continue
            far = known.get((finding.peer, finding.rail))
            if far is None:
                far = known[(finding.peer, finding.rail)] = ends(finding)[1:]
            root = finding.caused_by is None
            for place in ((finding.host, finding.rail), *far):
                if root:
                    _worsen(self._nodes, place[0], finding.state)
                # A pair that fails because of its other end says nothing about this one.
                if root or not pair:
                    _worsen(self._rails, place, finding.state)

    def node(self, host: str) -> str:
        """Worst state of the roots that name the node; unknown when nothing does."""
        return self._nodes.get(host, UNKNOWN)

    def rail(self, host: str, rail: str) -> str:
        """Worst state of what was found on the rail of the node; unknown when nothing was."""
        return self._rails.get((host, rail), UNKNOWN)


def _worsen(states: dict, place: object, state: str) -> None:  # type: ignore[type-arg]
    known = states.setdefault(place, state)
    if state not in (PASS, known) and severity_rank(state) > severity_rank(known):
        states[place] = state
