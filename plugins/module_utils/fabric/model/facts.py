# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node is: the result of a probe. ``None`` means "could not be read"; ``unread`` says why."""

from __future__ import annotations

from typing import Optional

from ..records import dataclass, field
from .base import Model


@dataclass(frozen=True, eq=False, repr=False)
class Unread(Model):
    """Something that a probe could not read.

    ``source`` is the file or command line, ``reason`` what happened, ``subject`` what it is about: a section of the
    facts (``rdma``, ``netdevs`` …) or a device name.
    """

    source: str
    reason: str
    subject: str


@dataclass(frozen=True, eq=False, repr=False)
class Gid(Model):
    """One non-zero entry of a port's GID table; ``kind`` is the kernel's word: ``IB/RoCE v1`` or ``RoCE v2``."""

    index: int
    gid: str
    kind: Optional[str] = None
    netdev: Optional[str] = None


@dataclass(frozen=True, eq=False, repr=False)
class RdmaPort(Model):
    """One port of an RDMA device. ``rate_gbps`` is the total rate (Gbit/s), MTUs are in bytes."""

    number: int
    state: Optional[str] = None  # DOWN | INIT | ARMED | ACTIVE
    physical_state: Optional[str] = None  # the kernel's word: LinkUp, Disabled, Polling …
    link_layer: Optional[str] = None  # Ethernet | InfiniBand
    rate_gbps: Optional[float] = None
    lanes: Optional[int] = None
    active_mtu: Optional[int] = None
    max_mtu: Optional[int] = None
    lid: Optional[int] = None
    sm_lid: Optional[int] = None
    netdev: Optional[str] = None
    gids: tuple[Gid, ...] = ()
    cm_tos: Optional[int] = None  # RDMA-CM's default ToS byte; None: its configfs folder is not there, so nobody set it
    cm_mode: Optional[str] = None  # RDMA-CM's default GID type: "RoCE v2" | "IB/RoCE v1"; None as above
    traffic_class: Optional[int] = None  # of all queue pairs, where the driver has that file (OFED); -1: none is set
    counters: dict[str, int] = field(default_factory=dict)
    hw_counters: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class RdmaDevice(Model):
    """One RDMA device. ``pci`` is ``dddd:bb:dd.f``; ``soft`` is true for rxe and siw."""

    name: str
    node_guid: Optional[str] = None
    sys_image_guid: Optional[str] = None
    firmware: Optional[str] = None
    hca_type: Optional[str] = None
    board_id: Optional[str] = None
    driver: Optional[str] = None
    soft: bool = False
    pci: Optional[str] = None
    pcie_path: Optional[str] = None  # from the root port to this function: "0000:15:01.0/0000:16:00.0/0000:17:00.0"
    numa: Optional[int] = None
    parent: Optional[str] = None  # the netdev below a soft device
    ports: tuple[RdmaPort, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class BondState(Model):
    """Settings of a bond as the kernel has them; ``aggregator_ports`` are in the active aggregator (802.3ad only)."""

    mode: Optional[str] = None
    lacp_rate: Optional[str] = None  # slow | fast
    hash_policy: Optional[str] = None  # layer3+4 …
    miimon_ms: Optional[int] = None
    aggregator: Optional[int] = None
    aggregator_ports: Optional[int] = None
    active_port: Optional[str] = None  # active-backup only


@dataclass(frozen=True, eq=False, repr=False)
class BondPortState(Model):
    """A port as its bond sees it."""

    state: Optional[str] = None  # ACTIVE | BACKUP
    mii: Optional[str] = None  # UP | GOING_DOWN | DOWN | GOING_BACK
    failures: Optional[int] = None  # link failures since it joined
    aggregator: Optional[int] = None


@dataclass(frozen=True, eq=False, repr=False)
class Netdev(Model):
    """One network device. ``speed_mbps`` is ``None`` where the driver does not know it (virtio says -1)."""

    name: str
    ifindex: int
    mac: Optional[str] = None
    permanent_mac: Optional[str] = None
    mtu: Optional[int] = None
    max_mtu: Optional[int] = None
    operstate: Optional[str] = None  # UP | DOWN | LOWERLAYERDOWN | UNKNOWN …
    carrier: Optional[bool] = None
    admin_up: Optional[bool] = None
    speed_mbps: Optional[int] = None
    driver: Optional[str] = None
    firmware: Optional[str] = None
    pci: Optional[str] = None
    pcie_path: Optional[str] = None
    numa: Optional[int] = None
    slot: Optional[str] = None
    kind: Optional[str] = None  # vlan, bond, bridge … ; None for a physical device
    lower: Optional[str] = None  # the device below a VLAN
    master: Optional[str] = None
    vlan_id: Optional[int] = None
    bond: Optional[BondState] = None  # of a bond
    bond_port: Optional[BondPortState] = None  # of a port of a bond
    altnames: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()  # "10.0.0.1/24", link-local ones included


@dataclass(frozen=True, eq=False, repr=False)
class Pci(Model):
    """One PCI function of a network class (02xx) or an RDMA one, whether a driver holds it or not.

    ``speed_gts`` and ``width`` are the link's (GT/s a lane, lanes), ``max_…`` what the function is capable of.
    """

    address: str
    vendor: str
    device: str
    driver: Optional[str] = None
    slot: Optional[str] = None
    numa: Optional[int] = None
    path: Optional[str] = None
    speed_gts: Optional[float] = None
    width: Optional[int] = None
    max_speed_gts: Optional[float] = None
    max_width: Optional[int] = None


@dataclass(frozen=True, eq=False, repr=False)
class Route(Model):
    """One unicast route of any table but ``local``. ``destination`` is CIDR; the default ones are written out."""

    destination: str  # "10.20.0.0/16", "0.0.0.0/0", "::/0"
    netdev: Optional[str]
    gateway: Optional[str] = None
    table: int = 254
    metric: int = 0
    source: Optional[str] = None  # preferred source address


@dataclass(frozen=True, eq=False, repr=False)
class RoutingRule(Model):
    """One rule of the routing policy; ``source`` is CIDR, ``None`` for all.

    ``selectors`` are its other conditions in the words of ip-rule(8): ``iif eth0``, ``fwmark 0x1``, ``to 10.9.0.0/16``.
    A rule that names no table has table 0 and an ``action``: ``blackhole``, ``goto 1000``, ``l3mdev`` …
    """

    priority: int
    table: int
    source: Optional[str] = None
    family: int = 4
    selectors: tuple[str, ...] = ()
    action: Optional[str] = None


@dataclass(frozen=True, eq=False, repr=False)
class Filtered(Model):
    """What becomes of a first packet to a port that comes in on a netdev, from the subnet of ``address`` to it.

    ``unknown``: it depends on more than the ruleset says. ``rule`` is the one that closes the port, or may do so.
    """

    netdev: str
    address: str
    protocol: str  # udp | tcp
    port: int
    state: str  # open | closed | unknown
    rule: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Firewall(Model):
    """What filters packets that come in, and what it does to those that rails live by."""

    backend: str  # firewalld | ufw | nftables | iptables
    ports: tuple[Filtered, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Service(Model):
    """A systemd unit of interest that is there. Limits in bytes: ``None`` when it does not run, -1 for infinity."""

    name: str
    state: Optional[str] = None  # active | inactive | failed | activating
    memlock: Optional[int] = None
    enabled: Optional[bool] = None  # starts at boot; told of the node agent's unit alone


@dataclass(frozen=True, eq=False, repr=False)
class Module(Model):
    """The transceiver or cable of a netdev. Powers in dBm by lane, temperature in degrees Celsius."""

    netdev: str
    kind: Optional[str] = None  # "QSFP112", "passive copper" …
    vendor: Optional[str] = None
    part: Optional[str] = None
    serial: Optional[str] = None
    temperature: Optional[float] = None
    rx_dbm: tuple[float, ...] = ()
    tx_dbm: tuple[float, ...] = ()
    alarms: tuple[str, ...] = ()  # "laser rx power low alarm" …
    raw_ber: Optional[float] = None
    effective_ber: Optional[float] = None
    symbol_ber: Optional[float] = None


@dataclass(frozen=True, eq=False, repr=False)
class QosState(Model):
    """Lossless settings of one physical netdev as they are.

    ``None``: the driver has no such setting, or it could not be read; then ``unread`` says so with the netdev as
    subject. Tuples of eight go by priority or by traffic class, sizes are in bytes.
    """

    netdev: str
    dcbx: Optional[tuple[str, ...]] = None  # host | lld_managed | cee | ieee | static; the firmware's without host
    willing: Optional[bool] = None  # adopts the peer's ETS and PFC
    trust: Optional[str] = None  # dscp | pcp
    dscp_prio: Optional[tuple[tuple[int, int], ...]] = None  # (DSCP, priority), sorted; a DSCP may be there twice
    prio_tc: Optional[tuple[int, ...]] = None
    tsa: Optional[tuple[str, ...]] = None  # by TC: ets | strict | vendor | cbs
    share: Optional[tuple[int, ...]] = None  # by TC, percent; 0 of one that is not ets, whatever the driver says
    tcs: Optional[int] = None  # how many traffic classes the NIC has
    pfc: Optional[tuple[int, ...]] = None  # priorities with PFC on, sorted
    pfc_classes: Optional[int] = None  # how many priorities can have PFC at once
    cable_length_m: Optional[int] = None
    buffer_size: Optional[tuple[int, ...]] = None
    prio_buffer: Optional[tuple[int, ...]] = None
    buffer_total: Optional[int] = None
    pause_rx: Optional[bool] = None  # global pause (IEEE 802.3x)
    pause_tx: Optional[bool] = None
    pause_autoneg: Optional[bool] = None
    ecn_np: Optional[tuple[int, ...]] = None  # priorities whose marks are answered with CNPs (notification point)
    ecn_rp: Optional[tuple[int, ...]] = None  # priorities that slow down on CNPs (reaction point)
    cnp_dscp: Optional[int] = None
    cnp_priority: Optional[int] = None
    dcqcn: Optional[dict[str, int]] = None  # other parameters, by the names of the driver's files
    pfc_sent: Optional[tuple[int, ...]] = None  # PFC frames by priority since the driver was loaded
    pfc_received: Optional[tuple[int, ...]] = None
    offers: tuple[str, ...] = ()  # how it can be set: dcb | qos_sysfs | ecn_sysfs | cc_params | bnxt_cc | irdma_cc

    @property
    def firmware_owned(self) -> bool:
        """Whether DCBX is not the host's (kernel include/uapi/linux/dcbnl.h, DCB_CAP_DCBX_*); no owner is none."""
        return self.dcbx is not None and ("lld_managed" in self.dcbx or "host" not in self.dcbx)


@dataclass(frozen=True, eq=False, repr=False)
class KernelEvent(Model):
    """Something that the kernel's log says about a NIC: how often, and its last text.

    ``kind`` is one of those in parse/dmesg.py; ``device`` a PCI function or a netdev, ``None`` where none is named.
    """

    kind: str
    device: Optional[str]
    count: int
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class Owner(Model):
    """Somebody else's file that sets what Railwright sets: ``setting`` to ``value``; ``wins`` at the next boot."""

    setting: str  # a sysctl's name, or "<netdev>.mtu", "<netdev>.addresses" …
    value: str
    source: str  # the file, or the program and its profile
    wins: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Neighbour(Model):
    """An LLDP neighbour of a netdev."""

    netdev: str
    system: str
    port: str


@dataclass(frozen=True, eq=False, repr=False)
class System(Model):
    """The node itself. ``distribution`` and ``release`` are ID and VERSION_ID of os-release."""

    hostname: Optional[str] = None
    machine: Optional[str] = None
    kernel: Optional[str] = None
    boot_id: Optional[str] = None
    distribution: Optional[str] = None
    release: Optional[str] = None
    distribution_family: tuple[str, ...] = ()  # ID and ID_LIKE
    python: Optional[str] = None
    network_manager: Optional[str] = None  # systemd-networkd | netplan | NetworkManager | ifupdown
    virtual: Optional[bool] = None
    product: Optional[str] = None  # DMI's product name
    lockdown: Optional[str] = None  # none | integrity | confidentiality; None where the kernel has no such thing


@dataclass(frozen=True, eq=False, repr=False)
class NodeFacts(Model):
    """All that one probe of a node found. A section is ``None`` when it could not be read at all."""

    schema: int = 1
    system: System = System()
    management: tuple[str, ...] = ()  # netdevs that carry the session or a default route: never touched
    pci: Optional[tuple[Pci, ...]] = None
    netdevs: Optional[tuple[Netdev, ...]] = None
    rdma: Optional[tuple[RdmaDevice, ...]] = None
    modules: Optional[tuple[str, ...]] = None  # in the kernel: loaded, or built in
    # what the files let a login session of everybody lock: "unlimited", kbytes, or "default" when no file names one
    memlock: Optional[str] = None
    lldp: Optional[tuple[Neighbour, ...]] = None  # None without an entry in unread: no lldpd runs
    routes: Optional[tuple[Route, ...]] = None
    rules: Optional[tuple[RoutingRule, ...]] = None
    sysctls: Optional[dict[str, str]] = None  # as in force, by name: "net.ipv4.conf.all.rp_filter"
    firewall: Optional[Firewall] = None  # None without an entry in unread: nothing filters
    services: Optional[tuple[Service, ...]] = None
    owners: Optional[tuple[Owner, ...]] = None
    qos: Optional[tuple[QosState, ...]] = None  # of every netdev that is not management's
    # What congestion control's counters gained while they were watched, by rail: of lossless rails alone.
    gained: Optional[dict[str, dict[str, int]]] = None
    optics: Optional[tuple[Module, ...]] = None  # read only when details are wanted, like all below
    statistics: Optional[dict[str, dict[str, int]]] = None  # the drivers' own counters (ethtool -S) by netdev
    kernel_log: Optional[tuple[KernelEvent, ...]] = None
    accelerators: Optional[tuple[Pci, ...]] = None  # GPUs and the like
    unread: tuple[Unread, ...] = ()
