# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Back ends of the plan: one for each program that may own a node's network settings."""

from __future__ import annotations

from typing import Protocol

from ...errors import UnsupportedError
from ...model.facts import Netdev, NodeFacts
from ...model.network import Link
from ...model.plan import Action, WriteFile
from ...ports import Port


class NetworkProvider(Protocol):
    """How one network manager is told about the links of a rail. Only ``present`` and ``obstacle`` read the node."""

    def present(self, port: Port) -> tuple[str, ...]:
        """Our files that are there, of whatever rail.

        :raises ReadError: when that cannot be told.
        """
        ...

    def obstacle(self, port: Port, links: tuple[Link, ...]) -> str:
        """What keeps these links from being configured on this node, and the remedy, as a sentence; empty for nothing.

        :raises ReadError: when that cannot be told.
        """
        ...

    def render(self, links: tuple[Link, ...], netdevs: tuple[Netdev, ...]) -> tuple[WriteFile, ...]:
        """All files of one rail, whose links come lower ones first; ``netdevs`` are all of the node.

        The text depends on the rail alone, and is the same before and after it was applied. A port is matched by its
        hardware where the network manager can do that. A bond port's own addresses go, and nothing but ``link.routes``
        leads through the rail: no default route, no name server, no router advertisements.
        """
        ...

    def rail(self, path: str) -> str:
        """The rail that a file of ours is named after."""
        ...

    def netdevs(self, texts: tuple[str, ...], netdevs: tuple[Netdev, ...]) -> tuple[Netdev, ...]:
        """The netdevs of ``netdevs`` that files of ours with these texts are about, where it can be told."""
        ...

    def settle(
        self, links: tuple[Link, ...], gone: tuple[Netdev, ...], removed: tuple[str, ...] = ()
    ) -> tuple[Action, ...]:
        """Actions that make changed files effective on these links, and on no others.

        ``links`` are all links of the rails that change, whole rails, lower ones first; ``link.netdev`` is ``None`` for
        one that is to be made. ``gone`` are netdevs that no link needs any more: ports of a rail that is no more, and
        bonds and VLANs; ``removed`` are files of ours that no rail wants any more. When the actions run, the files are
        written, and netdevs of kind bond and vlan in ``gone`` are deleted already. They run once more after a roll
        back, when the files are as they were before, possibly without any of ours: they must do no harm and not fail
        then.
        """
        ...


def network_provider(facts: NodeFacts) -> NetworkProvider:
    """The provider for the program that owns the node's network. Each is imported when it is needed.

    :raises UnsupportedError: when this version cannot drive it.
    """
    manager = facts.system.network_manager
    if manager == "systemd-networkd":
        from .networkd import Networkd  # noqa: PLC0415

        return Networkd()
    if manager == "ifupdown":
        from .ifupdown import Ifupdown  # noqa: PLC0415

        return Ifupdown()
    if manager == "netplan":
        from .netplan import Netplan  # noqa: PLC0415

        return Netplan()
    if manager == "NetworkManager":
        from .networkmanager import NetworkManager  # noqa: PLC0415

        return NetworkManager()
    raise UnsupportedError(
        "rails are configured through one of systemd-networkd, netplan, NetworkManager and ifupdown",
        "network manager of the node",
        manager or "none that is known",
        "Configure the rails by the site's own means and leave the role rail_network out: verify judges them as well",
    )
