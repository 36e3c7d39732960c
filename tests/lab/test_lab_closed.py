# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab is a closed network: whatever routes a node has, nothing of it leaves the machine."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = pytest.mark.lab

# Documentation networks (RFC 5737): if anything did leak, it would reach nobody.
OUTSIDE = ["192.0.2.53", "198.51.100.53", "203.0.113.53"]
GATEWAY = "10.0.2.2"  # QEMU's user network: the host, as a guest would see it
RESOLVER = "10.0.2.3"

# Runs on the node. Says of each attempt whether something came back.
ATTEMPTS = """
import json, socket, sys
ports, outside, gateway, resolver = json.loads(sys.argv[1])
reached = {}
def tcp(address, port):
    try:
        socket.create_connection((address, port), timeout=3).close()
        return True
    except OSError:
        return False
def udp(address, port, data):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        try:
            s.sendto(data, (address, port))
            return bool(s.recv(512))
        except OSError:
            return False
query = bytes.fromhex("000101000001000000000000076578616d706c65036f72670000010001")
for port in ports:
    reached["tcp %s:%d" % (gateway, port)] = tcp(gateway, port)
    reached["udp %s:%d" % (gateway, port)] = udp(gateway, port, b"x")
for address in outside:
    reached["tcp " + address] = tcp(address, 80)
    reached["dns " + address] = udp(address, 53, query)
reached["dns " + resolver] = udp(resolver, 53, query)
print(json.dumps(reached))
"""


def inet_sockets(pid: int) -> dict[str, set[str]]:
    """Local and remote IPv4/IPv6 addresses (hexadecimal, as the kernel prints them) of a process's sockets."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = {"local": set(), "remote": set()}
    for table in ("tcp", "udp", "icmp", "raw", "tcp6", "udp6", "icmp6", "raw6"):
        path = Path(f"/proc/{pid}/net/{table}")
        if not path.exists():
            continue
        for line in path.read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes:
                found["local"].add(fields[1].partition(":")[0])
                found["remote"].add(fields[2].partition(":")[0])
    return found


class Watch(threading.Thread):
    """Looks, while a node tries, at QEMU's sockets and, where it may, at every packet of the host."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self.pid = pid
        self.local: set[str] = set()
        self.remote: set[str] = set()
        self.leaked: list[str] = []
        self.looks = 0
        self._end = threading.Event()
        try:
            self._tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
            self._tap.settimeout(0.05)
        except PermissionError:
            self._tap = None

    def run(self) -> None:
        wanted = {socket.inet_aton(address): address for address in OUTSIDE}
        while not self._end.is_set():
            found = inet_sockets(self.pid)
            self.local |= found["local"]
            self.remote |= found["remote"]
            self.looks += 1
            if self._tap is None:
                self._end.wait(0.05)
                continue
            for _ in range(200):
                try:
                    packet = self._tap.recv(2048)
                except TimeoutError:
                    break
                if packet[16:20] in wanted:
                    self.leaked.append(wanted[packet[16:20]])

    def finish(self) -> None:
        self._end.set()
        self.join(10)
        if self._tap is not None:
            self._tap.close()


@pytest.mark.parametrize("default_route", [False, True], ids=["as-built", "with-a-default-route"])
def test_nothing_leaves_a_node(fresh_lab, default_route: bool) -> None:
    lab, node = fresh_lab, "node1"
    if default_route:
        lab.run(node, ["ip", "route", "add", "default", "via", GATEWAY, "dev", "mgmt0"])
        assert GATEWAY in lab.run(node, ["ip", "route", "get", OUTSIDE[0]]).stdout
    with ExitStack() as stack:
        stream = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = stream.getsockname()[1]
        datagram = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagram.bind(("127.0.0.1", port))
        # The control: the same listeners do answer to the host itself.
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        stream.settimeout(5)
        stream.accept()[0].close()

        watch = Watch(lab.status()["nodes"][node]["pid"])
        watch.start()
        try:
            plan = json.dumps([[port], OUTSIDE, GATEWAY, RESOLVER])
            done = lab.run(node, ["python3", "-", f"'{plan}'"], stdin=ATTEMPTS, timeout=240)
        finally:
            watch.finish()
        reached = json.loads(done.stdout)
        assert [what for what, answered in reached.items() if answered] == []
        assert len(reached) == 2 + 2 * len(OUTSIDE) + 1

        stream.settimeout(0.2)
        with pytest.raises(TimeoutError):
            stream.accept()
        datagram.settimeout(0.2)
        with pytest.raises(TimeoutError):
            datagram.recv(512)
    assert watch.looks > 5
    assert watch.leaked == []
    # QEMU listens for SSH and serves our own connection, both on 127.0.0.1; there is nothing else.
    assert watch.local == {"0100007F"}
    assert watch.remote <= {"0100007F", "00000000"}


def test_the_leaves_have_no_way_out(fresh_lab) -> None:
    """Rails end in a process that holds no network socket at all."""
    assert inet_sockets(fresh_lab.status()["leaf_pid"]) == {"local": set(), "remote": set()}
