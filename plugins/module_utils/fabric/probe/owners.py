# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Who else sets what Railwright sets on this node, and whose value the next boot brings."""

from __future__ import annotations

from typing import Optional, Sequence

from ..model.facts import Netdev, Owner
from ..parse.ip_address import HARDWARE
from .collect import Reader
from .owners_network import network_owners
from .owners_sysctl import sysctl_owners

_RAIL_KINDS = (*HARDWARE, "bond", "vlan")


def owners(
    reader: Reader, netdevs: Optional[Sequence[Netdev]], management: Sequence[str], network_manager: Optional[str]
) -> Optional[tuple[Owner, ...]]:
    """Files and programs of others that set kernel parameters, addresses or MTU of netdevs that may carry a rail.

    A netdev of the management is its owner's business. ``None`` when it is not known which netdevs there are.

    :param network_manager: as in the facts; it says whose files count.
    """
    if netdevs is None:
        return None
    ours = [netdev for netdev in netdevs if netdev.kind in _RAIL_KINDS and netdev.name not in management]
    found = sysctl_owners(reader, [netdev.name for netdev in ours])
    return (*found, *network_owners(reader, ours, network_manager))
