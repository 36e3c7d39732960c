# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Network settings of others: files of networkd, NetworkManager and ifupdown that configure a netdev of a rail."""

from __future__ import annotations

from typing import Iterator, Optional, Sequence

from ..model.facts import Netdev, Owner
from ..parse import ini
from .collect import Reader
from .owners_sysctl import SUBJECT

# systemd.network(5): of one name, the file in the earlier folder counts; over all folders the first that matches wins.
NETWORKD = (
    "/etc/systemd/network",
    "/run/systemd/network",
    "/usr/local/lib/systemd/network",
    "/usr/lib/systemd/network",
)
PROFILES = (
    "/etc/NetworkManager/system-connections",
    "/run/NetworkManager/system-connections",
    "/usr/lib/NetworkManager/system-connections",
)
IFCFG = "/etc/sysconfig/network-scripts"
INTERFACES = "/etc/network/interfaces"
OURS = "railwright"
_CLOUD = "/etc/cloud"


def network_owners(reader: Reader, netdevs: Sequence[Netdev], manager: Optional[str]) -> Iterator[Owner]:
    """Owners of ``<netdev>.addresses`` and ``<netdev>.mtu``, of ``manager`` and of ifupdown."""
    if manager in ("systemd-networkd", "netplan"):
        yield from _networkd(reader, netdevs)
    if manager == "NetworkManager":
        from .owners_profiles import profile_owners  # noqa: PLC0415 - each node has one network manager

        yield from profile_owners(reader, netdevs)
    if reader.port.exists("/sbin/ifup") or reader.port.exists("/usr/sbin/ifup"):
        yield from _ifupdown(reader, netdevs)


def said(reader: Reader, netdev: str, addresses: str, mtu: Optional[str], source: str, wins: bool) -> Iterator[Owner]:
    """The owners that one file makes; one of cloud-init is said to come back when cloud-init still writes it."""
    if "cloud-init" in source and not _cloud_init_is_off(reader):
        source = f"{source} (cloud-init writes it)"
    yield Owner(f"{netdev}.addresses", addresses, source, wins)
    if mtu:
        yield Owner(f"{netdev}.mtu", mtu, source, wins)


def _cloud_init_is_off(reader: Reader) -> bool:
    """cloud-init's documentation, network configuration: ``network: {config: disabled}``."""
    if reader.port.exists(f"{_CLOUD}/cloud-init.disabled"):
        return True
    for name in reader.names(f"{_CLOUD}/cloud.cfg.d", SUBJECT):
        if name.endswith(".cfg"):
            words = (reader.text(f"{_CLOUD}/cloud.cfg.d/{name}", SUBJECT) or "").translate(
                {ord(letter): " " for letter in "{},\n"}
            )
            if "network: config: disabled" in " ".join(words.split()):
                return True
    return "network-config=disabled" in (reader.text("/proc/cmdline", SUBJECT) or "").split()


def _networkd(reader: Reader, netdevs: Sequence[Netdev]) -> Iterator[Owner]:
    """For each netdev the first file that matches, unless it is ours: no later one counts."""
    files: dict[str, str] = {}
    for folder in NETWORKD:
        for name in reader.names(folder, SUBJECT):
            if name.endswith(".network"):
                files.setdefault(name, f"{folder}/{name}")
    left = list(netdevs)
    for name in sorted(files):
        if not left:
            return
        sections = ini.parse(reader.text(files[name], SUBJECT) or "")
        matched = [netdev for netdev in left if _matches(sections, netdev)]
        left = [netdev for netdev in left if netdev not in matched]
        # Made by hand or by netplan: a generated file carries the name of what it is about, ours as all others.
        if OURS in name or _made_by_our_netplan(reader, name):
            continue
        addresses = list(ini.values(sections, "Network", "Address")) + list(ini.values(sections, "Address", "Address"))
        dhcp = ini.value(sections, "Network", "DHCP")
        addresses += ["dhcp"] if dhcp not in (None, "no", "false", "none", "0") else []
        for netdev in matched:
            mtu = ini.value(sections, "Link", "MTUBytes")
            yield from said(reader, netdev.name, ", ".join(addresses) or "none", mtu, files[name], True)


def _made_by_our_netplan(reader: Reader, name: str) -> bool:
    """A bond or VLAN of ours has the rail's name, in netplan's file as well."""
    rail = name[len("10-netplan-") :].partition(".")[0]
    return name.startswith("10-netplan-") and reader.port.exists(f"/etc/netplan/90-railwright-{rail}.yaml")


def _matches(sections: tuple[ini.Section, ...], netdev: Netdev) -> bool:
    """Whether [Match] fits the netdev, as far as it can be told: a condition on the machine counts as met."""
    if not any(name == "Match" for name, _items in sections):
        return False
    mac = netdev.mac or ""
    told = {
        "Name": (netdev.name, *netdev.altnames),
        "MACAddress": (mac,),
        "PermanentMACAddress": (netdev.permanent_mac or ("" if netdev.kind else mac),),
        "Path": (f"pci-{netdev.pci}", f"virtio-pci-{netdev.pci}") if netdev.pci else ("",),
        "Driver": (netdev.driver or "",),
        "Type": (netdev.kind or "ether", *(("ether",) if netdev.kind in ("bond", "vlan") else ())),
        "Kind": (netdev.kind or "",),
        "SSID": ("",),
        "BSSID": ("",),
        "WLANInterfaceType": ("",),
    }
    for key, have in told.items():
        wanted = " ".join(ini.values(sections, "Match", key)).lower().split()
        if wanted and not _any(wanted, [value.lower() for value in have]):
            return False
    return True


def _any(patterns: list[str], values: list[str]) -> bool:
    """Whether one of the patterns fits; after a leading ``!`` none of them may."""
    denied = patterns[0].startswith("!")
    patterns = [patterns[0].lstrip("!"), *patterns[1:]]
    hit = any(fits(pattern, value) for pattern in patterns for value in values if value)
    return hit is not denied


def fits(pattern: str, value: str) -> bool:
    """Shell pattern against a name, without compiling the frequent ones: plain names and a star at the end."""
    if not any(letter in "*?[" for letter in pattern):
        return pattern == value
    if pattern.endswith("*") and not any(letter in "*?[" for letter in pattern[:-1]):
        return value.startswith(pattern[:-1])
    from fnmatch import fnmatchcase  # noqa: PLC0415 - it compiles the pattern

    return fnmatchcase(value, pattern)


def _ifupdown(reader: Reader, netdevs: Sequence[Netdev]) -> Iterator[Owner]:
    """Stanzas of others count beside ours: ifup takes all that a netdev has, interfaces(5)."""
    if not reader.port.exists(INTERFACES):
        return
    from .ifupdown import interfaces  # noqa: PLC0415 - most nodes with rails have none

    for path, content in interfaces(reader):
        if OURS in path:
            continue
        for stanza in content.stanzas:
            if any(netdev.name == stanza.netdev for netdev in netdevs):
                value = stanza.address or stanza.method
                yield from said(reader, stanza.netdev, value, stanza.mtu, path, stanza.netdev in content.auto)
