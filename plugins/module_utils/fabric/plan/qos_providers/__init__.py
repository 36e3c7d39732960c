# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""How a NIC's lossless settings are written: one file a driver's interface, chosen by what the node offers."""

from __future__ import annotations

from typing import Optional, Protocol

from ...model.base import Model
from ...model.facts import Netdev, QosState
from ...model.intent import Qos
from ...model.plan import Action
from ...records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class RailPort(Model):
    """One netdev of a rail: its settings as they are, and what the rail wants.

    ``of`` tells it from the rail's other ports in a step: empty, or `` of ens4``.
    """

    rail: str
    netdev: Netdev
    state: QosState
    qos: Qos
    of: str = ""


class DcbProvider(Protocol):
    """Writes trust, DSCP map, ETS, buffers and PFC of a netdev; the same methods put former values back.

    ``sets_willing``: it can also have the NIC no longer adopt the peer's settings.
    """

    sets_willing: bool

    def take(self, netdev: str) -> tuple[Action, ...]:
        """Make the host the owner of DCBX."""

    def trust(self, netdev: str, trust: str, mapped: bool) -> tuple[Action, ...]:
        """Look at DSCP or PCP; ``mapped``: the NIC maps DSCPs already, so that mapping one does not do it."""

    def dscp(self, netdev: str, dscp: int, priorities: tuple[int, ...]) -> tuple[Action, ...]:
        """Map a DSCP to the priorities: to one, or to several as they were found."""

    def unmap(self, netdev: str, dscp: int, priority: int) -> tuple[Action, ...]:
        """Take a DSCP's priority away again."""

    def ets(
        self, netdev: str, prio_tc: tuple[int, ...], tsa: tuple[str, ...], share: tuple[int, ...], not_willing: bool
    ) -> tuple[Action, ...]:
        """Set traffic classes, all eight; ``not_willing``: stop adopting those of the peer as well."""

    def buffers(
        self, netdev: str, size: Optional[tuple[int, ...]], priority: Optional[tuple[int, ...]]
    ) -> tuple[Action, ...]:
        """Set the receive buffers' sizes, the priorities' buffers, or both."""

    def pfc(self, netdev: str, priorities: tuple[int, ...], cable_m: Optional[int]) -> tuple[Action, ...]:
        """Set the lossless priorities and, where given, the length of the cable, at once."""

    def reset_map(self, netdev: str) -> tuple[Action, ...]:
        """Forget all DSCPs, and look at PCP."""
