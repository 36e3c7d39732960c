# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A node of two soft RoCE rails without a kernel: answers are scripted by the first words of a command."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import HungError, MissingError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Gid,
    Netdev,
    NodeFacts,
    Pci,
    RdmaDevice,
    RdmaPort,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import (
    Acceptance,
    DeviceMatch,
    NodeIntent,
    PortIntent,
    RailIntent,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import Completed

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LISTEN = "  sl  local_address rem_address   st\n   0: 00000000:%04X 00000000:0000 0A\n"


def ping_text(size, received=3, sent=3, extra=""):
    """What iputils ping prints."""
    lines = [f"PING 10.0.0.2 (10.0.0.2) from 10.0.0.1 ens2: {size}({size + 28}) bytes of data."]
    lines += [f"{size + 8} bytes from 10.0.0.2: icmp_seq={n + 1} ttl=64 time=0.10 ms" for n in range(received)]
    lines += [extra] if extra else []
    loss = 100 * (sent - received) // sent
    lines += ["", "--- 10.0.0.2 ping statistics ---"]
    lines += [f"{sent} packets transmitted, {received} received, {loss}% packet loss, time 405ms"]
    lines += ["rtt min/avg/max/mdev = 0.1/0.1/0.1/0.0 ms" if received else ""]
    return "\n".join(lines) + "\n"


class FakePort:
    """A path that carries packets of up to ``carries`` bytes; every command is kept in ``argvs``."""

    def __init__(self, carries=9000, device="ens2", users=(), perf=None, listening=(18600, 18601)):
        self.carries = carries
        self.device = device
        self.users = users
        self.perf = perf if perf is not None else (FIXTURES / "perftest" / "write-bw-rxe.txt").read_text()
        self.help = "      --source_ip  Source IP\n"
        self.listening = listening
        self.files = {}
        self.missing = ()
        self.hangs = ()
        self.argvs = []

    def run(self, argv, timeout=5.0, stdin=None):
        self.argvs.append(list(argv))
        if argv[0] in self.missing:
            raise MissingError(f"{argv[0]} is not installed", " ".join(argv))
        if argv[0] in self.hangs and "--help" not in argv:
            raise HungError(f"{argv[0]} did not return within {timeout:g} s", " ".join(argv))
        return {"ip": self._route, "ping": self._ping, "rdma": self._rdma, "ib_write_bw": self._perf}[argv[0]](argv)

    def _route(self, argv):
        return self.answer(argv, {"dev": self.device, "prefsrc": "10.0.0.1"})

    def answer(self, argv, route):
        """A route as ``ip -j route get`` prints it; one without a device is none."""
        if route["dev"] is None:
            return Completed(tuple(argv), 2, "", "RTNETLINK answers: Network is unreachable\n")
        return Completed(tuple(argv), 0, json.dumps([{"dst": argv[4], **route}]), "")

    def _ping(self, argv):
        size, count = int(argv[argv.index("-s") + 1]), int(argv[argv.index("-c") + 1])
        headers = 48 if ":" in argv[-1] else 28
        passed = count if size + headers <= self.carries else 0
        return Completed(tuple(argv), 0 if passed else 1, ping_text(size, passed, count), "")

    def _rdma(self, argv):
        return Completed(
            tuple(argv), 0, json.dumps([{"ifname": "mlx5_0", "lqpn": 1, **user} for user in self.users]), ""
        )

    def _perf(self, argv):
        return Completed(tuple(argv), 0, self.help if "--help" in argv else self.perf, "")

    def read(self, path):
        if path == "/proc/net/tcp":
            return "".join(LISTEN % number for number in self.listening)
        if path in self.files:
            return self.files[path]
        raise MissingError("no such file", path)

    def sent(self):
        """The commands that put test traffic on a wire."""
        return [argv for argv in self.argvs if argv[0] in ("ping", "ib_write_bw") and "--help" not in argv]


class FakeStarter:
    def __init__(self):
        self.started = []
        self.ended = 0

    def start(self, argv, lifetime_s, name):
        self.started.append((list(argv), lifetime_s, name))

    def end_all(self, tool):
        self.ended += 1


def rail(index, address, mtu=4200, **changes):
    intent = RailIntent(
        name=f"rail{index}",
        index=index,
        fabric="storage",
        transport="roce",
        ports=(PortIntent((DeviceMatch(pci=f"0000:0{index + 1}:00.0"),), leaf=f"leaf{index}"),),
        host_mtu=mtu,
        switch_mtu=mtu,
        path_mtu=4096,
        addressing="pool",
        addresses=(address,) if address else (),
        soft_roce=True,
    )
    return replace(intent, **changes)


def node(number, rails=2, **changes):
    """node<number> with the address 10.<rail>.0.<number>/24 on each rail."""
    intent = NodeIntent(
        schema=1,
        core_version="0",
        spec_name="lab",
        spec_hash="0",
        host=f"node{number}",
        unit="su1",
        node_id=number,
        rails=tuple(rail(index, f"10.{index}.{number // 250}.{number % 250}/16") for index in range(rails)),
        acceptance=Acceptance(),
    )
    return replace(intent, **changes)


def mapped(address):
    digits = "".join(f"{int(part):02x}" for part in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{digits[:4]}:{digits[4:]}"


def facts(addresses=("10.0.0.1", "10.1.0.1"), mtu=4200):
    """node1 as its probe sees it."""
    netdevs, rdma, pci = [], [], []
    for index, address in enumerate(addresses):
        name, where = f"ens{index + 2}", f"0000:0{index + 1}:00.0"
        held = (f"{address}/16",) if address else ()
        pci.append(Pci(where, "1af4", "1041", "virtio-pci"))
        netdevs.append(Netdev(name, index + 2, mtu=mtu, pci=where, addresses=held))
        gids = (Gid(1, mapped(address), "RoCE v2", name),) if address else ()
        port = RdmaPort(1, "ACTIVE", link_layer="Ethernet", active_mtu=4096, netdev=name, gids=gids)
        rdma.append(RdmaDevice(f"rxe_rail{index}", soft=True, parent=name, ports=(port,)))
    return NodeFacts(pci=tuple(pci), netdevs=tuple(netdevs), rdma=tuple(rdma))


def perf_text(device="rxe_rail0", address="10.0.0.1", average="0.018104"):
    text = (FIXTURES / "perftest" / "write-bw-rxe.txt").read_text()
    decimal = ":".join(f"{int(part):02d}" for part in address.split("."))
    text = re.sub(r"(?<=255:255:)10:20:00:01", decimal, text)
    return text.replace("rxe_rail0", device).replace("0.018104", average)
