# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The node itself: kernel, distribution, network manager."""

from __future__ import annotations

import sys
from typing import Optional

from ..errors import ReadError
from ..model.facts import System
from ..parse import os_release
from ..ports import LocalPort
from .collect import Reader

_KERNEL = "/proc/sys/kernel"
# What hypervisors write into DMI's system vendor.
_HYPERVISORS = ("QEMU", "KVM", "VMware", "Xen", "innotek", "Parallels", "Bochs", "Google", "Amazon EC2", "OpenStack")
# A unit's control group is there while the unit runs; the places are those of cgroup v2, hybrid and v1.
_CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd")


def system(reader: Reader) -> System:
    """Facts about the node. Nothing here runs a tool on a kernel since 6.1, which tells its architecture in /proc."""
    release = reader.value("/etc/os-release", os_release.parse, "system") or {}
    distribution = release.get("ID")
    likes = release.get("ID_LIKE", "").split()
    vendor = reader.text("/sys/class/dmi/id/sys_vendor", "system")
    return System(
        hostname=reader.text(f"{_KERNEL}/hostname", "system"),
        machine=_machine(reader),
        kernel=reader.text(f"{_KERNEL}/osrelease", "system"),
        boot_id=reader.text(f"{_KERNEL}/random/boot_id", "system"),
        distribution=distribution,
        release=release.get("VERSION_ID"),
        distribution_family=tuple(dict.fromkeys(name for name in (distribution, *likes) if name)),
        python="%d.%d.%d" % sys.version_info[:3] if isinstance(reader.port, LocalPort) else None,
        network_manager=network_manager(reader),
        virtual=vendor.startswith(_HYPERVISORS) if vendor else None,
        product=reader.text("/sys/class/dmi/id/product_name", "system"),
    )


def _machine(reader: Reader) -> Optional[str]:
    told = reader.text(f"{_KERNEL}/arch", "system")
    return told or reader.tool(("uname", "-m"), lambda out: out.strip() or None, "system")


def network_manager(reader: Reader) -> Optional[str]:
    """Who configures netdevs here: netplan (over a running back end), systemd-networkd, NetworkManager or ifupdown."""
    networkd = _runs(reader, "systemd-networkd", "/run/systemd/netif/state")
    manager = _runs(reader, "NetworkManager", "/run/NetworkManager/NetworkManager.pid")
    if (networkd or manager) and any(name.endswith(".yaml") for name in _names(reader, "/etc/netplan")):
        return "netplan"
    if networkd and manager:
        # Both run: networkd configures only what its own files name.
        networkd = any(name.endswith(".network") for name in _names(reader, "/etc/systemd/network"))
        manager = not networkd
    if networkd:
        return "systemd-networkd"
    if manager:
        return "NetworkManager"
    return "ifupdown" if reader.port.exists("/etc/network/interfaces") else None


def _runs(reader: Reader, unit: str, trace: str) -> bool:
    slices = [f"{base}/system.slice" for base in _CGROUPS if reader.port.exists(f"{base}/system.slice")]
    if slices:
        return any(reader.port.exists(f"{folder}/{unit}.service") for folder in slices)
    return reader.port.exists(trace)


def _names(reader: Reader, folder: str) -> list[str]:
    try:
        return reader.port.listdir(folder)
    except ReadError:
        return []
