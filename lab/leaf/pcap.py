"""Captures in the classic pcap format, which every tool reads, and what QoS looks at in them."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .switch import ETHERNET_HEADER, VLAN_TAGS

MAGIC = 0xA1B2C3D4
SNAPLEN = 65535
LINKTYPE_ETHERNET = 1
FILE_HEADER = struct.Struct("<IHHiIII")
RECORD = struct.Struct("<IIII")

TCP, UDP = 6, 17
UDP_HEADER = 8
# IANA: RoCE v2.
ROCE_PORT = 4791


class Capture:
    """A pcap file that is complete after every frame, so that it can be read while it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = path.open("wb", buffering=0)
        self._stream.write(FILE_HEADER.pack(MAGIC, 2, 4, 0, 0, SNAPLEN, LINKTYPE_ETHERNET))

    def write(self, frame: bytes) -> None:
        """Append one frame with the wall-clock time."""
        seconds, micro = divmod(time.time_ns() // 1000, 1_000_000)
        self._stream.write(RECORD.pack(seconds, micro, len(frame), len(frame)) + frame)

    def close(self) -> None:
        """End the capture."""
        self._stream.close()


@dataclass(frozen=True)
class Packet:
    """What a switch's QoS looks at in an IP packet; ``pcp`` is None without a VLAN tag, ports without UDP or TCP."""

    source: str
    dscp: int
    ecn: int
    pcp: int | None
    source_port: int | None
    port: int | None
    opcode: int | None  # of the RoCE v2 base transport header

    @property
    def roce(self) -> bool:
        """Whether it is RoCE v2."""
        return self.opcode is not None


def packets(path: Path) -> Iterator[Packet]:
    """The IP packets of a capture, in order. Raises ValueError for a file that is none."""
    data = path.read_bytes()
    if len(data) < FILE_HEADER.size or FILE_HEADER.unpack_from(data)[0] != MAGIC:
        raise ValueError(f"{path} is not a capture")
    at = FILE_HEADER.size
    # What is written last may still be on its way into the file.
    while at + RECORD.size <= len(data):
        size = RECORD.unpack_from(data, at)[2]
        at += RECORD.size
        packet = parse(data[at : at + size])
        if packet and at + size <= len(data):
            yield packet
        at += size


def parse(frame: bytes) -> Packet | None:
    """The packet of an Ethernet frame; None where it is not whole, or not IP."""
    pcp, at = None, ETHERNET_HEADER
    while frame[at - 2 : at] in VLAN_TAGS:
        # The outermost tag is the one that counts.
        pcp = frame[at] >> 5 if pcp is None and len(frame) > at else pcp
        at += 4
    kind, header = frame[at - 2 : at], frame[at:]
    if kind == b"\x08\x00" and len(header) >= 20:
        field, protocol, payload = header[1], header[9], header[(header[0] & 15) * 4 :]
    elif kind == b"\x86\xdd" and len(header) >= 40:
        field, protocol, payload = (header[0] & 15) << 4 | header[1] >> 4, header[6], header[40:]
    else:
        return None
    ports: tuple[int | None, int | None] = (None, None)
    if protocol in (TCP, UDP) and len(payload) >= 4:
        ports = struct.unpack_from(">HH", payload)
    roce = protocol == UDP and ports[1] == ROCE_PORT and len(payload) > UDP_HEADER
    return Packet(
        source=frame[6:12].hex(":"),
        dscp=field >> 2,
        ecn=field & 3,
        pcp=pcp,
        source_port=ports[0],
        port=ports[1],
        opcode=payload[UDP_HEADER] if roce else None,
    )
