# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails to hardware: which NIC function, netdev and RDMA device of one node carry which rail of its intent."""

from __future__ import annotations

from typing import Iterable, Mapping, Optional

from ..model.base import Model
from ..model.facts import Netdev, NodeFacts, Pci, RdmaDevice, RdmaPort
from ..model.intent import DeviceMatch, NodeIntent, PortIntent, RailIntent
from ..records import dataclass, field


@dataclass(frozen=True, eq=False, repr=False)
class BoundPort(Model):
    """One port of a rail and what carries it. ``problem`` is empty, or says why it could not be bound."""

    intent: PortIntent
    pci: Optional[Pci]
    netdev: Optional[Netdev]
    rdma: Optional[RdmaDevice]
    port: Optional[RdmaPort]
    problem: str = ""

    @property
    def found(self) -> bool:
        """Whether the hardware is there at all, with or without a driver."""
        return self.pci is not None or self.netdev is not None or self.rdma is not None


@dataclass(frozen=True, eq=False, repr=False)
class BoundRail(Model):
    """A rail with its ports.

    ``netdev_name`` is the netdev that carries the rail's address: the port's, the bond's, or the VLAN's above them. For
    a bond or a VLAN that is not there yet it is the name that it will get, and ``netdev`` is ``None``.
    """

    intent: RailIntent
    ports: tuple[BoundPort, ...]
    netdev_name: Optional[str]
    netdev: Optional[Netdev]
    rdma: Optional[RdmaDevice]
    port: Optional[RdmaPort]

    @property
    def rdma_ports(self) -> tuple[tuple[RdmaDevice, RdmaPort], ...]:
        """All its RDMA ports, each once: over a bond they may be one or two."""
        seen: dict[tuple[str, int], tuple[RdmaDevice, RdmaPort]] = {}
        for device, port in ((self.rdma, self.port), *((item.rdma, item.port) for item in self.ports)):
            if device is not None and port is not None:
                seen.setdefault((device.name, port.number), (device, port))
        return tuple(seen.values())


def bond_name(rail: RailIntent) -> str:
    """Name of the rail's bond: the rail's own (the spec holds rail names to ten characters)."""
    return rail.name


def vlan_name(rail: RailIntent) -> str:
    """Name of the rail's VLAN device.

    Made from the rail and not from the netdev below: ``enp193s0f0np0.100`` would not fit into the 15 characters of an
    interface name (IFNAMSIZ, include/uapi/linux/if.h), ``<ten characters>.4094`` does.
    """
    return f"{rail.name}.{rail.vlan}"


def soft_name(rail: RailIntent) -> str:
    """Name of the rail's soft RoCE device."""
    return f"rxe_{rail.name}"


def bind(intent: NodeIntent, facts: NodeFacts) -> tuple[BoundRail, ...]:
    """Every rail of ``intent``, in its order, with the hardware of ``facts`` that carries it. Never raises."""
    hardware = _Hardware(facts)
    rails = tuple(_rail(rail, hardware) for rail in intent.rails)
    owners: dict[tuple[object, object, object], list[str]] = {}
    for bound in rails:
        for port in bound.ports:
            if port.found and not port.problem:
                owners.setdefault(_one(port), []).append(bound.intent.name)
    if all(len(names) == 1 for names in owners.values()):
        return rails
    return tuple(_undecided(bound, owners) for bound in rails)


def _one(port: BoundPort) -> tuple[object, object, object]:
    """What tells a port that was found from every other one of the node."""
    place = port.pci.address if port.pci else port.netdev.pci if port.netdev else port.rdma.pci if port.rdma else None
    return place, port.netdev.name if port.netdev else None, port.intent.rdma_port


def _undecided(rail: BoundRail, owners: Mapping[tuple[object, object, object], list[str]]) -> BoundRail:
    """The rail without the ports that another one has as well: whose they are is not ours to guess."""
    ports = []
    for port in rail.ports:
        names = owners[_one(port)] if port.found and not port.problem else []
        if len(names) > 1:
            found = port.netdev.name if port.netdev else port.pci.address if port.pci else "its RDMA device"
            problem = f"{found} is a port of {' and of '.join(names)}"
            ports.append(BoundPort(port.intent, port.pci, None, None, None, problem))
        else:
            ports.append(port)
    if all(port is was for port, was in zip(ports, rail.ports)):
        return rail
    return BoundRail(rail.intent, tuple(ports), None, None, None, None)


def describe(match: DeviceMatch) -> str:
    """A match in words: ``PCI address 0000:18:00.0 and MAC 52:54:00:00:01:01``."""
    words = {"pci": "PCI address", "slot": "slot", "path": "PCIe path", "mac": "MAC", "guid": "node GUID"}
    return " and ".join(f"{word} {getattr(match, key)}" for key, word in words.items() if getattr(match, key))


def plain_guid(guid: str) -> str:
    """The 16 hex digits of a GUID, however it was written (``0x…``, ``5254:00ff:fe00:0101``)."""
    return guid.lower().replace("0x", "", 1).replace(":", "")


@dataclass
class _Function:
    """One NIC function: what the facts say under one PCI address (or one netdev that has none)."""

    address: Optional[str]
    pci: Optional[Pci] = None
    netdevs: list[Netdev] = field(default_factory=list)
    rdma: list[RdmaDevice] = field(default_factory=list)

    def fits(self, match: DeviceMatch) -> bool:
        """Whether every key that is set in ``match`` holds."""
        if match.pci is not None and match.pci != self.address:
            return False
        if match.slot is not None and match.slot not in self._own("slot"):
            return False
        if match.path is not None and match.path not in self._own("path", "pcie_path"):
            return False
        if match.mac is not None and not any(_has_mac(netdev, match.mac) for netdev in self.netdevs):
            return False
        return match.guid is None or any(
            device.node_guid is not None and plain_guid(device.node_guid) == plain_guid(match.guid)
            for device in self.rdma
        )

    def _own(self, *names: str) -> list[object]:
        """Values of the named fields over everything that the function shows."""
        items: Iterable[object] = [self.pci, *self.netdevs, *self.rdma]
        return [getattr(item, name, None) for item in items for name in names]


class _Hardware:
    """The facts of a node, indexed once: binding stays linear in NICs and rails."""

    def __init__(self, facts: NodeFacts) -> None:
        self.facts = facts
        self.names: dict[str, Netdev] = {netdev.name: netdev for netdev in facts.netdevs or ()}
        self.soft: dict[str, list[RdmaDevice]] = {}
        self.functions: list[_Function] = []
        self._by_address: dict[str, _Function] = {}
        for pci in facts.pci or ():
            self._function(pci.address).pci = pci
        for netdev in facts.netdevs or ():
            # An IPoIB interface has a kind although the driver made it; VLANs, bonds and bridges are no hardware.
            if netdev.kind in (None, "ipoib"):
                self._function(netdev.pci).netdevs.append(netdev)
        for device in facts.rdma or ():
            if device.soft:
                self.soft.setdefault(device.parent or "", []).append(device)
            else:
                self._function(device.pci).rdma.append(device)

    def _function(self, address: Optional[str]) -> _Function:
        if address is not None and address in self._by_address:
            return self._by_address[address]
        function = _Function(address)
        self.functions.append(function)
        if address is not None:
            self._by_address[address] = function
        return function

    def find(self, port: PortIntent) -> tuple[Optional[_Function], str]:
        """The function that the first fitting alternative of ``port`` names, or why there is none."""
        for match in port.match:
            if match.pci is not None:
                candidates = [self._by_address[match.pci]] if match.pci in self._by_address else []
            else:
                candidates = self.functions
            fitting = [function for function in candidates if function.fits(match)]
            if len(fitting) > 1:
                found = ", ".join(str(function.address) for function in fitting)
                return None, f"{describe(match)} fits several NICs ({found}); add the PCI address"
            if fitting:
                return fitting[0], ""
        unread = [name for name in ("pci", "netdevs", "rdma") if getattr(self.facts, name) is None]
        wanted = " or ".join(describe(match) for match in port.match)
        if unread:
            return None, f"no NIC with {wanted} was seen, but {' and '.join(unread)} could not be read"
        return None, f"no NIC with {wanted} on this node"


def _rail(rail: RailIntent, hardware: _Hardware) -> BoundRail:
    ports = tuple(_port(rail, port, hardware) for port in rail.ports)
    first = ports[0] if ports else None
    carrier = first.netdev if first else None
    name = carrier.name if carrier else None
    if rail.bond is not None:
        master = next((port.netdev.master for port in ports if port.netdev and port.netdev.master), None)
        # A master that is no bond (a bridge, a VRF) does not carry the rail's address as its bond would.
        carrier = hardware.names.get(master or bond_name(rail))
        if carrier is not None and carrier.kind != "bond":
            carrier = None
        name = carrier.name if carrier else bond_name(rail)
    rdma, port = _rail_rdma(rail, ports, name, hardware)
    if rail.vlan is not None and name is not None:
        below = name
        name = vlan_name(rail)
        carrier = hardware.names.get(name)
        for netdev in hardware.names.values():
            if netdev.kind == "vlan" and netdev.vlan_id == rail.vlan and netdev.lower == below:
                carrier, name = netdev, netdev.name
                break
    return BoundRail(rail, ports, name, carrier, rdma, port)


def _rail_rdma(
    rail: RailIntent, ports: tuple[BoundPort, ...], name: Optional[str], hardware: _Hardware
) -> tuple[Optional[RdmaDevice], Optional[RdmaPort]]:
    """The rail's RDMA device: over a bond it may sit on one port's function only, or on the bond itself."""
    if rail.bond is not None:
        if rail.soft_roce:
            return _soft(rail, name, hardware)
        for bound in ports:
            if bound.port is not None and bound.port.netdev == name:
                return bound.rdma, bound.port
    return next(((bound.rdma, bound.port) for bound in ports if bound.rdma is not None), (None, None))


def _port(rail: RailIntent, port: PortIntent, hardware: _Hardware) -> BoundPort:
    function, problem = hardware.find(port)
    if function is None:
        return BoundPort(port, None, None, None, None, problem)
    rdma = function.rdma[0] if function.rdma else None
    rdma_port = _numbered(rdma, port.rdma_port)
    netdev, problem = _netdev(rail, port, function, rdma_port)
    if rail.soft_roce and rail.bond is None:
        rdma, rdma_port = _soft(rail, netdev.name if netdev else None, hardware)
    return BoundPort(port, function.pci, netdev, rdma, rdma_port, problem)


def _netdev(
    rail: RailIntent, port: PortIntent, function: _Function, rdma_port: Optional[RdmaPort]
) -> tuple[Optional[Netdev], str]:
    """The port's own netdev; a function shows several with two ports, SR-IOV representors or IPoIB children."""
    if len(function.netdevs) == 1:
        return function.netdevs[0], ""
    if not function.netdevs:
        # An InfiniBand rail needs no IPoIB to carry RDMA.
        if rail.transport == "infiniband":
            return None, ""
        where = function.address or "the NIC"
        driver = function.pci.driver if function.pci else None
        state = f"its driver {driver} shows no network device" if driver else "no driver holds it"
        return None, f"{where} is there, but {state}"
    for netdev in function.netdevs:
        if rdma_port is not None and rdma_port.netdev == netdev.name:
            return netdev, ""
    macs = [match.mac for match in port.match if match.mac is not None]
    for netdev in function.netdevs:
        if any(_has_mac(netdev, mac) for mac in macs):
            return netdev, ""
    if rail.transport == "infiniband":
        return min(function.netdevs, key=lambda netdev: netdev.ifindex), ""
    names = ", ".join(sorted(netdev.name for netdev in function.netdevs))
    return None, f"{function.address} has several network devices ({names}); add the MAC of the right one"


def _soft(
    rail: RailIntent, parent: Optional[str], hardware: _Hardware
) -> tuple[Optional[RdmaDevice], Optional[RdmaPort]]:
    """The soft RoCE device above a netdev: ours by name, or one that somebody else put there."""
    devices = hardware.soft.get(parent, []) if parent is not None else []
    ours = [device for device in devices if device.name == soft_name(rail)]
    device = next(iter(ours or devices), None)
    return device, _numbered(device, 1)


def _numbered(device: Optional[RdmaDevice], number: int) -> Optional[RdmaPort]:
    return next((port for port in device.ports if port.number == number), None) if device is not None else None


def _has_mac(netdev: Netdev, mac: str) -> bool:
    """A bond overwrites the MAC of its ports, so the permanent one counts where the driver has one."""
    return (netdev.permanent_mac or netdev.mac or "").lower() == mac.lower()
