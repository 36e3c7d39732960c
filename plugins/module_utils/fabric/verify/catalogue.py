# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Every rule there is, by its id: for documents, reports and contract tests. A node needs only what it imports."""

from __future__ import annotations

from . import address, cabling, fabric, hardware, host, leaf, links, pair, rail, routing, stack, uniform
from .rule import Rule

RULES: dict[str, Rule] = {
    rule.id: rule
    for module in (host, stack, hardware, links, rail, address, routing, fabric, cabling, uniform, pair, leaf)
    for rule in vars(module).values()
    if isinstance(rule, Rule)
}
