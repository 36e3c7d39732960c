# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One node as its rules see it: who it is, what was found, and why something was not."""

from __future__ import annotations

from ..model.facts import NodeFacts
from ..records import dataclass
from ..resolve.bind import BoundRail


@dataclass(frozen=True)
class View:
    """``host`` and the facts of its probe."""

    host: str
    facts: NodeFacts

    def unread(self, *subjects: str) -> str:
        """Why the facts about ``subjects`` are not there, in the words of the probe; empty when it does not say."""
        reasons = [f"{item.source}: {item.reason}" for item in self.facts.unread if item.subject in subjects]
        return "; ".join(dict.fromkeys(reasons))

    def missing(self, what: str, *subjects: str) -> str:
        """The sentence for something that could not be judged."""
        reason = self.unread(*subjects)
        return f"{what} could not be read" + (f" ({reason})" if reason else "")


def place(rail: BoundRail) -> str:
    """The rail's device in words: netdev first, since that is what an operator types."""
    return rail.netdev_name or (rail.rdma.name if rail.rdma else "") or rail.intent.name


def leaves(rail: BoundRail) -> str:
    """The leaf switches that the rail's ports are cabled to."""
    return ", ".join(dict.fromkeys(port.intent.leaf for port in rail.ports if port.intent.leaf))
