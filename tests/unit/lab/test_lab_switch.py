"""What a leaf does with frames."""

from __future__ import annotations

import pytest

from lab.leaf.switch import Leaf, link_local, payload_size

A, B, C = (bytes.fromhex(f"52540000010{n}") for n in range(3))
BROADCAST = b"\xff" * 6
PORTS = ["Ethernet1", "Ethernet2", "Ethernet3"]


def frame(destination: bytes, source: bytes, payload: int = 46, tags: bytes = b"") -> bytes:
    return destination + source + tags + b"\x08\x00" + b"\0" * payload


@pytest.fixture
def leaf() -> Leaf:
    return Leaf("leaf0", PORTS)


def test_unknown_destination_is_flooded_but_not_sent_back(leaf: Leaf) -> None:
    assert leaf.receive("Ethernet1", frame(B, A)) == ["Ethernet2", "Ethernet3"]


def test_known_destination_gets_it_alone(leaf: Leaf) -> None:
    leaf.receive("Ethernet2", frame(BROADCAST, B))
    assert leaf.receive("Ethernet1", frame(B, A)) == ["Ethernet2"]
    assert leaf.receive("Ethernet2", frame(A, B)) == ["Ethernet1"]


def test_destination_on_the_same_port_is_not_forwarded(leaf: Leaf) -> None:
    leaf.receive("Ethernet1", frame(BROADCAST, B))
    assert leaf.receive("Ethernet1", frame(B, A)) == []


def test_a_station_that_moved_is_learned_again(leaf: Leaf) -> None:
    leaf.receive("Ethernet2", frame(BROADCAST, B))
    leaf.receive("Ethernet3", frame(BROADCAST, B))
    assert leaf.receive("Ethernet1", frame(B, A)) == ["Ethernet3"]


def test_a_multicast_source_is_not_learned(leaf: Leaf) -> None:
    leaf.receive("Ethernet2", frame(A, BROADCAST))
    assert leaf.table == {}


def test_link_local_multicast_stays(leaf: Leaf) -> None:
    lldp = bytes.fromhex("0180c200000e")
    assert leaf.receive("Ethernet1", frame(lldp, A)) == []
    assert leaf.ports["Ethernet1"].counters["rx_link_local"] == 1
    assert not link_local(frame(bytes.fromhex("0180c2000010"), A))


@pytest.mark.parametrize(
    ("tags", "size"), [(b"", 1500), (b"\x81\x00\x00\x64", 1500), (b"\x88\xa8\x00\x01\x81\x00\x00\x02", 1500)]
)
def test_tags_do_not_count_against_the_mtu(tags: bytes, size: int) -> None:
    assert payload_size(frame(A, B, size, tags)) == size


def test_tagged_frames_pass_unchanged_by_destination(leaf: Leaf) -> None:
    leaf.receive("Ethernet2", frame(BROADCAST, B, tags=b"\x81\x00\x00\x64"))
    assert leaf.receive("Ethernet1", frame(B, A)) == ["Ethernet2"]


def test_a_frame_above_the_mtu_vanishes_and_is_counted(leaf: Leaf) -> None:
    leaf.mtu = 1500
    assert leaf.receive("Ethernet1", frame(B, A, 1501)) == []
    assert leaf.ports["Ethernet1"].counters["rx_drop_mtu"] == 1
    assert leaf.receive("Ethernet1", frame(B, A, 1500)) == ["Ethernet2", "Ethernet3"]


def test_the_mtu_of_one_port_drops_on_the_way_out(leaf: Leaf) -> None:
    leaf.ports["Ethernet2"].mtu = 1500
    assert leaf.receive("Ethernet1", frame(B, A, 4200)) == ["Ethernet3"]
    assert leaf.ports["Ethernet2"].counters["tx_drop_mtu"] == 1


def test_a_port_may_allow_more_than_its_leaf(leaf: Leaf) -> None:
    leaf.mtu = 1500
    for name in ("Ethernet1", "Ethernet2"):
        leaf.ports[name].mtu = 9000
    assert leaf.receive("Ethernet1", frame(B, A, 4200)) == ["Ethernet2"]


def test_a_disabled_port_neither_takes_nor_gives(leaf: Leaf) -> None:
    leaf.receive("Ethernet2", frame(BROADCAST, B))
    leaf.set_down("Ethernet2", True)
    assert leaf.table == {}
    assert leaf.receive("Ethernet2", frame(A, B)) == []
    assert leaf.receive("Ethernet1", frame(B, A)) == ["Ethernet3"]
    assert leaf.ports["Ethernet2"].counters["tx_drop_down"] == 1


def test_loss_has_the_wanted_share_and_is_the_same_each_time(leaf: Leaf) -> None:
    def lost() -> list[int]:
        leaf.reset()
        leaf.ports["Ethernet1"].loss = 0.25
        return [n for n in range(2000) if not leaf.receive("Ethernet1", frame(B, A))]

    first = lost()
    assert 440 <= len(first) <= 560
    assert lost() == first


def test_full_loss_lets_nothing_through(leaf: Leaf) -> None:
    leaf.ports["Ethernet1"].loss = 1.0
    assert not any(leaf.receive("Ethernet1", frame(B, A)) for _ in range(100))


def test_a_runt_is_counted(leaf: Leaf) -> None:
    assert leaf.receive("Ethernet1", b"\0" * 13) == []
    assert leaf.ports["Ethernet1"].counters["rx_drop_runt"] == 1


def test_reset_forgets_everything(leaf: Leaf) -> None:
    leaf.receive("Ethernet1", frame(B, A))
    leaf.mtu = 1500
    leaf.ports["Ethernet1"].loss = 0.5
    leaf.set_down("Ethernet2", True)
    leaf.reset()
    assert leaf.receive("Ethernet1", frame(B, A, 9000)) == ["Ethernet2", "Ethernet3"]
    assert leaf.ports["Ethernet1"].counters["rx_frames"] == 1
