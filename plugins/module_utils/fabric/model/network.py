# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The netdevs of a rail as they should be: what every network manager is told, in its own words."""

from __future__ import annotations

from typing import Optional

from ..records import dataclass
from .base import Model
from .facts import Netdev, Route, RoutingRule
from .intent import Bond

PORT, BOND, VLAN = "port", "bond", "vlan"


@dataclass(frozen=True, eq=False, repr=False)
class Link(Model):
    """One netdev of a rail: a port, the bond over the ports, or the VLAN on top. Lower ones come before higher ones.

    ``name`` is the netdev's present name, or the one that a bond or a VLAN will get. ``netdev`` is what is there now.
    Addresses, routes and rules belong to the topmost link only. MTUs in bytes; ``None`` leaves the MTU alone.
    """

    rail: str
    kind: str  # PORT | BOND | VLAN
    name: str
    netdev: Optional[Netdev] = None
    mtu: Optional[int] = None
    master: Optional[str] = None  # the bond that a port belongs to
    bond: Optional[Bond] = None
    lower: Optional[str] = None  # the netdev below a VLAN
    vlan: Optional[int] = None
    addressing: str = "none"  # as in RailIntent, of the topmost link; "none" below it
    addresses: tuple[str, ...] = ()  # interface addresses, CIDR
    routes: tuple[Route, ...] = ()  # beside the subnet's own in the main table, which the kernel adds
    rules: tuple[RoutingRule, ...] = ()
    top: bool = True
