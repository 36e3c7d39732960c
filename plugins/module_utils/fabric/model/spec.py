# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a site writes down: the fabric spec in the shape of its YAML, and what a host adds to it.

A value that YAML may give as one or as a list (``subnet``, ``gateway``, ``aggregate``, ``leaf``) is a tuple here.
Units are those of schemas/fabric_spec.schema.json: MTUs in bytes, ``400G`` in Gbit/s, ``7m`` in metres.
"""

from __future__ import annotations

from typing import Optional

from ..records import dataclass, field
from .intent import Acceptance, Bond, Partition, PortIntent, TrafficClass, Waiver
from .switch import SwitchSpec

SCHEMA = 1


@dataclass(frozen=True)
class Link:
    """A node's link into a fabric; ``host_mtu`` is set for RoCE only."""

    speed: Optional[str] = None
    host_mtu: Optional[int] = None


@dataclass(frozen=True)
class Marking:
    """A code point and the priority that it maps to."""

    dscp: int
    priority: int


@dataclass(frozen=True)
class Buffers:
    """Receive buffers of a NIC: bytes of each of the eight, and the one that each priority goes to."""

    size: tuple[int, ...] = ()
    priority: tuple[int, ...] = ()


@dataclass(frozen=True)
class QosHost:
    """How nodes are set, and what is done about others who own these settings."""

    provider: str = "auto"  # auto | dcb | mlnx_qos
    lldpad: str = "refuse"  # refuse | stop
    firmware_dcbx: str = "refuse"  # refuse | take
    lockdown: str = "refuse"  # refuse | firmware


@dataclass(frozen=True)
class QosSpec:
    """Traffic classes and congestion control. What depends on the NIC's make is left open where the spec is silent.

    ``cnp`` is ``None`` without DCQCN, and where it follows from the NIC; so do ``traffic_classes`` that are ``()``.
    """

    profile: str  # pfc+dcqcn | pfc | dcqcn | lossy
    data: Marking
    pfc: tuple[int, ...] = ()
    traffic_classes: tuple[TrafficClass, ...] = ()
    cnp: Optional[Marking] = None
    dcqcn: dict[str, int] = field(default_factory=dict)
    buffers: Buffers = Buffers()
    host: QosHost = QosHost()
    switch: SwitchSpec = SwitchSpec()
    cable_length: Optional[str] = None

    @property
    def with_dcqcn(self) -> bool:
        """Whether switches mark and senders slow down."""
        return "dcqcn" in self.profile


@dataclass(frozen=True)
class InfiniBandSpec:
    """An InfiniBand subnet; ``routing`` are the subnet manager's engines, the preferred one first."""

    subnet_managers: str  # hosts | switch | ufm | external
    partitions: tuple[Partition, ...] = ()
    routing: tuple[str, ...] = ()
    subnet_prefix: Optional[str] = None
    mtu: int = 4096


@dataclass(frozen=True)
class Addressing:
    """Where addresses come from."""

    mode: str  # pool | p2p31 | external | dhcp | none
    families: tuple[int, ...] = (4,)


@dataclass(frozen=True)
class Fabric:
    """One network; ``addressing`` goes before the spec's own."""

    transport: str  # roce | infiniband
    link: Link = Link()
    qos: Optional[QosSpec] = None
    infiniband: Optional[InfiniBandSpec] = None
    addressing: Optional[Addressing] = None


@dataclass(frozen=True)
class Naming:
    """Who names the devices of RoCE rails: the rail, or the kernel and its udev rules as they are."""

    netdev: str = "kernel"  # rail | kernel
    rdma: str = "kernel"  # rail | kernel


@dataclass(frozen=True)
class Vlan:
    """An IEEE 802.1Q tag."""

    id: int


@dataclass(frozen=True)
class Rail:
    """One rail of every node."""

    name: str
    fabric: str
    bond: Optional[Bond] = None
    vlan: Optional[Vlan] = None


@dataclass(frozen=True)
class UnitRail:
    """A rail in one unit: at most one subnet, gateway and aggregate per family; one leaf, or one per port."""

    subnet: tuple[str, ...] = ()
    gateway: tuple[str, ...] = ()
    aggregate: tuple[str, ...] = ()
    leaf: tuple[str, ...] = ()


@dataclass(frozen=True)
class FabricSpec:
    """The whole spec. :func:`..resolve.spec.load` makes it, and vouches that it does not contradict itself."""

    schema: int
    name: str
    fabrics: dict[str, Fabric]
    rails: tuple[Rail, ...]
    units: dict[str, dict[str, UnitRail]]
    addressing: Addressing
    acceptance: Acceptance = field(default_factory=Acceptance)
    waivers: tuple[Waiver, ...] = ()
    naming: Naming = Naming()
    storage_ulps: tuple[str, ...] = ()

    def addressing_of(self, rail: Rail) -> Addressing:
        """The addressing that holds for a rail."""
        return self.fabrics[rail.fabric].addressing or self.addressing


@dataclass(frozen=True)
class RailHardware:
    """The NIC ports of one rail, and the driver and firmware that they must have."""

    ports: tuple[PortIntent, ...]
    driver: Optional[str] = None
    firmware: Optional[str] = None
    gpu: Optional[int] = None
    numa: Optional[int] = None


@dataclass(frozen=True)
class HardwareProfile:
    """Where the rails are in one model of node."""

    model: str
    rails: dict[str, RailHardware]
    soft_roce: bool = False


@dataclass(frozen=True)
class Host:
    """What the inventory says of one host; its overrides are applied to ``profile`` already."""

    name: str
    unit: str
    profile: HardwareProfile
    node_id: Optional[int] = None
    addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)
