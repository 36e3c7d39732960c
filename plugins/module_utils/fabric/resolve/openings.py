# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a rail's peers send to: the one list that firewalls are opened by, and judged by."""

from __future__ import annotations

from ..model.intent import RailIntent
from .derive import FIRST_TEST_PORT, ROCE_PORT

# A probe knows no rails, only netdevs: it asks for the test ports of this many, and a site with more has them unknown.
MOST_RAILS = 16


def openings(rail: RailIntent) -> tuple[tuple[str, int], ...]:
    """Protocols and ports: RoCE v2 (IANA: roce), and the test server of ``prove`` on this rail."""
    return ("udp", ROCE_PORT), ("tcp", FIRST_TEST_PORT + rail.index)
