"""The leaf process, over real sockets and with no QEMU."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.config import REPOSITORY
from lab.errors import LabError
from lab.leaf import client
from lab.topology import LEAVES, cabling

A, B = bytes.fromhex("525400000101"), bytes.fromhex("525400000201")
NODES = ["node1", "node2"]


def frame(destination: bytes, source: bytes, payload: int = 100) -> bytes:
    return destination + source + b"\x08\x00" + b"\0" * payload


class Rig:
    """The process, with a socket in place of every rail."""

    def __init__(self, control: Path) -> None:
        self.control = control
        self.rails: dict[str, socket.socket] = {}
        for name in cabling(NODES):
            self.plug(name)

    def plug(self, name: str) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with theirs:
            client.call(self.control, "plug", fd=theirs.fileno(), cable=name)
        ours.settimeout(2.0)
        self.rails[name] = ours

    def received(self, name: str, seconds: float = 0.3) -> list[bytes]:
        """Frames that reached a rail, LLDP left out."""
        found, deadline = [], time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.rails[name].settimeout(left)
            try:
                data = self.rails[name].recv(65536)
            except TimeoutError:
                break
            if data[12:14] != b"\x88\xcc":
                found.append(data)
        return found


@pytest.fixture
def rig() -> Iterator[Rig]:
    with tempfile.TemporaryDirectory(prefix="leaf-") as directory:
        control = Path(directory) / "leaf.sock"
        plan = {name: str(port) for name, port in cabling(NODES).items()}
        child = subprocess.Popen([sys.executable, "-m", "lab.leaf", str(control), json.dumps(plan)], cwd=REPOSITORY)
        try:
            deadline = time.monotonic() + 10
            while True:
                try:
                    client.call(control, "status")
                    break
                except LabError:
                    assert time.monotonic() < deadline
                    assert child.poll() is None
                    time.sleep(0.05)
            found = Rig(control)
            yield found
            for rail in found.rails.values():
                rail.close()
        finally:
            child.terminate()
            assert child.wait(10) == 0


def test_frames_stay_on_their_leaf(rig: Rig) -> None:
    rig.rails["node1.rail0"].send(frame(B, A))
    assert rig.received("node2.rail0") == [frame(B, A)]
    assert rig.received("node1.rail1", 0.1) == rig.received("node2.rail1", 0.1) == []


def test_lldp_reaches_every_rail(rig: Rig) -> None:
    for name, port in cabling(NODES).items():
        client.call(rig.control, "swap", one=name, other=name)
        data = rig.rails[name].recv(65536)
        assert port.leaf.encode() in data
        assert port.port.encode() in data


def test_swapped_cables_change_leaves_and_reset_puts_them_back(rig: Rig) -> None:
    client.call(rig.control, "swap", one="node1.rail0", other="node1.rail1")
    rig.rails["node1.rail0"].send(frame(B, A))
    assert rig.received("node2.rail1") == [frame(B, A)]
    client.call(rig.control, "reset")
    rig.rails["node1.rail0"].send(frame(B, A))
    assert rig.received("node2.rail0") == [frame(B, A)]


def test_leaf_mtu(rig: Rig) -> None:
    client.call(rig.control, "set", target=LEAVES[0], mtu=1500)
    for size in (1501, 1500):
        rig.rails["node1.rail0"].send(frame(B, A, size))
    assert rig.received("node2.rail0") == [frame(B, A, 1500)]
    counters = client.call(rig.control, "status")["ports"]["leaf0:Ethernet1"]["counters"]
    assert counters["rx_drop_mtu"] == 1


def test_shaping_paces_the_sender_and_loses_nothing(rig: Rig) -> None:
    client.call(rig.control, "set", target="leaf0", rate=8_000_000)
    count, size = 300, 4200
    started = time.monotonic()
    if os.fork() == 0:
        rig.rails["node1.rail0"].settimeout(30.0)
        for _ in range(count):
            rig.rails["node1.rail0"].send(frame(B, A, size))
        os._exit(0)
    seen = 0
    rig.rails["node2.rail0"].settimeout(10.0)
    while seen < count:
        if rig.rails["node2.rail0"].recv(65536)[12:14] == b"\x08\x00":
            seen += 1
    took = time.monotonic() - started
    os.wait()
    ideal = count * (size + 14) / 1e6
    assert 0.8 * ideal < took < 2.0 * ideal


def test_capture_is_a_pcap_file(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "port.pcap"
    client.call(rig.control, "capture", port="leaf0:Ethernet1", path=str(path))
    rig.rails["node1.rail0"].send(frame(B, A))
    rig.received("node2.rail0")
    client.call(rig.control, "capture", port="leaf0:Ethernet1", path=None)
    data = path.read_bytes()
    magic, major, minor, _, _, _, linktype = struct.unpack_from("<IHHiIII", data)
    assert (magic, major, minor, linktype) == (0xA1B2C3D4, 2, 4, 1)
    assert frame(B, A) in data


def test_a_cable_can_be_pulled_and_plugged_again(rig: Rig) -> None:
    rig.rails.pop("node2.rail0").close()
    rig.rails["node1.rail0"].send(frame(B, A))
    time.sleep(0.2)
    rig.plug("node2.rail0")
    rig.rails["node1.rail0"].send(frame(B, A))
    assert rig.received("node2.rail0") == [frame(B, A)]


@pytest.mark.parametrize(
    "request_",
    [
        {"verb": "nonsense"},
        {"verb": "set", "target": "leaf9"},
        {"verb": "plug", "cable": "x"},
        {"verb": "set", "target": "leaf0", "colour": 1},
        {"verb": "capture", "port": "leaf0:Ethernet9", "path": None},
    ],
)
def test_a_bad_request_is_answered_and_survived(rig: Rig, request_: dict[str, object]) -> None:
    verb = str(request_.pop("verb"))
    with pytest.raises(LabError):
        client.call(rig.control, verb, **request_)
    assert client.call(rig.control, "status")["ports"]
