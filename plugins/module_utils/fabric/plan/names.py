# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Which netdev and which RDMA device of a node gets which name, and what speaks against it."""

from __future__ import annotations

import re
from typing import Iterable, Optional, Union

from ..errors import RefusedError, SpecError
from ..model.facts import Netdev, NodeFacts, RdmaDevice
from ..model.intent import PortIntent
from ..records import dataclass
from ..resolve.bind import BoundPort, BoundRail, bond_name, plain_guid, vlan_name
from .protect import carries_management

# IFNAMSIZ (include/uapi/linux/if.h) and IB_DEVICE_NAME_MAX (include/rdma/ib_verbs.h) count the NUL at the end.
NETDEV_LENGTH, RDMA_LENGTH = 15, 63
# Names that the kernel gives by itself: a udev that renames into them races with the next device that comes up
# (systemd.link(5), Name=). "all" and "default" are folders of net.ipv4.conf (Documentation/networking/ip-sysctl.rst).
_KERNELS = re.compile(r"(eth|ib|wlan|wwan|usb|bond|dummy|ifb|tun|tap|veth|vlan|macvlan|macvtap|br|team|nlmon)[0-9]+")
_FOLDERS = ("all", "default", "lo", ".", "..")
_KERNELS_RDMA = re.compile(
    r"(mlx[45]|bnxt_re|irdma|hns|efa|erdma|mana|qedr|rxe|siw|hfi1|qib|cxgb4|usnic|vmw_pvrdma)_?[0-9]+"
)
_WORD = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class NetdevName:
    """The name that a port's netdev gets; ``match`` are the lines of a [Match] section that fit this netdev alone."""

    rail: str
    name: str
    netdev: Netdev
    match: tuple[str, ...]

    @property
    def now(self) -> str:
        """What the device is called today."""
        return self.netdev.name


@dataclass(frozen=True)
class RdmaName:
    """The name that a port's RDMA device gets, whether it is there by now or not; ``match`` are conditions of udev."""

    rail: str
    name: str
    device: Optional[RdmaDevice]
    match: str

    @property
    def now(self) -> str:
        """What the device is called today; empty when it is not there."""
        return self.device.name if self.device is not None else ""


def netdev_names(rails: tuple[BoundRail, ...], facts: NodeFacts) -> tuple[list[NetdevName], list[str]]:
    """The names of all ports' netdevs that are there, and notes about the others.

    :raises SpecError: for a name that no netdev may have.
    :raises RefusedError: when it would name the management link, or the name belongs to another device.
    """
    names: list[NetdevName] = []
    notes: list[str] = []
    netdevs = facts.netdevs or ()
    for rail, bound in _ports(rails):
        name, netdev = bound.intent.netdev, bound.netdev
        if name is None:
            continue
        reserved = name in _FOLDERS or name.isdigit() or _KERNELS.fullmatch(name)
        if len(name) > NETDEV_LENGTH or reserved or not _WORD.fullmatch(name):
            raise _unfit("a netdev", name, NETDEV_LENGTH, rail)
        if netdev is None:
            notes.append(f"{rail.intent.name}: no netdev is named {name}, because {bound.problem or 'it is not there'}")
            continue
        cut = carries_management(netdev, facts)
        if cut:
            raise RefusedError(
                f"{netdev.name} would be named {name}, and {cut[0]} carries the node's management or its default route",
                f"rail {rail.intent.name}",
                netdev.name,
                "Correct the rail's NIC in the hardware profile, or leave its name: naming.netdev: kernel",
            )
        names.append(NetdevName(rail.intent.name, name, netdev, link_match(bound.intent, netdev, netdevs)))
    _unique(names, {name: f"the {kind} of rail {rail}" for name, kind, rail in _uppers(rails)})
    moving = {item.now for item in names if item.now != item.name}
    for item in names:
        for other in netdevs:
            if other.name == item.now:
                continue
            if item.name in other.altnames or (item.name == other.name and other.name not in moving):
                raise _taken("netdev", item, other.name, other.pci or other.kind)
    return names, notes


def rdma_names(rails: tuple[BoundRail, ...], facts: NodeFacts) -> tuple[list[RdmaName], list[str]]:
    """The names of all ports' RDMA devices, as :func:`netdev_names`; soft RoCE devices have theirs already.

    Ports of one bond may share a device: it gets the name of the first. Several rails on one device cannot name it.
    """
    names: dict[str, RdmaName] = {}
    notes: list[str] = []
    for rail, bound in _ports(rails):
        name = bound.intent.rdma
        if name is None or rail.intent.soft_roce:
            continue
        if len(name) > RDMA_LENGTH or _KERNELS_RDMA.fullmatch(name) or not _WORD.fullmatch(name):
            raise _unfit("an RDMA device", name, RDMA_LENGTH, rail)
        match = rdma_match(bound)
        if match is None:
            notes.append(
                f"{rail.intent.name}: no RDMA device is named {name}, because {bound.problem or 'it is not there'}"
            )
            continue
        first = names.setdefault(match, RdmaName(rail.intent.name, name, bound.rdma, match))
        if first.rail != rail.intent.name:
            raise RefusedError(
                f"the ports of {first.rail} and {rail.intent.name} share one RDMA device, which can have one name only",
                f"rail {rail.intent.name}",
                first.now or match,
                "Leave the names of RDMA devices: naming.rdma: kernel",
            )
    found = list(names.values())
    _unique(found, {})
    moving = {item.now for item in found if item.now != item.name}
    for item in found:
        for other in facts.rdma or ():
            if other.name == item.name and other.name != item.now and other.name not in moving:
                raise _taken("RDMA device", item, other.name, other.pci)
    return found, notes


def link_match(port: PortIntent, netdev: Netdev, netdevs: tuple[Netdev, ...]) -> tuple[str, ...]:
    """[Match] lines for the netdev (systemd.link(5)), by what the profile knows it by.

    A profile that knows the NIC by its MAC wants the name to follow the card; any other wants it to stay with the
    place. What shares one PCI function (two ports, SR-IOV representors) is told apart by the MAC as well.
    """
    mac = netdev.permanent_mac or netdev.mac or ""
    places = [match for match in port.match if match.pci or match.slot or match.path]
    if netdev.pci is None or (mac and not places):
        return (f"PermanentMACAddress={mac}",)
    path = f"Path=pci-{netdev.pci} *-pci-{netdev.pci}"
    shared = any(other.pci == netdev.pci and other.name != netdev.name for other in netdevs)
    return (path, f"PermanentMACAddress={mac}") if shared and mac else (path,)


def rdma_match(bound: BoundPort) -> Optional[str]:
    """Conditions of udev for the port's RDMA device; ``None`` when nothing on this node tells it.

    The device path tells a function's own device from those of its subfunctions, which lie deeper below it.
    """
    guid = bound.rdma.node_guid if bound.rdma is not None else None
    pci = (bound.rdma and bound.rdma.pci) or (bound.pci and bound.pci.address) or (bound.netdev and bound.netdev.pci)
    if guid and (not pci or all(match.guid for match in bound.intent.match)):
        plain = plain_guid(guid)
        return f'ATTR{{node_guid}}=="{":".join(plain[at : at + 4] for at in range(0, 16, 4))}"'
    return f'DEVPATH=="*/{pci}/infiniband/*"' if pci else None


def _ports(rails: tuple[BoundRail, ...]) -> Iterable[tuple[BoundRail, BoundPort]]:
    return ((rail, port) for rail in rails for port in rail.ports)


def _uppers(rails: tuple[BoundRail, ...]) -> Iterable[tuple[str, str, str]]:
    for rail in rails:
        if rail.intent.bond is not None:
            yield bond_name(rail.intent), "bond", rail.intent.name
        if rail.intent.vlan is not None:
            yield vlan_name(rail.intent), "VLAN", rail.intent.name


def _unique(names: Iterable[Union[NetdevName, RdmaName]], taken: dict[str, str]) -> None:
    for item in names:
        if item.name in taken:
            raise SpecError(
                f"two devices would have this name: this one and {taken[item.name]}",
                f"rail {item.rail}",
                item.name,
                "Rename the rail",
            )
        taken[item.name] = f"{item.now or 'one'} of rail {item.rail}"


def _unfit(what: str, name: str, length: int, rail: BoundRail) -> SpecError:
    if len(name) > length:
        why = f"{what} has at most {length} characters in its name"
    else:
        why = f"{what} must not have this name: the kernel gives it, or it has a meaning of its own"
    return SpecError(why, f"rail {rail.intent.name}", name, "Rename the rail, or leave names alone (naming)")


def _taken(what: str, item: Union[NetdevName, RdmaName], holder: str, place: Optional[str]) -> RefusedError:
    where = f" ({place})" if place else ""
    return RefusedError(
        f"{item.now or 'its device'} cannot be named {item.name}: that name belongs to the {what} {holder}{where}",
        f"rail {item.rail}",
        item.name,
        "Give the other device another name, or rename the rail",
    )
