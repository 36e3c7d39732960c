# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that behaves: what networkd, modprobe and rdma do to it is what the next probe finds."""

from __future__ import annotations

import json
from ipaddress import ip_interface
from typing import Optional

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.run import Timer
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.document import PATH, dump
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import (
    DeviceMatch,
    NodeIntent,
    PortIntent,
    RailIntent,
)

from tests.unit.fakes import FakePort

RAIL0 = "/etc/systemd/network/10-railwright-rail0.network"
RAIL1 = "/etc/systemd/network/10-railwright-rail1.network"


def rail(number: int, **changes) -> RailIntent:
    values = {
        "name": f"rail{number}",
        "index": number,
        "fabric": "compute",
        "transport": "roce",
        "ports": (PortIntent((DeviceMatch(pci=f"0000:0{number + 1}:00.0"),)),),
        "host_mtu": 4200,
        "switch_mtu": 9216,
        "path_mtu": 4096,
        "addressing": "pool",
        "addresses": (f"10.100.{number}.1/24",),
        "soft_roce": True,
    }
    return RailIntent(**{**values, **changes})


def intent(*rails: RailIntent, **changes) -> NodeIntent:
    values = {"modules": ("ib_uverbs", "rdma_rxe", "rdma_ucm"), **changes}
    return NodeIntent(1, "0.1.0", "lab", "abcdef0123456789", "node1", "su1", 1, rails or (rail(0), rail(1)), **values)


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0

    @property
    def timer(self) -> Timer:
        return Timer(lambda: self.time, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class SimulatedNode(FakePort):
    """Two virtio rails ens4 and ens5 and a management NIC ens2, on Debian with systemd-networkd; nothing set up yet."""

    def __init__(self, manager: str = "systemd-networkd") -> None:
        tools = {
            "ip -j -d -force -batch -": lambda port: port.ip(),
            "rdma -j link show": "[]",
            "rdma -j resource show qp": "[]",
            "rdma -j resource show": "[]",
            "dpkg-query": "rdma-core installed\n",
            "modprobe": lambda port: port.modprobe(),
            "networkctl reload": lambda port: port.reload(),
            "networkctl reconfigure": lambda port: port.reconfigure(),
            "rdma link add": lambda port: port.rdma_add(),
            "rdma link delete": lambda port: port.rdma_delete(),
            "rdma dev set": lambda port: port.rdma_rename(),
            "systemctl": "",
        }
        files = {
            "/etc/os-release": 'ID=debian\nVERSION_ID="12"\n',
            "/proc/modules": "virtio_net 1 0 - Live 0x0\n",
            "/proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
            "ens2\t00000000\t0202000A\t0003\t0\t0\t1024\t00000000\t0\t0\t0\n",
            f"/sys/fs/cgroup/system.slice/{manager}.service/cgroup.procs": "1\n",
            "/sys/class/tty/tty0": "",
        }
        links = {}
        self.net = {}
        places = {"ens2": "0000:00:02.0", "ens4": "0000:01:00.0", "ens5": "0000:02:00.0"}
        for index, (name, pci) in enumerate(places.items()):
            device = f"/sys/devices/pci0000:00/{pci}"
            links[f"/sys/class/net/{name}"] = f"{device}/virtio{index}/net/{name}"
            links[f"/sys/bus/pci/devices/{pci}"] = device
            for folder in (device, f"/sys/bus/pci/devices/{pci}"):
                ids = {"vendor": "0x1af4", "device": "0x1041", "class": "0x020000"}
                files.update((f"{folder}/{file}", f"{text}\n") for file, text in ids.items())
            self.net[name] = {"pci": pci, "mtu": 1500, "addresses": [], "index": index + 2, "up": True}
            for netdev in ("all", "default", name):
                conf = f"/proc/sys/net/ipv4/conf/{netdev}"
                files.update((f"{conf}/{key}", "0\n") for key in ("rp_filter", "arp_ignore", "arp_announce"))
        for number, text in enumerate(("128\n", "512\n", "1024\n"), 1):
            files[f"/proc/sys/net/ipv4/neigh/default/gc_thresh{number}"] = text
        self.net["ens2"]["addresses"] = ["10.0.2.15/24"]
        self.loaded: dict[str, str] = {}
        self.routes = [{"dst": "default", "gateway": "10.0.2.2", "dev": "ens2", "table": "main", "flags": []}]
        self.rules = [{"priority": 32766, "src": "all", "table": "main"}]
        super().__init__(files, tools, links)

    def with_intent(self, wanted: Optional[NodeIntent] = None) -> SimulatedNode:
        self.files[PATH] = dump(wanted or intent()).encode()
        return self

    def ip(self) -> str:
        entries = []
        for name, dev in self.net.items():
            infos = []
            for address in dev["addresses"]:
                local, _, length = address.partition("/")
                infos.append({"family": "inet6" if ":" in local else "inet", "local": local, "prefixlen": int(length)})
            flags = ["BROADCAST", "MULTICAST", *(["UP", "LOWER_UP"] if dev["up"] else [])]
            entry = {"ifindex": dev["index"], "ifname": name, "flags": flags, "mtu": dev["mtu"], "addr_info": infos}
            entry.update(operstate="UP" if dev["up"] else "DOWN", link_type="ether", parentbus="pci")
            entry.update(address=f"52:54:00:00:01:0{dev['index']}", parentdev=dev["pci"], max_mtu=9000)
            entries.append(entry)
        return "\n".join(json.dumps(document) for document in (entries, self.routes + self._connected(), self.rules))

    def _connected(self) -> list:
        """What the kernel adds with an address."""
        found = []
        for name, dev in self.net.items():
            for address in dev["addresses"] if dev["up"] else ():
                subnet, local = str(ip_interface(address).network), address.partition("/")[0]
                found.append({"dst": subnet, "dev": name, "table": "main", "protocol": "kernel", "prefsrc": local})
        return found

    def modprobe(self) -> str:
        module = self.calls[-1].split()[1]
        self.files["/proc/modules"] += f"{module} 1 0 - Live 0x0\n".encode()
        return ""

    def reload(self) -> str:
        self.loaded = {
            path: self.read(path) for path in self.files if path.startswith("/etc/systemd/network/10-railwright")
        }
        return ""

    def reconfigure(self) -> str:
        dev = self.net[self.calls[-1].split()[2]]
        text = next((text for text in self.loaded.values() if f"Path=pci-{dev['pci']} " in text), "")
        settings = [line.partition("=")[::2] for line in text.splitlines()]
        dev["addresses"] = [value for key, value in settings if key == "Address"]
        mtu = [int(value) for key, value in settings if key == "MTUBytes"]
        # The kernel refuses more than the driver's limit; networkd logs that, and networkctl succeeds.
        if mtu and mtu[0] <= 9000:
            dev["mtu"] = mtu[0]
        dev["up"] = True
        return ""

    def rdma_add(self) -> object:
        _, _, _, name, _, _, _, netdev = self.calls[-1].split()
        if b"rdma_rxe" not in self.files["/proc/modules"]:
            return (2, "error: Operation not supported")
        self.add_device(name, netdev)
        return ""

    def add_device(self, name: str, netdev: str) -> None:
        home = f"/sys/class/infiniband/{name}"
        self.links[home] = f"/sys/devices/virtual/infiniband/{name}"
        self.files[f"{home}/parent"] = f"{netdev}\n".encode()
        port = f"{home}/ports/1"
        for file, text in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"), ("link_layer", "Ethernet")):
            self.files[f"{port}/{file}"] = f"{text}\n".encode()
        self.files[f"{port}/rate"] = b"100 Gb/sec (4X EDR)\n"

    def rdma_delete(self) -> str:
        self._forget(self.calls[-1].split()[3])
        return ""

    def rdma_rename(self) -> str:
        _, _, _, name, _, new = self.calls[-1].split()
        netdev = self.read(f"/sys/class/infiniband/{name}/parent").strip()
        self._forget(name)
        self.add_device(new, netdev)
        return ""

    def _forget(self, name: str) -> None:
        home = f"/sys/class/infiniband/{name}"
        self.links.pop(home)
        for path in [path for path in self.files if path.startswith(f"{home}/")]:
            del self.files[path]
