# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about a rail's hardware and link: NIC, RDMA device, link, rate, MTU."""

from __future__ import annotations

from typing import Optional

from ..model.facts import Netdev, RdmaPort
from ..model.finding import Finding
from ..resolve.bind import BoundRail, describe, soft_name
from .rule import Rule
from .view import View, leaves, place

NIC = Rule(
    "rail.nic",
    "The rail's NIC is on the node and its driver shows a network device",
    "fail",
    "local",
    "Rails are bound to hardware: a NIC that moved or died leaves the rail without a port.",
    "Compare lspci -D with the hardware profile. After a replacement, preflight prints the fabric_devices entry.",
    "the hardware profile (group hw_*) or the host's fabric_devices",
)
DEVICE = Rule(
    "rail.device",
    "The rail has an RDMA device",
    "fail",
    "local",
    "Without an RDMA device NCCL falls back to TCP without saying so.",
    "Run site.yml (role rdma_stack) for this node; see dmesg for the driver's message.",
    "kernel Documentation/infiniband/core_locking.rst: a device is usable once it is registered",
)
LINK = Rule(
    "rail.link",
    "The rail's link is up and its RDMA port is ACTIVE",
    "fail",
    "local",
    "A port that is not ACTIVE carries no RDMA traffic.",
    "Check cable, transceiver and leaf port.",
    "kernel Documentation/ABI/stable/sysfs-class-infiniband (state) and testing/sysfs-class-net (carrier)",
)
RATE = Rule(
    "rail.rate",
    "The rail runs at the speed of the spec",
    "fail",
    "local",
    "One slow rail slows every collective down: the ring waits for its slowest member.",
    "Check cable and transceiver types, auto-negotiation and FEC on both ends, and the lanes in use.",
    "fabric_spec.fabrics.*.link.speed",
)
MTU = Rule(
    "rail.mtu",
    "The rail's network device has the MTU of the spec",
    "fail",
    "local",
    "The RDMA path MTU follows from it; ends with different MTUs drop each other's full packets.",
    "Run site.yml (role rail_network) for this node.",
    "fabric_spec.fabrics.*.link.host_mtu",
)
PATH_MTU = Rule(
    "rail.path_mtu",
    "The RDMA port has the path MTU that follows from the spec",
    "fail",
    "local",
    "A smaller path MTU costs bandwidth and packets; ends must agree.",
    "Set the network device's MTU (role rail_network); on InfiniBand see the subnet manager's MTU.",
    "the largest of 256 … 4096 bytes that fits the MTU (InfiniBand Architecture 1.4, 9.7.7; RoCE v2 annex A17)",
)


def nic(view: View, rail: BoundRail) -> Optional[Finding]:
    """Every port of the rail has its NIC function, with a driver that shows a network device."""
    host, name = view.host, rail.intent.name
    broken = [port for port in rail.ports if port.problem]
    unread = [section for section in ("pci", "netdevs", "rdma") if getattr(view.facts, section) is None]
    wanted = "; ".join(" or ".join(describe(match) for match in port.intent.match) for port in broken or rail.ports)
    if broken and unread:
        return NIC.unknown(host, name, expected=wanted, found=view.missing(" and ".join(unread), *unread))
    if broken:
        moved = any(port.found for port in broken)
        return NIC.broken(
            host,
            name,
            expected=wanted,
            found="; ".join(port.problem for port in broken),
            cause="the NIC has no working driver" if moved else "the NIC is missing, dead, or in another place",
            remedy="See dmesg for the driver's message; load the driver (role rdma_stack)." if moved else "",
        )
    return NIC.passed(host, name, found=place(rail))


def device(view: View, rail: BoundRail) -> Optional[Finding]:
    """An RDMA device with the rail's port."""
    host, name, soft = view.host, rail.intent.name, rail.intent.soft_roce
    wanted = soft_name(rail.intent) if soft else f"an RDMA device for {place(rail)}"
    if view.facts.rdma is None:
        return DEVICE.unknown(host, name, expected=wanted, found=view.missing("RDMA devices", "rdma"))
    unread = [section for section in ("pci", "netdevs") if getattr(view.facts, section) is None]
    if rail.rdma is None and unread:
        return DEVICE.unknown(host, name, expected=wanted, found=view.missing(" and ".join(unread), *unread))
    if rail.rdma is None:
        return DEVICE.broken(
            host,
            name,
            expected=wanted,
            found="none",
            cause="the soft RoCE link was not added" if soft else "the driver's RDMA half is not loaded, or it failed",
            remedy=f"Run site.yml (role rdma_stack), or: rdma link add {wanted} type rxe netdev {place(rail)}"
            if soft
            else "",
        )
    if rail.port is None:
        return DEVICE.broken(
            host, name, expected=wanted, found=f"{rail.rdma.name} without the rail's port", cause="the port is missing"
        )
    return DEVICE.passed(host, name, found=rail.rdma.name)


def link(view: View, rail: BoundRail) -> Optional[Finding]:
    """Administrative state, carrier and RDMA port state, the nearest cause first."""
    host, name = view.host, rail.intent.name
    expected = "up, with carrier, RDMA port ACTIVE"
    if rail.intent.transport != "infiniband":
        netdevs = _netdevs(rail)
        if view.facts.netdevs is None:
            return LINK.unknown(host, name, expected=expected, found=view.missing("network devices", "netdevs"))
        if not netdevs:
            return LINK.unknown(host, name, expected=expected, found="the rail has no network device")
        if rail.intent.bond is not None and rail.netdev is None and rail.intent.vlan is None:
            return LINK.unknown(host, name, expected=expected, found=f"{rail.netdev_name} does not exist")
        down = _down(host, rail, netdevs, expected)
        if down is not None:
            return down
        blind = [netdev.name for netdev in netdevs if netdev.admin_up is None or netdev.carrier is None]
        if blind:
            found = view.missing(f"state of {', '.join(blind)}", *blind)
            return LINK.unknown(host, name, expected=expected, found=found)
    return _port_state(view, rail, expected)


def _netdevs(rail: BoundRail) -> list[Netdev]:
    """Ports first, then what is stacked on them: the lowest one that is down is the cause.

    A bond carries the rail as long as it is up itself: its legs are the matter of rail.bond.
    """
    ports = [port.netdev for port in rail.ports if port.netdev is not None]
    if rail.intent.bond is not None and rail.netdev is not None:
        ports = []
    return ports + ([rail.netdev] if rail.netdev is not None and rail.netdev not in ports else [])


def _down(host: str, rail: BoundRail, netdevs: list[Netdev], expected: str) -> Optional[Finding]:
    for netdev in netdevs:
        if netdev.admin_up is False:
            return LINK.broken(
                host,
                rail.intent.name,
                expected=expected,
                found=f"{netdev.name} is set down",
                cause="somebody or something set the link down on the node (ip link set … down)",
                remedy=f"ip link set {netdev.name} up, or run site.yml (role rail_network) for this node.",
                device=netdev.name,
            )
    for netdev in netdevs:
        if netdev.carrier is False:
            leaf = leaves(rail)
            return LINK.broken(
                host,
                rail.intent.name,
                expected=expected,
                found=f"{netdev.name} is set up but has no carrier",
                cause="no signal from the other end: cable, transceiver"
                + (f", or the port of leaf {leaf}" if leaf else " or leaf port"),
                device=netdev.name,
            )
    return None


def _port_state(view: View, rail: BoundRail, expected: str) -> Finding:
    host, name, port = view.host, rail.intent.name, rail.port
    if rail.rdma is None or port is None or port.state is None:
        subjects = ("rdma", rail.rdma.name) if rail.rdma else ("rdma",)
        found = view.missing("the RDMA port's state", *subjects)
        return LINK.unknown(host, name, expected=expected, found="no RDMA port" if rail.rdma is None else found)
    if port.state == "ACTIVE":
        return LINK.passed(host, name, found=f"{place(rail)} up, {rail.rdma.name} ACTIVE")
    if rail.intent.transport == "infiniband" and (port.state != "DOWN" or port.physical_state == "LinkUp"):
        cause, remedy = _unmanaged(port)
    elif rail.intent.transport == "infiniband":
        cause, remedy = f"physical state is {port.physical_state or 'not known'}", ""
    else:
        cause = f"the link of {place(rail)} is up, but the driver keeps the RDMA port down"
        remedy = "See dmesg; reload the driver or reset the NIC."
    found = f"{rail.rdma.name} port {port.number} is {port.state}"
    return LINK.broken(host, name, expected=expected, found=found, cause=cause, remedy=remedy, device=rail.rdma.name)


def _unmanaged(port: RdmaPort) -> tuple[str, str]:
    """Cause and remedy for an InfiniBand port whose cable is good: its logical state is the subnet manager's to raise.

    IBTA vol. 1, 7.2 (link states). A subnet manager that went leaves its LIDs on the ports behind.
    """
    remedy = "The link itself is good. See whether a subnet manager answers: sminfo. If none, start the spec's."
    if port.lid in (None, 0) or port.sm_lid in (None, 0):
        return "no subnet manager: none has brought the port up", remedy
    return f"no subnet manager brings the port up; the last one known had LID {port.sm_lid}", remedy


def rate(view: View, rail: BoundRail) -> Optional[Finding]:
    """Speed of each port. Soft RoCE has none of its own: rxe reports a made-up rate, virtio none (-1)."""
    want = rail.intent.speed_gbps
    if rail.intent.soft_roce or want is None:
        return None
    host, name, expected = view.host, rail.intent.name, f"{want:g} Gbit/s"
    speeds: list[tuple[str, Optional[float]]] = []
    for port in rail.ports:
        speed = port.netdev.speed_mbps if port.netdev is not None and rail.intent.transport != "infiniband" else None
        value = speed / 1000.0 if speed is not None else port.port.rate_gbps if port.port is not None else None
        label = port.netdev.name if port.netdev else port.rdma.name if port.rdma else "port"
        lanes = f" over {port.port.lanes} lane(s)" if port.port is not None and port.port.lanes else ""
        speeds.append((f"{label} {value:g} Gbit/s{lanes}" if value is not None else label, value))
    found = ", ".join(text for text, _value in speeds)
    # 1 %: the kernel rounds (56 for FDR's 54.5), a lower step of any link is far more than that.
    if any(value is not None and value < want * 0.97 for _text, value in speeds):
        return RATE.broken(
            host, name, expected=expected, found=found, cause="the link came up slower than the spec says"
        )
    blind = [text for text, value in speeds if value is None]
    if blind or not speeds:
        names = [port.netdev.name for port in rail.ports if port.netdev] + ([rail.rdma.name] if rail.rdma else [])
        found = view.missing(f"the speed of {', '.join(blind) or 'the rail'}", "netdevs", "rdma", *names)
        return RATE.unknown(host, name, expected=expected, found=found)
    if any(value is not None and value > want * 1.03 for _text, value in speeds):
        return RATE.broken(
            host,
            name,
            expected=expected,
            found=found,
            cause="the link is faster than the spec says",
            remedy="Correct link.speed in the fabric spec: bandwidth is judged against it.",
            warn=True,
        )
    return RATE.passed(host, name, found=found)


def mtu(view: View, rail: BoundRail) -> Optional[Finding]:
    """MTU of the netdev that carries the rail's address."""
    want = rail.intent.host_mtu
    if want is None:
        return None
    host, name, netdev = view.host, rail.intent.name, rail.netdev
    if netdev is None or netdev.mtu is None:
        found = view.missing(f"the MTU of {place(rail)}", "netdevs", place(rail))
        return MTU.unknown(host, name, expected=str(want), found=found)
    if netdev.mtu == want:
        return MTU.passed(host, name, found=f"{netdev.name} {netdev.mtu}")
    limit = netdev.max_mtu
    if limit is not None and limit < want:
        cause, remedy = f"the driver allows at most {limit}", "Lower link.host_mtu in the spec, or change the NIC."
    else:
        cause, remedy = "the MTU was changed on the node, or never set", ""
    return MTU.broken(
        host,
        name,
        expected=str(want),
        found=f"{netdev.name} {netdev.mtu}",
        cause=cause,
        remedy=remedy,
        device=netdev.name,
    )


def path_mtu(view: View, rail: BoundRail) -> Optional[Finding]:
    """Active MTU of the rail's RDMA port."""
    host, name, want, port = view.host, rail.intent.name, rail.intent.path_mtu, rail.port
    if rail.rdma is None or port is None or port.active_mtu is None:
        subjects = ("rdma", rail.rdma.name) if rail.rdma else ("rdma",)
        return PATH_MTU.unknown(host, name, expected=str(want), found=view.missing("the path MTU", *subjects))
    if port.active_mtu == want:
        return PATH_MTU.passed(host, name, found=f"{rail.rdma.name} {want}")
    return PATH_MTU.broken(
        host,
        name,
        expected=str(want),
        found=f"{rail.rdma.name} {port.active_mtu}",
        cause="the RDMA port does not follow the network device's MTU"
        if rail.intent.transport != "infiniband"
        else "the subnet manager or the leaf limits it",
        device=rail.rdma.name,
    )
