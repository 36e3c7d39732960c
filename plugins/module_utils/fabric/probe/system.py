# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The node itself: kernel, distribution, network manager."""

from __future__ import annotations

import sys
from typing import Optional

from ..errors import ReadError
from ..model.facts import System
from ..parse import os_release, qos_files
from ..ports import LocalPort
from .collect import Reader

_KERNEL = "/proc/sys/kernel"
_LOCKDOWN = "/sys/kernel/security/lockdown"
# What hypervisors write into DMI's system vendor.
_HYPERVISORS = ("QEMU", "KVM", "VMware", "Xen", "innotek", "Parallels", "Bochs", "Google", "Amazon EC2", "OpenStack")
# A unit's control group is there while the unit runs; the places are those of cgroup v2, hybrid and v1.
CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd")

_INTERFACES, _OURS = "/etc/network/interfaces", "railwright"
_UNITS = ("/etc/systemd/network", "/run/systemd/network")
_PROFILES = (
    "/etc/NetworkManager/system-connections",
    "/run/NetworkManager/system-connections",
    "/etc/sysconfig/network-scripts",
)


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
        lockdown=reader.value(_LOCKDOWN, qos_files.lockdown, "system") if reader.port.exists(_LOCKDOWN) else None,
    )


def _machine(reader: Reader) -> Optional[str]:
    told = reader.text(f"{_KERNEL}/arch", "system")
    return told or reader.tool(("uname", "-m"), lambda out: out.strip() or None, "system")


def network_manager(reader: Reader) -> Optional[str]:
    """Who configures netdevs here: netplan (over systemd-networkd), systemd-networkd, NetworkManager or ifupdown.

    A program counts when it runs (ifupdown, when it has something to do). Where netplan's renderer is NetworkManager,
    that is the answer. Several that have something to do at once are told as such: ``ifupdown and NetworkManager``.
    """
    networkd = _runs(reader, "systemd-networkd", "/run/systemd/netif/state")
    manager = _runs(reader, "NetworkManager", "/run/NetworkManager/NetworkManager.pid")
    found = []
    if (networkd or manager) and any(name.endswith(".yaml") for name in _names(reader, "/etc/netplan")):
        rendered = manager and (not networkd or _renderer(reader) == "NetworkManager")
        found.append("NetworkManager" if rendered else "netplan")
    elif networkd and manager:
        profiles = _foreign(reader, _PROFILES)
        units = [name for name in _names(reader, "/etc/systemd/network") if name.endswith(".network")]
        # Of two that are idle, networkd is the one that does nothing by itself; what we told it before, it has to do.
        if units and not (profiles and all(_OURS in name for name in units)):
            found.append("systemd-networkd")
        if profiles or not units:
            found.append("NetworkManager")
    elif networkd or manager:
        found.append("systemd-networkd" if networkd else "NetworkManager")
    if not found:
        return "ifupdown" if reader.port.exists(_INTERFACES) else None
    if any(reader.port.exists(program) for program in ("/sbin/ifup", "/usr/sbin/ifup")) and _stanzas(reader):
        idle = found == ["systemd-networkd"] and not any(
            name.endswith(".network") for folder in _UNITS for name in _names(reader, folder)
        )
        found = ["ifupdown"] if idle else ["ifupdown", *found]
    return " and ".join(found)


def _foreign(reader: Reader, folders: tuple[str, ...]) -> bool:
    """Whether somebody else's profiles of NetworkManager are there."""
    names = [name for folder in folders for name in _names(reader, folder)]
    return any(_OURS not in name and name not in ("ifcfg-lo", "readme-ifcfg-rh.txt") for name in names)


def _stanzas(reader: Reader) -> bool:
    """Whether ifupdown has anything of others to configure beside the loopback."""
    if not reader.port.exists(_INTERFACES):
        return False
    from .ifupdown import interfaces  # noqa: PLC0415 - most nodes have no ifupdown

    return any(
        stanza.netdev != "lo" and _OURS not in path
        for path, content in interfaces(reader)
        for stanza in content.stanzas
    )


def _renderer(reader: Reader) -> str:
    """The global renderer of netplan: the last file that names one counts, netplan(5)."""
    from ..parse.netplan import renderer  # noqa: PLC0415 - most nodes have one network manager only

    found = "networkd"
    files = {name: f"{folder}/{name}" for folder in ("/etc/netplan", "/run/netplan") for name in _names(reader, folder)}
    for name, path in sorted(files.items()):
        if name.endswith(".yaml"):
            found = renderer(reader.text(path, "system") or "") or found
    return found


def _runs(reader: Reader, unit: str, trace: str) -> bool:
    slices = [f"{base}/system.slice" for base in CGROUPS if reader.port.exists(f"{base}/system.slice")]
    if slices:
        return any(reader.port.exists(f"{folder}/{unit}.service") for folder in slices)
    return reader.port.exists(trace)


def _names(reader: Reader, folder: str) -> list[str]:
    try:
        return reader.port.listdir(folder)
    except ReadError:
        return []
