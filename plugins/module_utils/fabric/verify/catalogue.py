# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Every rule there is, by its id: for documents, reports and contract tests. A node needs only what it imports."""

from __future__ import annotations

from . import (
    address,
    cabling,
    counters,
    fabric,
    firewall,
    hardware,
    host,
    leaf,
    links,
    pair,
    pair_class,
    qos_counters,
    qos_fabric,
    qos_rules,
    rail,
    routing,
    stack,
    switches,
    uniform,
    waive,
)
from .rule import Rule

_LOCAL = (host, waive, stack, hardware, links, rail, address, routing, firewall, qos_rules, counters, qos_counters)
_ACROSS = (fabric, cabling, uniform, qos_fabric, pair, pair_class, leaf, switches)
RULES: dict[str, Rule] = {
    rule.id: rule for module in (*_LOCAL, *_ACROSS) for rule in vars(module).values() if isinstance(rule, Rule)
}
