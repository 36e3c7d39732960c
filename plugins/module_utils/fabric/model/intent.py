# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What one node should be: the resolver's result, the document behind ``/etc/railwright/intent.json``."""

from __future__ import annotations

from typing import Optional

from ..records import dataclass, field
from .base import Model

SCHEMA = 1


@dataclass(frozen=True, eq=False, repr=False)
class DeviceMatch(Model):
    """How to find a NIC function; every key that is set must hold. No netdev name: names move, hardware does not."""

    pci: Optional[str] = None  # "0000:18:00.0"
    slot: Optional[str] = None  # the firmware's slot label
    path: Optional[str] = None  # PCIe path from the root port: "0000:15:01.0/0000:16:00.0"
    mac: Optional[str] = None  # permanent MAC, lower case
    guid: Optional[str] = None  # node GUID, "0x" + 16 hex digits


@dataclass(frozen=True, eq=False, repr=False)
class PortIntent(Model):
    """One port of a rail: the first entry of ``match`` that finds a function wins."""

    match: tuple[DeviceMatch, ...]
    rdma_port: int = 1
    leaf: Optional[str] = None
    netdev: Optional[str] = None  # the name that the port's netdev gets; None leaves it alone
    rdma: Optional[str] = None  # the name that its RDMA device gets; None leaves it alone


@dataclass(frozen=True, eq=False, repr=False)
class Bond(Model):
    """A bond over the rail's ports; ``mode`` is the kernel's name (802.3ad, active-backup …)."""

    mode: str
    lacp_rate: str = "fast"
    hash_policy: str = "layer3+4"
    miimon_ms: int = 100


@dataclass(frozen=True, eq=False, repr=False)
class TrafficClass(Model):
    """One ETS traffic class; ``share`` is a percentage, set for tsa ``ets`` only."""

    tc: int
    priorities: tuple[int, ...]
    tsa: str  # ets | strict
    share: Optional[int] = None


@dataclass(frozen=True, eq=False, repr=False)
class Qos(Model):
    """Lossless RoCE as one rail needs it. ``tos`` is a byte (DSCP << 2 | ECT), of IPv4's ToS and IPv6's traffic class.

    ``dcqcn`` holds parameters of congestion control that the site sets, by the names of the driver's files. What is to
    be done about others who own these settings: ``lldpad`` that runs and ``firmware_dcbx`` that owns the port are
    refused, or stopped and taken over. Where the kernel's ``lockdown`` closes congestion control, that is refused, or
    left to the NIC's own configuration.
    """

    profile: str  # pfc+dcqcn | pfc | dcqcn | lossy
    pfc: tuple[int, ...]  # lossless priorities
    ecn: tuple[int, ...]  # priorities under DCQCN
    data_dscp: int
    data_priority: int
    cnp_dscp: Optional[int]
    cnp_priority: Optional[int]
    tos: int
    traffic_classes: tuple[TrafficClass, ...]
    cable_length_m: Optional[int] = None
    dcqcn: dict[str, int] = field(default_factory=dict)
    buffer_size: tuple[int, ...] = ()  # of the eight receive buffers, in bytes; () leaves them to the driver
    prio_buffer: tuple[int, ...] = ()  # buffer of each priority; () leaves it to the driver
    provider: str = "auto"  # auto | dcb | mlnx_qos
    lldpad: str = "refuse"  # refuse | stop
    firmware_dcbx: str = "refuse"  # refuse | take
    lockdown: str = "refuse"  # refuse | firmware

    @property
    def dscp_prio(self) -> tuple[tuple[int, int], ...]:
        """(DSCP, priority) that must be mapped, sorted."""
        cnp = (
            ((self.cnp_dscp, self.cnp_priority),) if self.cnp_dscp is not None and self.cnp_priority is not None else ()
        )
        return tuple(sorted(((self.data_dscp, self.data_priority), *cnp)))

    @property
    def reserved(self) -> tuple[int, ...]:
        """Priorities of data and CNPs, sorted: no other DSCP may lead there, on hosts or on leaves."""
        return tuple(sorted({priority for _, priority in self.dscp_prio}))

    @property
    def prio_tc(self) -> tuple[int, ...]:
        """Traffic class of each of the eight priorities."""
        owner = {priority: entry.tc for entry in self.traffic_classes for priority in entry.priorities}
        return tuple(owner[priority] for priority in range(8))

    @property
    def tsa(self) -> tuple[str, ...]:
        """Transmission selection of each of the eight traffic classes; one that has no priority is strict."""
        named = {entry.tc: entry.tsa for entry in self.traffic_classes}
        return tuple(named.get(tc, "strict") for tc in range(8))

    @property
    def share(self) -> tuple[int, ...]:
        """Percentage of each of the eight traffic classes, 0 for one that is not ets."""
        named = {entry.tc: entry.share or 0 for entry in self.traffic_classes}
        return tuple(named.get(tc, 0) for tc in range(8))


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Model):
    """An InfiniBand partition; ``pkey`` without the membership bit."""

    name: str
    pkey: int
    ipoib: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class InfiniBand(Model):
    """What an InfiniBand rail expects of its subnet."""

    subnet_managers: str  # hosts | switch | ufm | external
    partitions: tuple[Partition, ...] = ()
    subnet_prefix: Optional[str] = None


@dataclass(frozen=True, eq=False, repr=False)
class RailIntent(Model):
    """One rail of one node.

    MTUs in bytes: ``host_mtu`` of the netdev, ``path_mtu`` of RDMA, ``switch_mtu`` of the leaf port. ``table`` is the
    rail's own routing table, where it needs one. ``driver`` and ``firmware`` are what its NIC must have, where the
    hardware profile says so.
    """

    name: str
    index: int
    fabric: str
    transport: str  # roce | infiniband
    ports: tuple[PortIntent, ...]
    host_mtu: Optional[int]
    switch_mtu: Optional[int]
    path_mtu: int
    addressing: str  # pool | p2p31 | external | dhcp | none
    addresses: tuple[str, ...] = ()  # interface addresses, CIDR
    gateways: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    families: tuple[int, ...] = (4,)
    speed_gbps: Optional[float] = None  # of one port
    table: Optional[int] = None
    driver: Optional[str] = None
    firmware: Optional[str] = None
    soft_roce: bool = False
    gpu: Optional[int] = None
    numa: Optional[int] = None
    bond: Optional[Bond] = None
    vlan: Optional[int] = None
    qos: Optional[Qos] = None
    infiniband: Optional[InfiniBand] = None


@dataclass(frozen=True, eq=False, repr=False)
class Acceptance(Model):
    """Bounds of ``prove``: ``bandwidth`` is a ratio of the line rate (<= 1) or an absolute value in Gbit/s."""

    bandwidth: float = 0.9
    latency_us: Optional[float] = None


@dataclass(frozen=True, eq=False, repr=False)
class Waiver(Model):
    """A finding that the site accepts for a while. ``until`` is an ISO date, the last day on which it holds."""

    rule: str
    reason: str
    until: str
    host: Optional[str] = None
    rail: Optional[str] = None


@dataclass(frozen=True, eq=False, repr=False)
class NodeIntent(Model):
    """The whole intent of one node."""

    schema: int
    core_version: str
    spec_name: str
    spec_hash: str
    host: str
    unit: str
    node_id: Optional[int]
    rails: tuple[RailIntent, ...]
    modules: tuple[str, ...] = ()
    storage_ulps: tuple[str, ...] = ()  # modules of RDMA storage that the site uses; the others are kept out
    memlock: str = "unlimited"
    acceptance: Acceptance = Acceptance()
    waivers: tuple[Waiver, ...] = ()
