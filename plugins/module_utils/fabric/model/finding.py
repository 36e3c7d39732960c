# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What verification says: findings, and the results of active probes that some of them rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

PASS, WARN, FAIL, UNKNOWN = "pass", "warn", "fail", "unknown"


@dataclass(frozen=True)
class Finding:
    """One rule's judgement of one subject.

    ``caused_by`` is the ``key`` of the root finding that this one follows from; ``waived`` the reason of the waiver
    that covers it. A waived finding and a consequence stay visible and do not count in the verdict.
    """

    rule: str
    state: str  # pass | warn | fail | unknown
    title: str
    host: Optional[str] = None
    rail: Optional[str] = None
    device: Optional[str] = None
    peer: Optional[str] = None
    expected: str = ""
    found: str = ""
    cause: str = ""
    remedy: str = ""
    caused_by: Optional[str] = None
    waived: Optional[str] = None

    @property
    def key(self) -> str:
        """Identity within one report: ``rule@host/rail>peer``."""
        return f"{self.rule}@{self.host or '-'}/{self.rail or '-'}" + (f">{self.peer}" if self.peer else "")


@dataclass(frozen=True)
class PairResult:
    """An active probe from ``host`` to ``peer`` over ``rail``.

    ``kind`` is ``mtu`` (a full-size unfragmented packet) or ``bandwidth``. ``value`` is bytes or Gbit/s; ``device``,
    ``gid`` and ``netdev`` are what was really used. ``error`` is set when the probe did not succeed.
    """

    kind: str
    host: str
    peer: str
    rail: str
    peer_rail: str
    expected: Optional[float] = None
    value: Optional[float] = None
    device: Optional[str] = None
    gid: Optional[str] = None
    netdev: Optional[str] = None
    error: Optional[str] = None
