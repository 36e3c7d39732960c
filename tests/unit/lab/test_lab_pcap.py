"""What a capture says of a packet's QoS."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.leaf.pcap import Capture, packets, parse

MACS = bytes.fromhex("525400000102525400000101")
ROCE = (0xC000).to_bytes(2, "big") + (4791).to_bytes(2, "big") + bytes(4) + b"\x0a" + bytes(11)


def ipv4(tos: int, payload: bytes = ROCE, protocol: int = 17) -> bytes:
    header = bytes([0x45, tos]) + bytes(7) + bytes([protocol]) + bytes(10)
    return b"\x08\x00" + header + payload


def ipv6(traffic_class: int, payload: bytes = ROCE) -> bytes:
    first = (6 << 28 | traffic_class << 20).to_bytes(4, "big")
    return b"\x86\xdd" + first + bytes(2) + b"\x11\x40" + bytes(32) + payload


def test_tos_106_is_dscp_26_and_ecn_capable() -> None:
    packet = parse(MACS + ipv4(106))
    assert packet
    assert (packet.dscp, packet.ecn, packet.pcp, packet.roce, packet.opcode) == (26, 2, None, True, 10)
    assert (packet.source, packet.source_port, packet.port) == ("52:54:00:00:01:01", 0xC000, 4791)


def test_the_traffic_class_of_ipv6_crosses_a_byte() -> None:
    packet = parse(MACS + ipv6(106))
    assert packet
    assert (packet.dscp, packet.ecn, packet.roce) == (26, 2, True)


def test_the_outermost_tag_has_the_priority() -> None:
    tagged = parse(MACS + b"\x88\xa8\x60\x64" + b"\x81\x00\xe0\x65" + ipv4(0))
    assert tagged
    assert (tagged.pcp, tagged.dscp, tagged.port) == (3, 0, 4791)


def test_other_traffic_is_not_roce() -> None:
    icmp = parse(MACS + ipv4(104, b"\x08\x00", 1))
    dns = parse(MACS + ipv4(0, (53).to_bytes(2, "big") * 2 + bytes(20)))
    assert icmp
    assert dns
    assert (icmp.dscp, icmp.port, icmp.roce) == (26, None, False)
    assert (dns.port, dns.roce) == (53, False)


def test_arp_is_no_packet() -> None:
    assert parse(MACS + b"\x08\x06" + bytes(28)) is None


def test_a_capture_reads_back_and_a_cut_one_loses_its_end(tmp_path: Path) -> None:
    path = tmp_path / "port.pcap"
    capture = Capture(path)
    for tos in (106, 192):
        capture.write(MACS + ipv4(tos))
    capture.write(MACS + b"\x08\x06" + bytes(28))
    capture.close()
    assert [packet.dscp for packet in packets(path)] == [26, 48]
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 60])
    assert [packet.dscp for packet in packets(path)] == [26]


def test_another_file_is_no_capture(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("not a capture, but long enough for the header of one\n")
    with pytest.raises(ValueError, match="not a capture"):
        list(packets(path))


@given(st.binary(max_size=120))
def test_no_frame_breaks_it(data: bytes) -> None:
    for frame in (data, MACS + data, MACS + b"\x81\x00" + data, MACS + b"\x08\x00" + data, MACS + b"\x86\xdd" + data):
        parse(frame)
