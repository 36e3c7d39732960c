# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""NetworkManager's profiles that name a netdev: keyfiles, nm-settings-keyfile(5), and ifcfg files."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Optional, Sequence

from ..model.facts import Netdev, Owner
from ..parse import ini
from .collect import Reader
from .owners_network import IFCFG, OURS, PROFILES, fits, said
from .owners_sysctl import SUBJECT

_TYPES = ("ethernet", "802-3-ethernet", "infiniband", "bond", "vlan")


class _Profile(NamedTuple):
    path: str
    names: tuple[str, ...]  # patterns of netdev names
    mac: str
    places: tuple[str, ...]  # patterns of udev's ID_PATH
    priority: int
    starts: bool
    addresses: str
    mtu: Optional[str]

    def names_it(self, netdev: Netdev) -> bool:
        """Whether this profile was made for this netdev. One that fits every netdev names none."""
        place = f"pci-{netdev.pci}" if netdev.pci else ""
        told = (
            (self.names, any(fits(pattern, netdev.name) for pattern in self.names)),
            (self.mac, self.mac == (netdev.permanent_mac or netdev.mac or "").lower()),
            (self.places, bool(place) and any(fits(pattern, place) for pattern in self.places)),
        )
        return any(wanted for wanted, _met in told) and all(met for wanted, met in told if wanted)


def profile_owners(reader: Reader, netdevs: Sequence[Netdev]) -> Iterator[Owner]:
    """Profiles of others for these netdevs.

    At boot the profile of the highest priority is activated, of equal ones the one that was active last
    (nm-settings(5): connection.autoconnect-priority): only a higher priority of ours is sure to win.
    """
    profiles = [*_keyfiles(reader), *_ifcfgs(reader)]
    for netdev in netdevs:
        fitting = [profile for profile in profiles if profile.names_it(netdev)]
        own = max((profile.priority for profile in fitting if OURS in profile.path), default=-1000)
        for profile in fitting:
            if OURS not in profile.path:
                wins = profile.starts and profile.priority >= own
                yield from said(reader, netdev.name, profile.addresses, profile.mtu, profile.path, wins)


def _keyfiles(reader: Reader) -> Iterator[_Profile]:
    for folder in PROFILES:
        for name in reader.names(folder, SUBJECT):
            if "." in name and not name.endswith(".nmconnection"):
                continue
            sections = ini.parse(reader.text(f"{folder}/{name}", SUBJECT) or "")
            if ini.value(sections, "connection", "type") not in _TYPES:
                continue
            exact = ini.value(sections, "connection", "interface-name")
            listed = _list(ini.value(sections, "match", "interface-name"))
            yield _Profile(
                f"{folder}/{name}",
                (exact,) if exact else listed,
                (_wired(sections, "mac-address") or "").lower(),
                _list(ini.value(sections, "match", "path")),
                _number(ini.value(sections, "connection", "autoconnect-priority")),
                (ini.value(sections, "connection", "autoconnect") or "true") not in ("false", "0", "no"),
                _addresses(sections),
                _wired(sections, "mtu"),
            )


def _wired(sections: tuple[ini.Section, ...], key: str) -> Optional[str]:
    places = ("ethernet", "802-3-ethernet", "infiniband")
    return next((found for place in places if (found := ini.value(sections, place, key))), None)


def _addresses(sections: tuple[ini.Section, ...]) -> str:
    found: list[str] = []
    for family in ("ipv4", "ipv6"):
        if family == "ipv4" and ini.value(sections, family, "method") == "auto":
            found.append("dhcp")
        for section, items in sections:
            if section == family:
                found += [
                    value.partition(",")[0]
                    for key, value in items
                    if key.startswith("address") and key != "addr-gen-mode"
                ]
    return ", ".join(found) or "none"


def _ifcfgs(reader: Reader) -> Iterator[_Profile]:
    """Initscripts' files, which NetworkManager still reads (RHEL 9: nm-settings-ifcfg-rh(5))."""
    for name in reader.names(IFCFG, SUBJECT):
        if not name.startswith("ifcfg-") or name == "ifcfg-lo" or name.endswith((".bak", ".rpmsave", ".rpmnew", "~")):
            continue
        lines = (reader.text(f"{IFCFG}/{name}", SUBJECT) or "").split("\n")
        keys = {
            key.strip(): value.strip().strip("\"'") for key, _equals, value in (line.partition("=") for line in lines)
        }
        prefix = f"/{keys['PREFIX']}" if keys.get("PREFIX") else ""
        dhcp = "dhcp" if keys.get("BOOTPROTO", "").lower() == "dhcp" else "none"
        yield _Profile(
            f"{IFCFG}/{name}",
            (keys["DEVICE"],) if keys.get("DEVICE") else (),
            keys.get("HWADDR", "").lower(),
            (),
            _number(keys.get("AUTOCONNECT_PRIORITY")),
            keys.get("ONBOOT", "yes").lower() not in ("no", "false", "0"),
            f"{keys['IPADDR']}{prefix}" if keys.get("IPADDR") else dhcp,
            keys.get("MTU"),
        )


def _list(value: Optional[str]) -> tuple[str, ...]:
    """A list of patterns; one that must not fit, or must fit as well, is left out: the others have named the netdev."""
    parts = (part.strip().lstrip("|") for part in (value or "").split(";"))
    return tuple(part for part in parts if part and part[0] not in "!&")


def _number(value: Optional[str]) -> int:
    try:
        return int(value or "0")
    except ValueError:
        return 0
