# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A bound rail as the stack of netdevs that carries it: ports, the bond over them, the VLAN on top."""

from __future__ import annotations

from typing import Optional

from ..model.facts import Netdev
from ..model.intent import Bond
from ..model.network import BOND, PORT, VLAN, Link
from ..records import replace
from ..resolve.bind import BoundRail, bond_name
from ..resolve.routes import wanted


def rail_links(rail: BoundRail, netdevs: tuple[Netdev, ...]) -> tuple[Link, ...]:
    """The rail's netdevs, lower ones first; empty when a port has no netdev.

    Every layer gets the rail's MTU: a VLAN must not have more than what is below it, and a bond hands its own to its
    ports (kernel drivers/net/bonding/bond_main.c, bond_change_mtu()).
    """
    intent, top = rail.intent, rail.netdev_name
    ports = tuple(port.netdev for port in rail.ports if port.netdev is not None)
    if top is None or not ports or len(ports) != len(rail.ports):
        return ()
    known = {netdev.name: netdev for netdev in netdevs}
    bond = _bond_name(rail, ports, known) if intent.bond is not None else None
    name, mtu = intent.name, intent.host_mtu
    links = [Link(name, PORT, port.name, port, mtu, master=bond, top=False) for port in ports]
    if bond is not None:
        links.append(Link(name, BOND, bond, _of_kind(known.get(bond), BOND), mtu, bond=intent.bond, top=False))
    if intent.vlan is not None:
        lower = links[-1].name
        links.append(
            Link(name, VLAN, top, _of_kind(known.get(top), VLAN), mtu, lower=lower, vlan=intent.vlan, top=False)
        )
    routes, rules = wanted(intent, links[-1].name)
    highest = replace(
        links[-1],
        top=True,
        addressing=intent.addressing,
        addresses=intent.addresses,
        routes=routes,
        rules=rules,
    )
    return (*links[:-1], highest)


def bond_options(bond: Bond) -> dict[str, str]:
    """The options that the bond's mode has, by the kernel's names (Documentation/networking/bonding.rst)."""
    options = {"mode": bond.mode, "miimon": str(bond.miimon_ms)}
    if bond.mode == "802.3ad":
        options["lacp_rate"] = bond.lacp_rate
    if bond.mode in ("802.3ad", "balance-xor"):
        options["xmit_hash_policy"] = bond.hash_policy
    return options


def lag_note(links: tuple[Link, ...]) -> str:
    """What keeps a bond of mlx5 ports from being one RDMA device; empty when nothing is seen.

    The driver joins ports of one NIC only (kernel drivers/net/ethernet/mellanox/mlx5/core/dev.c, mlx5_same_hw_devs()).
    """
    ports = [link.netdev for link in links if link.master is not None and link.netdev is not None]
    nics = sorted({(port.pci or "").rpartition(".")[0] for port in ports})
    if len(nics) < 2 or any(port.driver != "mlx5_core" or port.pci is None for port in ports):
        return ""
    return (
        f"{links[0].rail}: the ports of its bond are on {len(nics)} NICs ({', '.join(nics)}), and RoCE over a bond "
        "needs both on one: RDMA will not follow the bond when a port fails"
    )


def _bond_name(rail: BoundRail, ports: tuple[Netdev, ...], known: dict[str, Netdev]) -> str:
    """The bond that holds the ports already, whoever named it, or the rail's own name."""
    masters = (known.get(port.master) for port in ports if port.master is not None)
    return next((master.name for master in masters if master is not None and master.kind == "bond"), None) or bond_name(
        rail.intent
    )


def _of_kind(netdev: Optional[Netdev], kind: str) -> Optional[Netdev]:
    """The netdev, unless its name belongs to something else."""
    return netdev if netdev is not None and netdev.kind == kind else None
