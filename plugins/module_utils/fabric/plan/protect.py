# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What no plan may touch: netdevs that carry the management of the node."""

from __future__ import annotations

from ..errors import RefusedError
from ..model.facts import Netdev, NodeFacts
from ..model.network import Link
from ..resolve.management import management_within
from ..resolve.prefix import network


def refuse_links(links: tuple[Link, ...], facts: NodeFacts) -> None:
    """Nothing, when a rail's links stand in nobody's way.

    :raises RefusedError: when one is a management netdev, lies below one, or takes the network of one, and when the
        name of a bond or VLAN that is to be made is taken.
    """
    known = {netdev.name: netdev for netdev in facts.netdevs or ()}
    for link in links:
        cut = carries_management(link.netdev, facts) if link.netdev is not None else []
        cut = cut or [name for name in (link.name, link.master, link.lower) if name in facts.management]
        if cut:
            raise _on_management(link.rail, link.name, cut[0])
        other = known.get(link.name)
        if other is not None and link.netdev is None:
            raise RefusedError(
                f"the name of its {link.kind} belongs to a {other.kind or 'NIC'} already",
                f"rail {link.rail}",
                link.name,
                "Rename that netdev, or the rail",
            )
        for address in link.addresses:
            within = management_within(address, facts)
            if within is not None:
                raise RefusedError(
                    f"its subnet {network(address)} holds {within[0]}'s address {within[1]}, which carries the node's "
                    "management: the way back to the controller would lead through the rail",
                    f"rail {link.rail}",
                    address,
                    "Give the rail another subnet",
                )


def refuse_management(rail: str, netdev: Netdev, facts: NodeFacts) -> None:
    """Nothing, when the netdev of a rail does not carry the management.

    :raises RefusedError: when it does.
    """
    cut = carries_management(netdev, facts)
    if cut:
        raise _on_management(rail, netdev.name, cut[0])


def _on_management(rail: str, name: str, cut: str) -> RefusedError:
    return RefusedError(
        f"{rail} is on {name}, and {cut} carries the node's management or its default route",
        f"rail {rail}",
        name,
        "Correct the rail's NIC in the hardware profile, or move the node's management elsewhere",
    )


def carries_management(netdev: Netdev, facts: NodeFacts) -> list[str]:
    """Management netdevs that a change of this one would cut: itself, its master, and what is on top of it."""
    above = {name for name in (netdev.name, netdev.master) if name}
    above |= {other.name for other in facts.netdevs or () if other.lower == netdev.name}
    return sorted(above & set(facts.management))
