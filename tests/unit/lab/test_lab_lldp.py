"""LLDP frames, byte for byte as IEEE 802.1AB-2016 has them."""

from __future__ import annotations

from lab.leaf.lldp import frame


def test_frame_bytes() -> None:
    expected = (
        "0180c200000e"  # nearest bridge group address (table 7-1)
        "525400010001"  # source
        "88cc"  # LLDP Ethertype (7.4)
        "0207"
        "04"
        "525400010001"  # 8.5.2 chassis id: type 1, length 7, subtype 4
        "040a"
        "05"
        "45746865726e657431"  # 8.5.3 port id: type 2, length 10, subtype 5, Ethernet1
        "0602"
        "0078"  # 8.5.4 time to live: type 3, length 2, 120 s
        "080f"
        "6c656166302045746865726e657431"  # 8.5.5 port description: type 4, length 15
        "0a05"
        "6c65616630"  # 8.5.6 system name: type 5, leaf0
        "0c1a"
        "5261696c77726967687420"
        "6c6162206c65616620"
        "737769746368"  # 8.5.7 system description
        "0e04"
        "0004"
        "0004"  # 8.5.8 capabilities: bit 2 is bridge
        "0000"  # 8.5.1 end of LLDPDU
    )
    assert frame(bytes.fromhex("525400010001"), "leaf0", "Ethernet1") == bytes.fromhex(expected)
