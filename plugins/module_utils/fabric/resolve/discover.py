# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""From live nodes to a first inventory: which NICs could be rails, which nodes are alike, which share leaf switches."""

from __future__ import annotations

import re
from typing import Mapping, Optional, Sequence

from ..errors import SpecError
from ..model.facts import Netdev, NodeFacts, Pci, RdmaDevice, RdmaPort
from ..records import dataclass, replace

ETHERNET, INFINIBAND = "Ethernet", "InfiniBand"


@dataclass(frozen=True)
class Candidate:
    """A NIC that could be a rail. ``ports`` are PCI addresses; ``leaves`` the switches that LLDP saw, by port."""

    layer: str
    ports: tuple[str, ...]
    rdma_port: int = 1
    netdev: Optional[str] = None
    rate_gbps: Optional[float] = None
    mtu: Optional[int] = None
    max_mtu: Optional[int] = None
    addresses: tuple[str, ...] = ()
    leaves: tuple[Optional[str], ...] = ()
    bond: Optional[str] = None
    numa: Optional[int] = None
    gpu: Optional[int] = None
    name: str = ""


@dataclass(frozen=True)
class Node:
    """One node, its rails named, and the names of its hardware model and unit."""

    host: str
    rails: tuple[Candidate, ...]
    product: str
    model: str = ""
    unit: str = ""

    @property
    def layout(self) -> tuple[object, ...]:
        """What two nodes must have in common to share a hardware profile."""
        return self.product, tuple((c.name, c.layer, c.ports, c.rdma_port, c.gpu, c.numa) for c in self.rails)

    @property
    def names(self) -> tuple[str, ...]:
        """The rails' names."""
        return tuple(rail.name for rail in self.rails)

    @property
    def leaves(self) -> set[str]:
        """All leaf switches that the node's rails see."""
        return {leaf for rail in self.rails for leaf in rail.leaves if leaf}


def discover(facts: Mapping[str, NodeFacts], soft_roce: bool = False) -> tuple[Node, ...]:
    """The nodes in the order of their names, numbers inside names by value.

    Rails are RDMA-capable NICs that do not carry management, InfiniBand before Ethernet, each by PCI address. With
    ``soft_roce``, plain Ethernet NICs are taken: those with a PCI address that do not carry management.

    :raises SpecError: when no node was read, or one has no NIC that could be a rail.
    """
    if not facts:
        raise SpecError("no node was read", "discover", remedy="Name reachable nodes with --limit or in the inventory.")
    found = {}
    for host in sorted(facts, key=natural):
        found[host] = soft_candidates(facts[host]) if soft_roce else candidates(facts[host])
        if not found[host]:
            raise SpecError(_nothing(facts[host], soft_roce), host, remedy=_advice(facts[host], soft_roce))
    mixed = len({candidate.layer for own in found.values() for candidate in own}) > 1
    nodes = [Node(host, name_rails(own, mixed), sanitize(facts[host].system.product)) for host, own in found.items()]
    return _units(_models(nodes))


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key that puts ``node2`` before ``node10``."""
    return tuple((int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name))


def sanitize(product: Optional[str]) -> str:
    """A product's name as part of a group's name: ``PowerEdge XE9680`` -> ``poweredge_xe9680``."""
    return re.sub(r"[^a-z0-9]+", "_", (product or "").lower()).strip("_") or "node"


def candidates(facts: NodeFacts) -> tuple[Candidate, ...]:
    """RDMA ports on hardware that does not carry management."""
    found = []
    for device in facts.rdma or ():
        if device.soft or device.pci is None:
            continue
        on_function = [netdev for netdev in facts.netdevs or () if netdev.pci == device.pci]
        for port in device.ports:
            carriers = {port.netdev, *(netdev.name for netdev in on_function)}
            if not carriers & set(facts.management):
                found.append(_candidate(facts, device, port, on_function))
    return tuple(sorted(found, key=lambda found: (found.layer != INFINIBAND, found.ports, found.rdma_port)))


def soft_candidates(facts: NodeFacts) -> tuple[Candidate, ...]:
    """Plain Ethernet NICs that do not carry management."""
    found = []
    for netdev in facts.netdevs or ():
        if netdev.kind is None and netdev.pci and netdev.mac and netdev.name not in facts.management:
            rate = netdev.speed_mbps / 1000 if netdev.speed_mbps else None
            found.append(_describe(facts, Candidate(ETHERNET, (netdev.pci,), rate_gbps=rate), (netdev,), netdev))
    return tuple(sorted(found, key=lambda found: found.ports))


def name_rails(found: Sequence[Candidate], mixed: bool) -> tuple[Candidate, ...]:
    """Names: ``rail0`` and on; where InfiniBand and Ethernet meet (``mixed``), Ethernet rails are ``store0`` and on."""
    counts: dict[str, int] = {}
    named = []
    for candidate in found:
        stem = "store" if mixed and candidate.layer == ETHERNET else "rail"
        named.append(replace(candidate, name=f"{stem}{counts.get(stem, 0)}"))
        counts[stem] = counts.get(stem, 0) + 1
    return tuple(named)


def _candidate(facts: NodeFacts, device: RdmaDevice, port: RdmaPort, on_function: Sequence[Netdev]) -> Candidate:
    named = {netdev.name: netdev for netdev in facts.netdevs or ()}
    carrier = named.get(port.netdev or "") or next(iter(on_function), None)
    members: tuple[Netdev, ...] = () if carrier is None else (carrier,)
    addresses: tuple[str, ...] = (device.pci or "",)
    if carrier is not None and carrier.kind == "bond":
        # One RDMA device stands for the whole bond, and sits on the first of its functions.
        found = (netdev for netdev in named.values() if netdev.master == carrier.name and netdev.pci)
        members = tuple(sorted(found, key=lambda netdev: netdev.pci or ""))
        addresses = tuple(sorted({*addresses, *(netdev.pci for netdev in members if netdev.pci)}))
    rough = Candidate(port.link_layer or ETHERNET, addresses, port.number, rate_gbps=port.rate_gbps, numa=device.numa)
    return replace(
        _describe(facts, rough, members, carrier),
        bond=carrier.bond.mode if carrier is not None and carrier.bond is not None else None,
    )


def _describe(facts: NodeFacts, rough: Candidate, members: Sequence[Netdev], carrier: Optional[Netdev]) -> Candidate:
    seen = {neighbour.netdev: neighbour.system for neighbour in facts.lldp or ()}
    numa = rough.numa if rough.numa is not None else next((n.numa for n in members if n.numa is not None), None)
    path = next((pci.path for pci in facts.pci or () if pci.address == rough.ports[0]), None)
    described = replace(
        rough, numa=numa, gpu=nearest(path, facts.accelerators or ()), leaves=tuple(seen.get(n.name) for n in members)
    )
    if carrier is None:
        return described
    addresses = tuple(address for address in carrier.addresses if not address.startswith(("fe80:", "169.254.")))
    return replace(described, netdev=carrier.name, mtu=carrier.mtu, max_mtu=carrier.max_mtu, addresses=addresses)


def nearest(path: Optional[str], accelerators: Sequence[Pci]) -> Optional[int]:
    """Index of the one accelerator that shares the longest PCIe path with a NIC; ``None`` when none or several do.

    Accelerators are counted in the order of their PCI addresses, as CUDA_DEVICE_ORDER=PCI_BUS_ID does.
    """
    shared = [_common(path, accelerator.path) for accelerator in accelerators]
    best = max(shared, default=0)
    return shared.index(best) if best and shared.count(best) == 1 else None


def _common(one: Optional[str], other: Optional[str]) -> int:
    count = 0
    for left, right in zip((one or "").split("/"), (other or "").split("/")):
        if not left or left != right:
            break
        count += 1
    return count


def _models(nodes: Sequence[Node]) -> list[Node]:
    """Nodes of one layout share a model; a product with several layouts gets ``_b``, ``_c`` … for the later ones."""
    names: dict[tuple[object, ...], str] = {}
    for node in nodes:
        if node.layout not in names:
            number = sum(layout[0] == node.product for layout in names)
            names[node.layout] = node.product + (f"_{chr(ord('a') + number)}" if 0 < number < 26 else "")
            if number >= 26:
                names[node.layout] = f"{node.product}_{number}"
    return [replace(node, model=names[node.layout]) for node in nodes]


def _units(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes that share a leaf switch, directly or over others, are one unit; those without LLDP go to the first.

    All nodes of a unit have the same rails, so nodes with other rails are in other units.
    """
    groups: list[tuple[tuple[str, ...], set[str]]] = []
    for node in nodes:
        if not node.leaves:
            continue
        touching = [group for group in groups if group[0] == node.names and group[1] & node.leaves]
        whole = (node.names, node.leaves.union(*(leaves for _, leaves in touching)))
        if touching:
            groups = [whole if group == touching[0] else group for group in groups if group not in touching[1:]]
        else:
            groups.append(whole)
    for node in nodes:
        if node.names not in [names for names, _ in groups]:
            groups.append((node.names, set()))
    return tuple(replace(node, unit=f"su{_unit(groups, node) + 1}") for node in nodes)


def _unit(groups: Sequence[tuple[tuple[str, ...], set[str]]], node: Node) -> int:
    own = [number for number, (names, _) in enumerate(groups) if names == node.names]
    return next((number for number in own if groups[number][1] & node.leaves), own[0])


def _nothing(facts: NodeFacts, soft_roce: bool) -> str:
    section = facts.netdevs if soft_roce else facts.rdma
    if section is None:
        return "its NICs could not be read: " + "; ".join(f"{entry.source}: {entry.reason}" for entry in facts.unread)
    return "it has no NIC that could be a rail beside its management"


def _advice(facts: NodeFacts, soft_roce: bool) -> str:
    if soft_roce:
        return f"Management is {', '.join(facts.management) or 'unknown'}; add a NIC, or leave the node out."
    return "Load the NICs' RDMA driver, or set discover_soft_roce=true to take plain Ethernet NICs."
