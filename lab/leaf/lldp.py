"""LLDP frames as a leaf sends them (IEEE 802.1AB-2016, clauses 7 and 8)."""

from __future__ import annotations

MULTICAST = bytes.fromhex("0180c200000e")
ETHERTYPE = bytes.fromhex("88cc")
CAPABILITY_BRIDGE = 1 << 2


def frame(source: bytes, system: str, port: str, ttl: int = 120) -> bytes:
    """An LLDPDU for one port.

    ``source`` is the port's MAC (6 bytes), which also is the chassis id; ``ttl`` is in seconds.
    """
    name = system.encode()
    return b"".join(
        (
            MULTICAST,
            source,
            ETHERTYPE,
            _tlv(1, b"\x04" + source),  # chassis id, subtype MAC address
            _tlv(2, b"\x05" + port.encode()),  # port id, subtype interface name
            _tlv(3, ttl.to_bytes(2, "big")),
            _tlv(4, f"{system} {port}".encode()),  # port description
            _tlv(5, name),
            _tlv(6, b"Railwright lab leaf switch"),
            _tlv(7, CAPABILITY_BRIDGE.to_bytes(2, "big") * 2),  # capable of, and enabled
            _tlv(0, b""),
        )
    )


def _tlv(kind: int, value: bytes) -> bytes:
    return (kind << 9 | len(value)).to_bytes(2, "big") + value
