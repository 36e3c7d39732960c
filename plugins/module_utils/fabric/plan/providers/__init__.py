# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Back ends of the plan: one for each program that may own a node's network settings."""

from __future__ import annotations

from typing import Optional, Protocol

from ...errors import UnsupportedError
from ...model.facts import Netdev, NodeFacts
from ...model.plan import Action
from ...ports import Port
from ...resolve.bind import BoundRail
from .networkd import Networkd


class NetworkProvider(Protocol):
    """How one network manager is told about a rail."""

    def path(self, rail: str) -> str:
        """The file that holds the rail's settings."""
        ...

    def rail(self, path: str) -> str:
        """The rail that a file of ours is named after."""
        ...

    def present(self, port: Port) -> tuple[str, ...]:
        """Our files that are there, of whatever rail.

        :raises ReadError: when that cannot be told.
        """
        ...

    def netdev(self, text: str, netdevs: tuple[Netdev, ...]) -> Optional[Netdev]:
        """The netdev that a file of ours with this text is about, where it can be told."""
        ...

    def render(self, rail: BoundRail, netdev: Netdev, others: tuple[Netdev, ...]) -> str:
        """That file's text; ``others`` are all netdevs of the node, to tell the rail's from."""
        ...

    def settle(self, netdevs: tuple[str, ...]) -> tuple[Action, ...]:
        """Actions that make changed files effective on these netdevs, and on no others."""
        ...


def network_provider(facts: NodeFacts) -> NetworkProvider:
    """The provider for the program that owns the node's network.

    :raises UnsupportedError: when this version cannot drive it.
    """
    manager: Optional[str] = facts.system.network_manager
    if manager == "systemd-networkd":
        return Networkd()
    raise UnsupportedError(
        "rails are configured through systemd-networkd only in this version; netplan, NetworkManager and ifupdown "
        "will follow",
        "network manager of the node",
        manager or "none that is known",
        "Configure the rails by the site's own means and leave the role rail_network out: verify judges them as well",
    )
