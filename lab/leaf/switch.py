"""What a leaf does with a frame; no sockets and no clock here."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

ETHERNET_HEADER = 14
VLAN_TAGS = (b"\x81\x00", b"\x88\xa8")
DEFAULT_MTU = 9216


def payload_size(frame: bytes) -> int:
    """What counts against the MTU: the frame without Ethernet header and VLAN tags."""
    header = ETHERNET_HEADER
    while frame[header - 2 : header] in VLAN_TAGS:
        header += 4
    return len(frame) - header


def link_local(frame: bytes) -> bool:
    """Whether a bridge must not forward it (IEEE 802.1Q, reserved addresses 01-80-C2-00-00-0x)."""
    return frame[:5] == b"\x01\x80\xc2\x00\x00" and frame[5] <= 0x0F


@dataclass
class Port:
    """State and counters of one port; ``mtu`` None means that the leaf's applies."""

    mtu: int | None = None
    loss: float = 0.0
    down: bool = False
    counters: Counter[str] = field(default_factory=Counter)


class Leaf:
    """A learning switch. VLAN tags are carried through unread."""

    def __init__(self, name: str, ports: list[str], seed: int = 0) -> None:
        self.name = name
        self.seed = seed
        self.mtu = DEFAULT_MTU
        self.ports = {port: Port() for port in ports}
        self.table: dict[bytes, str] = {}
        self._random = random.Random(seed)

    def reset(self) -> None:
        """Forget faults, counters and addresses; the losses to come are the same again."""
        self.mtu = DEFAULT_MTU
        for name in self.ports:
            self.ports[name] = Port()
        self.table.clear()
        self._random = random.Random(self.seed)

    def set_down(self, name: str, down: bool) -> None:
        """Disable or enable a port; what was learned on it is forgotten."""
        self.ports[name].down = down
        self.forget(name)

    def forget(self, name: str) -> None:
        """Drop the addresses learned on a port."""
        self.table = {address: port for address, port in self.table.items() if port != name}

    def receive(self, name: str, frame: bytes) -> list[str]:
        """Take a frame from a port and return the ports that it leaves by."""
        port = self.ports[name]
        port.counters["rx_frames"] += 1
        port.counters["rx_bytes"] += len(frame)
        if len(frame) < ETHERNET_HEADER:
            port.counters["rx_drop_runt"] += 1
            return []
        if not self._passes(port, frame, "rx"):
            return []
        destination, source = frame[:6], frame[6:12]
        if not source[0] & 1:
            self.table[source] = name
        if link_local(frame):
            port.counters["rx_link_local"] += 1
            return []
        known = None if destination[0] & 1 else self.table.get(destination)
        if known == name:
            return []
        targets = [known] if known else [other for other in self.ports if other != name]
        return [target for target in targets if self._passes(self.ports[target], frame, "tx")]

    def _passes(self, port: Port, frame: bytes, direction: str) -> bool:
        reason = None
        if port.down:
            reason = "down"
        elif payload_size(frame) > (self.mtu if port.mtu is None else port.mtu):
            reason = "mtu"
        elif port.loss and self._random.random() < port.loss:
            reason = "loss"
        if reason is None:
            return True
        port.counters[f"{direction}_drop_{reason}"] += 1
        return False
