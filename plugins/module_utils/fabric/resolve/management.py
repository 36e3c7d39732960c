# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a rail's network would take from the node's management."""

from __future__ import annotations

from typing import Optional

from ..model.facts import NodeFacts
from .prefix import holds, network


def management_within(address: str, facts: NodeFacts) -> Optional[tuple[str, str]]:
    """The management netdev, and its address, that a rail's address in CIDR notation has in its subnet."""
    subnet = network(address)
    for netdev in facts.netdevs or ():
        if netdev.name in facts.management:
            for own in netdev.addresses:
                if holds(subnet, own.partition("/")[0]):
                    return netdev.name, own
    return None
