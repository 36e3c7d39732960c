# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded trees of made-up nodes, for every test that wants a node without having one.

A tree has the shape of a real one: devices below ``/sys/devices``, links to them in ``/sys/class`` and ``/sys/bus``,
GID tables of the length that drivers have, and ``commands.json`` with what the tools print. Change a node by replacing
fields of its :class:`Nic` descriptions, or by editing the files afterwards.
"""

from __future__ import annotations

import ipaddress
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence

IP = ["ip", "-j", "-d", "-force", "-batch", "-"]
RDMA = ["rdma", "-j", "link", "show"]
DEVINFO = ["ibv_devinfo"]
LLDP = ["lldpcli", "-f", "json0", "show", "neighbors"]

RULES = [
    {"priority": priority, "src": "all", "table": table, "protocol": "kernel"}
    for priority, table in ((0, "local"), (32766, "main"), (32767, "default"))
]

ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000\n"
BUSES = (0x18, 0x29, 0x3A, 0x4B, 0x9A, 0xAB, 0xBC, 0xCD)


@dataclass(frozen=True)
class Nic:
    """One NIC function: its PCI place, its netdev and, unless ``rdma`` is empty, its RDMA device."""

    pci: str
    netdev: str
    chain: tuple[str, ...] = ()
    mac: str = "b8:ce:f6:00:00:01"
    rdma: str = ""
    soft: bool = False
    driver: str = "mlx5_core"
    numa: int = 0
    slot: str = ""
    mtu: int = 9000
    addresses: tuple[str, ...] = ()
    admin_up: bool = True
    carrier: bool = True
    speed: int = 400000
    pcie: tuple[str, int] = ("32.0 GT/s PCIe", 16)  # speed and width of the link: as it is, and as it could be
    max_pcie: tuple[str, int] = ("32.0 GT/s PCIe", 16)
    carrier_changes: int = 2
    master: str = ""
    link_layer: str = "Ethernet"
    state: str = "4: ACTIVE"
    phys_state: str = "5: LinkUp"
    rate: str = "400 Gb/sec (4X NDR)"
    active_mtu: int = 4096
    lid: int = 0
    sm_lid: int = 0
    guid: str = "b8ce:f603:0000:0001"
    firmware: str = "28.43.2026"
    rdma_netdev: str = ""  # the netdev of the RDMA port when it is not this one: a bond
    gid_types: tuple[str, ...] = ("IB/RoCE v1", "RoCE v2")
    gid_table: int = 256
    leaf: str = ""
    leaf_port: str = "Ethernet0"
    counters: dict[str, int] = field(default_factory=lambda: {"port_rcv_data": 1000, "link_downed": 0})
    hw_counters: dict[str, int] = field(default_factory=lambda: {"out_of_sequence": 0, "lifespan": 12})


@dataclass(frozen=True)
class Upper:
    """A netdev above others: a bond (``mode``) or a VLAN (``lower`` and ``vlan``)."""

    name: str
    mac: str = "b8:ce:f6:00:00:01"
    mtu: int = 9000
    addresses: tuple[str, ...] = ()
    mode: str = ""
    lower: str = ""
    vlan: int = 0


class Tree:
    """Writes files, links and command records below a root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commands: list[dict[str, Any]] = []
        root.mkdir(parents=True, exist_ok=True)

    def file(self, path: str, text: str) -> Path:
        """Write a file of the node."""
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def link(self, path: str, to: str) -> None:
        """Make a relative link to another path of the node."""
        source = self.root / path.lstrip("/")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.symlink_to(os.path.relpath(self.root / to.lstrip("/"), source.parent))

    def command(self, argv: Sequence[str], out: str = "", rc: int = 0, err: str = "", hangs: bool = False) -> None:
        """Record a command; the last record of one command wins."""
        self.commands = [entry for entry in self.commands if entry["argv"] != list(argv)]
        self.commands.append({"argv": list(argv), "rc": rc, "out": out, "err": err, "hangs": hangs})
        (self.root / "commands.json").write_text(json.dumps(self.commands), encoding="utf-8")


def hang(root: Path, argv: Sequence[str]) -> None:
    """Make a command of a finished tree hang."""
    edit_command(root, argv, hangs=True)


def edit_command(root: Path, argv: Sequence[str], **changes: Any) -> None:
    """Change the record of a command in a finished tree, or add it."""
    listing = root / "commands.json"
    commands = json.loads(listing.read_text(encoding="utf-8")) if listing.exists() else []
    entry = next((entry for entry in commands if entry["argv"] == list(argv)), None)
    if entry is None:
        entry = {"argv": list(argv)}
        commands.append(entry)
    entry.update(changes)
    listing.write_text(json.dumps(commands), encoding="utf-8")


def edit_ip(root: Path, which: str, change: Callable[[Any], Any]) -> None:
    """Change what ip tells of ``netdevs``, ``routes`` or ``rules``: in place, or by the list that is returned."""
    commands = json.loads((root / "commands.json").read_text(encoding="utf-8"))
    documents = next(entry["out"] for entry in commands if entry["argv"] == IP).splitlines()
    place = ("netdevs", "routes", "rules").index(which)
    listing = json.loads(documents[place])
    documents[place] = json.dumps(change(listing) or listing)
    edit_command(root, IP, out="\n".join(documents) + "\n")


def edit_sysctl(root: Path, name: str, value: Optional[str]) -> None:
    """Set a kernel parameter by its name (sysctl(8)), or take it away."""
    file = root / "proc/sys" / name.translate({ord("."): "/", ord("/"): "."})
    file.parent.mkdir(parents=True, exist_ok=True)
    if value is None:
        file.unlink()
    else:
        file.write_text(f"{value}\n", encoding="utf-8")


def rail_nics(host: int = 1) -> tuple[Nic, ...]:
    """The eight NICs of the standard node: rail N has the address 10.N.0.<host>/24 on a ConnectX-7."""
    nics = []
    for rail, bus in enumerate(BUSES):
        chain = (f"0000:{bus - 3:02x}:01.0", f"0000:{bus - 2:02x}:00.0", f"0000:{bus - 1:02x}:00.0")
        nics.append(
            Nic(
                pci=f"0000:{bus:02x}:00.0",
                netdev=f"enp{bus}s0np0",
                chain=chain,
                mac=f"b8:ce:f6:00:{host:02x}:{rail:02x}",
                rdma=f"mlx5_{rail}",
                numa=rail // 4,
                slot=str(rail + 1),
                addresses=(f"10.{rail}.0.{host}/24", f"fe80::bace:f6ff:fe00:{host * 256 + rail:x}/64"),
                guid=f"b8ce:f603:00{host:02x}:{rail:04x}",
                leaf=f"su1-leaf{rail}",
                leaf_port=f"Ethernet{host * 8}",
            )
        )
    return tuple(nics)


MANAGEMENT = Nic(
    pci="0000:02:00.0",
    netdev="eno1",
    chain=("0000:00:1c.0",),
    mac="3c:ec:ef:00:00:01",
    driver="igb",
    mtu=1500,
    addresses=("192.0.2.11/24",),
    speed=1000,
)


def eight_rails(root: Path, host: int = 1, nics: Optional[Sequence[Nic]] = None) -> Path:
    """A healthy node with eight RoCE rails, eight GPUs and a management NIC."""
    return node(root, rail_nics(host) if nics is None else nics, hostname=f"node{host:02d}", gpus=BUSES)


def infiniband(root: Path, host: int = 1) -> Path:
    """A healthy node with eight InfiniBand rails; the subnet manager has LID 1."""
    nics = [
        replace(
            nic,
            netdev=f"ibp{BUSES[rail]}s0",
            link_layer="InfiniBand",
            mac="",
            addresses=(),
            mtu=2044,
            lid=host * 16 + rail,
            sm_lid=1,
            gid_types=("IB/RoCE v1",),
            gid_table=8,
            leaf="",
        )
        for rail, nic in enumerate(rail_nics(host))
    ]
    return node(root, nics, hostname=f"node{host:02d}", gpus=BUSES)


def bonded(root: Path, host: int = 1) -> Path:
    """A node with one dual-port NIC: two functions in ``bond0``, one RDMA device over both, VLAN 100 above."""
    first = replace(
        rail_nics(host)[0], rdma="mlx5_bond_0", netdev="enp24s0f0np0", master="bond0", addresses=(), rdma_netdev="bond0"
    )
    second = replace(
        first, pci="0000:18:00.1", netdev="enp24s0f1np1", mac=f"b8:ce:f6:00:{host:02x}:f1", rdma="", leaf="su1-sleaf1"
    )
    bond = Upper("bond0", mac=first.mac, mode="802.3ad", addresses=(f"10.20.0.{host}/24",))
    vlan = Upper("bond0.100", mac=first.mac, lower="bond0", vlan=100, addresses=(f"10.21.0.{host}/24",))
    return node(root, (first, second), (bond, vlan), hostname=f"node{host:02d}")


def soft_roce(root: Path, host: int = 1) -> Path:
    """A virtual machine with two virtio rails under soft RoCE (Linux 6.1), named ``rxe_rail0`` and ``rxe_rail1``."""
    nics = [
        Nic(
            pci=f"0000:0{rail + 1}:00.0",
            netdev=f"enp{rail + 1}s0",
            chain=(f"0000:00:0{rail + 2}.0",),
            mac=f"52:54:00:00:{host:02x}:{rail:02x}",
            rdma=f"rxe_rail{rail}",
            soft=True,
            driver="virtio_net",
            numa=-1,
            mtu=4200,
            addresses=(f"10.{rail + 1}.0.{host}/24",),
            speed=-1,
            rate="100 Gb/sec (4X EDR)",
            guid=f"5054:00ff:fe00:{host:02x}{rail:02x}",
            firmware="",
            gid_types=("RoCE v2",),
            gid_table=64,
            leaf=f"leaf{rail}",
            counters={},
        )
        for rail in range(2)
    ]
    management = replace(MANAGEMENT, pci="0000:00:01.0", chain=(), driver="virtio_net", numa=-1, speed=-1)
    return node(root, nics, hostname=f"node{host}", management=management, product="Standard PC (Q35 + ICH9, 2009)")


def node(
    root: Path,
    nics: Sequence[Nic],
    uppers: Sequence[Upper] = (),
    *,
    hostname: str = "node01",
    management: Nic = MANAGEMENT,
    product: str = "PowerEdge XE9680",
    gpus: Sequence[int] = (),
) -> Path:
    """Write a whole node; returns its root."""
    tree = Tree(root)
    _system(tree, hostname, product, management.netdev)
    for nic in (management, *nics):
        _nic(tree, nic, {upper.name: upper for upper in uppers})
    for bus in gpus:
        _gpu(tree, bus)
    for upper in uppers:
        tree.file(f"/sys/devices/virtual/net/{upper.name}/mtu", f"{upper.mtu}\n")
        tree.link(f"/sys/class/net/{upper.name}", f"/sys/devices/virtual/net/{upper.name}")
    told = (_ip([management, *nics], uppers), list(_routes(management, nics, uppers)), RULES)
    tree.command(IP, "".join(f"{json.dumps(document)}\n" for document in told))
    _sysctls(tree, [device.netdev for device in (management, *nics)] + [upper.name for upper in uppers])
    rdma = [nic for nic in nics if nic.rdma]
    tree.command(RDMA, json.dumps([_rdma_link(number, nic) for number, nic in enumerate(rdma)]))
    tree.command(DEVINFO, "".join(_devinfo(nic) for nic in rdma))
    if any(nic.leaf for nic in nics):
        tree.file("/run/lldpd.socket", "")
        tree.command(LLDP, json.dumps(_lldp([nic for nic in nics if nic.leaf])))
    return root


def _system(tree: Tree, hostname: str, product: str, management: str) -> None:
    vendor = "QEMU" if "Standard PC" in product else "Dell Inc."
    tree.file("/proc/sys/kernel/hostname", f"{hostname}\n")
    tree.file("/proc/sys/kernel/osrelease", "6.1.0-30-amd64\n")
    tree.file("/proc/sys/kernel/arch", "x86_64\n")
    tree.file("/proc/sys/kernel/random/boot_id", "0f3b9a52-7a0e-4a8e-9a41-2d1b6a6c1d11\n")
    tree.file("/etc/os-release", 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')
    tree.file("/sys/class/dmi/id/product_name", f"{product}\n")
    tree.file("/sys/class/dmi/id/sys_vendor", f"{vendor}\n")
    tree.file("/sys/fs/cgroup/system.slice/systemd-networkd.service/cgroup.procs", "411\n")
    for pid, unit in ((700, "sshd"), (701, "slurmd"), (702, "kubelet"), (703, "containerd")):
        service(tree, unit, pid)
    tree.file("/run/systemd/units/invocation:railwright-apply.service", "")
    tree.file("/etc/security/limits.conf", "# nothing here\n")
    tree.file("/etc/security/limits.d/90-rdma.conf", "* soft memlock unlimited\n* hard memlock unlimited\n")
    modules = ("rdma_rxe", "mlx5_ib", "mlx5_core", "rdma_ucm", "rdma_cm", "ib_uverbs", "ib_umad", "ib_core")
    tree.file("/proc/modules", "".join(f"{name} 163840 0 - Live 0x0000000000000000\n" for name in modules))
    head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    routes = f"{management}\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
    tree.file("/proc/net/route", head + routes)
    tree.file("/proc/net/ipv6_route", f"{'0' * 32} 00 {'0' * 32} 00 {'0' * 32} ffffffff 1 0 00200200       lo\n")


def service(tree: Tree, unit: str, pid: int, process: str = "", memlock: str = "unlimited") -> None:
    """A unit that runs. The kernel's link in /run/systemd/units points nowhere; a file serves as well."""
    tree.file(f"/run/systemd/units/invocation:{unit}.service", "")
    tree.file(f"/sys/fs/cgroup/system.slice/{unit}.service/cgroup.procs", f"{pid}\n")
    tree.file(f"/proc/{pid}/comm", f"{process or unit}\n")
    limits = [("Max stack size", "8388608", "unlimited"), ("Max locked memory", memlock, memlock)]
    head = f"{'Limit':<25} {'Soft Limit':<20} {'Hard Limit':<20} Units     \n"
    rows = "".join(f"{name:<25} {soft:<20} {hard:<20} bytes     \n" for name, soft, hard in limits)
    tree.file(f"/proc/{pid}/limits", head + rows)


def _device(tree: Tree, pci: str, chain: Sequence[str], ids: tuple[str, str], *, kind: str, numa: int) -> str:
    root = (chain or (pci,))[0]
    path = "/sys/devices/pci" + "/".join((root[:7], *chain, pci))
    for depth, parent in enumerate(chain):
        place = "/sys/devices/pci" + "/".join((root[:7], *chain[: depth + 1]))
        if not (tree.root / place.lstrip("/") / "class").exists():
            tree.file(f"{place}/class", "0x060400\n")
            tree.link(f"/sys/bus/pci/devices/{parent}", place)
    values = {"vendor": ids[0], "device": ids[1], "class": kind, "numa_node": str(numa)}
    for name, value in values.items():
        tree.file(f"{path}/{name}", f"{value}\n")
    tree.link(f"/sys/bus/pci/devices/{pci}", path)
    return path


def _gpu(tree: Tree, bus: int) -> None:
    chain = (f"0000:{bus - 3:02x}:01.0", f"0000:{bus - 2:02x}:00.0", f"0000:{bus - 1:02x}:01.0")
    _device(tree, f"0000:{bus + 1:02x}:00.0", chain, ("0x10de", "0x2330"), kind="0x030200", numa=BUSES.index(bus) // 4)


def _nic(tree: Tree, nic: Nic, uppers: dict[str, Upper]) -> None:
    ids = {"virtio_net": ("0x1af4", "0x1041"), "igb": ("0x8086", "0x1521")}.get(nic.driver, ("0x15b3", "0x1021"))
    kind = "0x020700" if nic.link_layer == "InfiniBand" else "0x020000"
    path = _device(tree, nic.pci, nic.chain, ids, kind=kind, numa=nic.numa)
    driver = "virtio-pci" if nic.driver == "virtio_net" else nic.driver
    tree.file(f"/sys/bus/pci/drivers/{driver}/uevent", "")
    tree.link(f"{path}/driver", f"/sys/bus/pci/drivers/{driver}")
    below = path
    if nic.driver == "virtio_net":
        below = f"{path}/virtio0"
        tree.file("/sys/bus/virtio/drivers/virtio_net/uevent", "")
        tree.link(f"{below}/driver", "/sys/bus/virtio/drivers/virtio_net")
    if nic.slot:
        tree.file(f"/sys/bus/pci/slots/{nic.slot}/address", nic.pci.rpartition(".")[0] + "\n")
    net = f"{below}/net/{nic.netdev}"
    tree.file(f"{net}/mtu", f"{nic.mtu}\n")
    tree.file(f"{net}/speed", f"{nic.speed}\n")
    tree.file(f"{net}/carrier_changes", f"{nic.carrier_changes}\n")
    if nic.driver != "virtio_net":
        for prefix, (speed, width) in (("current", nic.pcie), ("max", nic.max_pcie)):
            tree.file(f"{path}/{prefix}_link_speed", f"{speed}\n")
            tree.file(f"{path}/{prefix}_link_width", f"{width}\n")
    tree.link(f"{net}/device", below)
    tree.link(f"/sys/class/net/{nic.netdev}", net)
    if nic.rdma:
        _rdma(tree, nic, path, uppers)


def _rdma(tree: Tree, nic: Nic, path: str, uppers: dict[str, Upper]) -> None:
    home = f"/sys/devices/virtual/infiniband/{nic.rdma}" if nic.soft else f"{path}/infiniband/{nic.rdma}"
    if nic.soft:
        tree.file(f"{home}/parent", f"{nic.netdev}\n")
    else:
        tree.link(f"{home}/device", path)
        tree.file(f"{home}/hca_type", "MT4129\n")
        tree.file(f"{home}/board_id", "MT_0000000838\n")
    tree.file(f"{home}/fw_ver", f"{nic.firmware}\n")
    tree.file(f"{home}/node_guid", f"{nic.guid}\n")
    tree.file(f"{home}/sys_image_guid", f"{nic.guid}\n")
    tree.link(f"/sys/class/infiniband/{nic.rdma}", home)
    port = f"{home}/ports/1"
    values = {"state": nic.state, "phys_state": nic.phys_state, "rate": nic.rate, "link_layer": nic.link_layer}
    for name, value in {**values, "lid": hex(nic.lid), "sm_lid": hex(nic.sm_lid)}.items():
        tree.file(f"{port}/{name}", f"{value}\n")
    for folder, numbers in (("counters", nic.counters), ("hw_counters", nic.hw_counters)):
        for name, number in numbers.items():
            tree.file(f"{port}/{folder}/{name}", f"{number}\n")
    _gids(tree, nic, port, uppers)


def _gids(tree: Tree, nic: Nic, port: str, uppers: dict[str, Upper]) -> None:
    netdev = nic.rdma_netdev or nic.netdev
    addresses = uppers[netdev].addresses if netdev in uppers else nic.addresses
    gids = [_link_local_gid(nic)] + [_gid(address) for address in addresses if not address.startswith("fe80")]
    entries = [(gid, kind) for gid in gids for kind in nic.gid_types]
    folder = tree.root / port.lstrip("/") / "gids"
    folder.mkdir(parents=True)
    (tree.root / port.lstrip("/") / "gid_attrs/types").mkdir(parents=True)
    (tree.root / port.lstrip("/") / "gid_attrs/ndevs").mkdir(parents=True)
    zero = tree.file(f"{port}/gids/{len(entries)}", ZERO_GID)
    for index in range(len(entries) + 1, nic.gid_table):
        os.link(zero, folder / str(index))
    for index, (gid, kind) in enumerate(entries):
        owner = netdev if nic.link_layer == "Ethernet" else ""
        add_gid(tree.root, nic.rdma, index, gid, kind=kind, netdev=owner)


def add_gid(root: Path, device: str, index: int, gid: str, *, kind: str = "RoCE v2", netdev: str = "") -> None:
    """Write one entry of a GID table; the kernel has no type and netdev for empty ones."""
    port = root / "sys/class/infiniband" / device / "ports/1"
    entry = port / "gids" / str(index)
    entry.unlink(missing_ok=True)
    entry.write_text(f"{gid}\n", encoding="utf-8")
    (port / "gid_attrs/types" / str(index)).write_text(f"{kind}\n", encoding="utf-8")
    if netdev:
        (port / "gid_attrs/ndevs" / str(index)).write_text(f"{netdev}\n", encoding="utf-8")


def remove_gid(root: Path, device: str, index: int) -> None:
    """Empty one entry of a GID table."""
    port = root / "sys/class/infiniband" / device / "ports/1"
    entry = port / "gids" / str(index)
    entry.unlink(missing_ok=True)
    entry.write_text(ZERO_GID, encoding="utf-8")
    for name in ("types", "ndevs"):
        (port / "gid_attrs" / name / str(index)).unlink(missing_ok=True)


def _link_local_gid(nic: Nic) -> str:
    if nic.link_layer == "InfiniBand":
        return f"fe80:0000:0000:0000:{nic.guid}"
    octets = [int(octet, 16) for octet in nic.mac.split(":")]
    eui = [octets[0] ^ 2, *octets[1:3], 0xFF, 0xFE, *octets[3:]]
    return "fe80:0000:0000:0000:" + ":".join(f"{eui[n]:02x}{eui[n + 1]:02x}" for n in range(0, 8, 2))


def _gid(address: str) -> str:
    parsed = ipaddress.ip_interface(address).ip
    # Not .exploded: Python 3.13 writes the last four octets of a mapped address with dots.
    return ipaddress.IPv6Address(f"::ffff:{parsed}" if parsed.version == 4 else str(parsed)).packed.hex(":", 2)


def _ip(nics: Sequence[Nic], uppers: Sequence[Upper]) -> list[dict[str, Any]]:
    loopback = {"ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536}
    loopback.update(operstate="UNKNOWN", link_type="loopback", address="00:00:00:00:00:00", min_mtu=0, max_mtu=0)
    entries: list[dict[str, Any]] = [{**loopback, "addr_info": [_addr_info("127.0.0.1/8")]}]
    for index, nic in enumerate(nics):
        flags = ["BROADCAST", "MULTICAST"] + (["UP", "LOWER_UP" if nic.carrier else "NO-CARRIER"] * nic.admin_up)
        entry: dict[str, Any] = {"ifindex": index + 2, "ifname": nic.netdev, "flags": flags, "mtu": nic.mtu}
        entry.update(operstate="UP" if nic.admin_up and nic.carrier else "DOWN", link_type="ether", address=nic.mac)
        if nic.link_layer == "InfiniBand":
            entry.update(link_type="infiniband", address="00:00:10:29:fe:80:00:00:00:00:00:00:" + _bytes(nic.guid))
            entry["linkinfo"] = {"info_kind": "ipoib", "info_data": {"pkey": "0xffff", "mode": "datagram"}}
        entry.update(min_mtu=68, max_mtu=9978, parentbus="pci", parentdev=nic.pci)
        if nic.master:
            entry["master"] = nic.master
            bond = next(upper for upper in uppers if upper.name == nic.master)
            if bond.mac != nic.mac:
                entry.update(address=bond.mac, permaddr=nic.mac)
            state = {"state": "ACTIVE", "mii_status": "UP", "link_failure_count": 0, "ad_aggregator_id": 1}
            entry["linkinfo"] = {"info_slave_kind": "bond", "info_slave_data": state}
        entries.append({**entry, "addr_info": [_addr_info(address) for address in nic.addresses]})
    for index, upper in enumerate(uppers):
        flags = ["BROADCAST", "MULTICAST", "MASTER", "UP", "LOWER_UP"]
        entry = {"ifindex": 100 + index, "ifname": upper.name, "flags": flags, "mtu": upper.mtu, "operstate": "UP"}
        entry.update(link_type="ether", address=upper.mac, min_mtu=0, max_mtu=65535)
        if upper.lower:
            entry["link"] = upper.lower
            entry["linkinfo"] = {"info_kind": "vlan", "info_data": {"protocol": "802.1Q", "id": upper.vlan}}
        else:
            data = {"mode": upper.mode, "miimon": 100, "xmit_hash_policy": "layer3+4"}
            if upper.mode == "802.3ad":
                ports = sum(nic.master == upper.name and nic.carrier for nic in nics)
                data.update(ad_lacp_rate="fast", ad_info={"aggregator": 1, "num_ports": ports})
            entry["linkinfo"] = {"info_kind": "bond", "info_data": data}
        entries.append({**entry, "addr_info": [_addr_info(address) for address in upper.addresses]})
    return entries


def _routes(management: Nic, nics: Sequence[Nic], uppers: Sequence[Upper]) -> Iterator[dict[str, Any]]:
    flags: dict[str, Any] = {"flags": []}
    first = {"type": "unicast", "dst": "default", "gateway": "192.0.2.1", "dev": management.netdev, "table": "main"}
    yield {**first, "protocol": "static", "scope": "global", "metric": 100, **flags}
    places = [(nic.netdev, nic.addresses) for nic in (management, *nics)]
    places += [(upper.name, upper.addresses) for upper in uppers]
    for netdev, addresses in places:
        for address in addresses:
            own = ipaddress.ip_interface(address)
            route = {"type": "unicast", "dst": str(own.network), "dev": netdev, "table": "main", "protocol": "kernel"}
            if own.version == 4:
                yield {**route, "scope": "link", "prefsrc": str(own.ip), **flags}
            else:
                yield {**route, "scope": "global", "metric": 256, **flags, "pref": "medium"}


def _sysctls(tree: Tree, netdevs: Sequence[str]) -> None:
    for netdev in ("all", "default", *netdevs):
        rail = netdev not in ("all", "default")
        values = {"rp_filter": 2 if rail else 0, "arp_ignore": 1 if rail else 0, "arp_announce": 2 if rail else 0}
        for name, value in values.items():
            tree.file(f"/proc/sys/net/ipv4/conf/{netdev}/{name}", f"{value}\n")
        tree.file(f"/proc/sys/net/ipv6/conf/{netdev}/disable_ipv6", "0\n")
    for family in (4, 6):
        for number, value in enumerate((4096, 8192, 16384), 1):
            tree.file(f"/proc/sys/net/ipv{family}/neigh/default/gc_thresh{number}", f"{value}\n")


def _bytes(guid: str) -> str:
    digits = guid.replace(":", "")
    return ":".join(digits[n : n + 2] for n in range(0, 16, 2))


def _addr_info(address: str) -> dict[str, Any]:
    local, _, length = address.partition("/")
    scope = "link" if local.startswith("fe80") else "global"
    return {"family": "inet6" if ":" in local else "inet", "local": local, "prefixlen": int(length), "scope": scope}


def _rdma_link(number: int, nic: Nic) -> dict[str, Any]:
    entry: dict[str, Any] = {"ifindex": number, "ifname": nic.rdma, "port": 1, "state": nic.state.partition(": ")[2]}
    entry["physical_state"] = {"5: LinkUp": "LINK_UP", "3: Disabled": "DISABLED"}.get(nic.phys_state, "POLLING")
    if nic.link_layer == "Ethernet":
        entry.update(netdev=nic.rdma_netdev or nic.netdev, netdev_index=number + 3)
    return entry


def _devinfo(nic: Nic) -> str:
    sizes = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
    state = int(nic.state.partition(":")[0])
    lines = [
        f"hca_id:\t{nic.rdma}",
        "\ttransport:\t\t\tInfiniBand (0)",
        f"\tfw_ver:\t\t\t\t{nic.firmware}",
        f"\tnode_guid:\t\t\t{nic.guid}",
        f"\tsys_image_guid:\t\t\t{nic.guid}",
        f"\tvendor_id:\t\t\t{'0xffffff' if nic.soft else '0x02c9'}",
        f"\tvendor_part_id:\t\t\t{0 if nic.soft else 4129}",
        "\thw_ver:\t\t\t\t0x0",
        "\tphys_port_cnt:\t\t\t1",
        "\t\tport:\t1",
        f"\t\t\tstate:\t\t\tPORT_{nic.state.partition(': ')[2]} ({state})",
        "\t\t\tmax_mtu:\t\t4096 (5)",
        f"\t\t\tactive_mtu:\t\t{nic.active_mtu} ({sizes[nic.active_mtu]})",
        f"\t\t\tsm_lid:\t\t\t{nic.sm_lid}",
        f"\t\t\tport_lid:\t\t{nic.lid}",
        "\t\t\tport_lmc:\t\t0x00",
        f"\t\t\tlink_layer:\t\t{nic.link_layer}",
    ]
    return "\n".join(lines) + "\n\n"


def _lldp(nics: Sequence[Nic]) -> dict[str, Any]:
    interfaces = []
    for nic in nics:
        chassis = {"id": [{"type": "mac", "value": "00:00:5e:00:53:01"}], "name": [{"value": nic.leaf}]}
        port = {"id": [{"type": "ifname", "value": nic.leaf_port}], "descr": [{"value": nic.leaf_port}]}
        interfaces.append({"name": nic.netdev, "via": "LLDP", "chassis": [chassis], "port": [port]})
    return {"lldp": [{"interface": interfaces}]}
