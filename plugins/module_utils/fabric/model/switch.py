# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What one switch should be for the fabric's sake, what it is, and how the two differ; no vendor's words in it."""

from __future__ import annotations

from typing import Optional, Tuple

from ..records import dataclass, field
from .base import Model

# Name of a setting and the number that it belongs to: ("dscp", 26), ("priority", 3), ("ecn", 3), ("mtu", None).
Key = Tuple[str, Optional[int]]


@dataclass(frozen=True, eq=False, repr=False)
class Ecn(Model):
    """Marking in one egress queue: from ``min_bytes`` on, with ``probability`` percent at ``max_bytes``."""

    min_bytes: int
    max_bytes: int
    probability: int = 20


@dataclass(frozen=True, eq=False, repr=False)
class Watchdog(Model):
    """When a queue that stays paused is relieved, in milliseconds, and what then becomes of its packets.

    200 ms, 200 ms and drop are SONiC's own defaults (sonic-net/sonic-utilities:pfcwd/main.py).
    """

    detection_ms: int = 200
    restoration_ms: int = 200
    action: str = "drop"  # drop | forward


@dataclass(frozen=True, eq=False, repr=False)
class SwitchBuffers(Model):
    """Packet memory; half for lossless traffic as in NVIDIA's manual (Cumulus Linux, "Flow Control Buffers")."""

    lossless_percent: int = 50


@dataclass(frozen=True, eq=False, repr=False)
class SwitchSpec(Model):
    """What the spec says of switches, in the shape of its YAML; thresholds left out follow from the link's speed.

    40 m between switches is SONiC's assumption (sonic-net/sonic-buildimage:files/build_templates/buffers_config.j2,
    ``leafrouter_torrouter``).
    """

    ecn: Optional[Ecn] = None
    pfc_watchdog: Watchdog = Watchdog()
    buffers: SwitchBuffers = SwitchBuffers()
    uplink_cable_length: str = "40m"


@dataclass(frozen=True, eq=False, repr=False)
class SwitchEntry(Model):
    """What the inventory says of one switch.

    :ivar ports: host and rail by port; ``None`` where they are to be taken from the nodes' LLDP.
    :ivar uplinks: the switch at the other end, by port.
    :ivar buffer_model: of SONiC, DEVICE_METADATA's ``buffer_model``.
    :ivar asic: of SONiC, ``asic_type`` of the image.
    :ivar tx_queue: of EOS, the word for egress queues on this platform.
    """

    name: str
    role: str  # leaf | spine
    os: str  # sonic | cumulus | eos
    ports: Optional[tuple[tuple[str, str, str], ...]] = None
    uplinks: tuple[tuple[str, str], ...] = ()
    os_version: tuple[int, ...] = ()
    buffer_model: str = "traditional"  # traditional | dynamic
    asic: str = ""
    tx_queue: str = "tx-queue"  # tx-queue | uc-tx-queue


@dataclass(frozen=True, eq=False, repr=False)
class SwitchPort(Model):
    """One port of the fabric: a host's rail is at its other end, or another switch."""

    name: str
    cable_length_m: int
    host: Optional[str] = None
    rail: Optional[str] = None
    switch: Optional[str] = None

    @property
    def description(self) -> str:
        """The other end, in words."""
        return f"{self.host} {self.rail}" if self.host is not None else str(self.switch)


@dataclass(frozen=True, eq=False, repr=False)
class SwitchIntent(Model):
    """One switch as the fabric needs it; all its ports are alike but for the cable.

    :ivar dscp_priority: priority of each of the 64 code points.
    :ivar priority_queue: egress queue of each of the eight priorities; queues have the numbers of traffic classes.
    :ivar tsa: ``ets`` or ``strict`` of each of the eight queues; ``share`` is its percentage, 0 where it has none.
    :ivar ecn: of the queues ``ecn_queues``; the data's queue does not mark where it is not among them.
    """

    name: str
    os: str
    role: str
    fabric: str
    mtu: int
    dscp_priority: tuple[int, ...]
    priority_queue: tuple[int, ...]
    pfc: tuple[int, ...]
    tsa: tuple[str, ...]
    share: tuple[int, ...]
    data_queue: int
    ecn_queues: tuple[int, ...]
    ecn: Optional[Ecn]
    watchdog: Optional[Watchdog]
    lossless_percent: int
    ports: tuple[SwitchPort, ...]
    entry: SwitchEntry
    notes: tuple[str, ...] = ()

    @property
    def queues(self) -> tuple[int, ...]:
        """Queues that some priority uses, sorted."""
        return tuple(sorted(set(self.priority_queue)))


@dataclass(frozen=True, eq=False, repr=False)
class SwitchState(Model):
    """A switch as its own dump tells it: by port, each setting's value as text, ``None`` where it cannot be told.

    :ivar name: the host name; ``None`` where the dump has none.
    """

    os: str
    ports: dict[str, dict[Key, Optional[str]]] = field(default_factory=dict)
    name: Optional[str] = None


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Model):
    """One setting that is not as wanted, with all ports that have it so. ``found`` is ``None`` for what is unknown."""

    switch: str
    ports: tuple[str, ...]
    setting: str
    number: Optional[int]
    wanted: str
    found: Optional[str]

    def __str__(self) -> str:
        name = self.setting.replace("_", " ") + ("" if self.number is None else f" {self.number}")
        found = "unknown" if self.found is None else self.found
        return f"{self.switch}: {', '.join(self.ports)}: {name} is {found}, wanted {self.wanted}"
