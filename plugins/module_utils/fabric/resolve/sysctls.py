# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernel parameters of a node with rails: what is set, and what is looked for.

Names are those of sysctl(8): where a netdev's name has a dot, the name of the parameter has a slash in its place
(``net.ipv4.conf.rail0/100.rp_filter``), see sysctl.d(5).
"""

from __future__ import annotations

from typing import Mapping, Optional

from ..model.intent import NodeIntent

# Loose reverse path filter, and each address answered by, and asked from, its own netdev only: else a neighbour learns
# one rail's MAC for another rail's address (kernel Documentation/networking/ip-sysctl.rst: rp_filter, arp_ignore,
# arp_announce). A value of 0 would be overruled by "all", of which and the netdev's the kernel takes the larger one.
RP_FILTER = {"rp_filter": "2"}
ARP = {"arp_ignore": "1", "arp_announce": "2"}
# Room for the neighbours of a large fabric; the kernel's own 128, 512 and 1024 overflow at a thousand addresses
# (ip-sysctl.rst: neigh/default/gc_thresh1 … 3; Azure/azhpc-images:components/hpc-tuning.sh).
NEIGHBOURS = {"gc_thresh1": "4096", "gc_thresh2": "8192", "gc_thresh3": "16384"}
_CONF = "net.ipv4.conf."


def conf(netdev: str, name: str) -> str:
    """The name of a netdev's parameter: ``net.ipv4.conf.<netdev>.<name>``."""
    return f"{_CONF}{netdev.replace('.', '/')}.{name}"


def neighbours(family: int, name: str) -> str:
    """The name of a limit of the neighbour table of IPv4 or IPv6."""
    return f"net.ipv{family}.neigh.default.{name}"


def path(name: str) -> str:
    """The file of a parameter: its dots are slashes there, and its slashes dots."""
    return "/proc/sys/" + name.translate({ord("."): "/", ord("/"): "."})


def wanted(intent: NodeIntent, netdevs: Mapping[str, str]) -> dict[str, str]:
    """Values by name.

    :param netdevs: the netdev that carries a rail's addresses, by the rail's name; rails without one are left out.
    """
    addressed = [rail for rail in intent.rails if rail.addressing != "none"]
    values: dict[str, str] = {}
    for rail in addressed:
        if 4 in rail.families and rail.name in netdevs:
            for name, value in {**RP_FILTER, **(ARP if len(addressed) > 1 else {})}.items():
                values[conf(netdevs[rail.name], name)] = value
    for family in sorted({family for rail in addressed for family in rail.families}):
        values.update((neighbours(family, name), value) for name, value in NEIGHBOURS.items())
    return values


def effective(name: str, have: Mapping[str, str]) -> Optional[str]:
    """The value that the kernel acts on: of a netdev's and ``all`` the larger one (ip-sysctl.rst, devinet.c).

    ``None`` when one of them is not in ``have``, or is no number.
    """
    if not name.startswith(_CONF):
        value = have.get(name, "")
        return value if _number(value) >= 0 else None
    netdev, _dot, last = name[len(_CONF) :].rpartition(".")
    values = [have.get(key) for key in (name, conf("all", last)) if netdev != "all" or key == name]
    known = [value for value in values if value is not None and _number(value) >= 0]
    return max(known, key=_number) if len(known) == len(values) else None


def good(name: str, want: str, have: Mapping[str, str]) -> Optional[bool]:
    """Whether what is in force serves as well as ``want``; ``None`` when it is not known.

    A reverse path filter that is off is as good as a loose one, and more room, or a stricter ARP, is better.
    """
    value = effective(name, have)
    if value is None:
        return None
    last = name.rpartition(".")[2]
    if last == "rp_filter":
        return value in ("0", "2")
    if last == "arp_ignore":
        return _number(value) in (1, 2)
    return _number(value) >= _number(want)


def _number(value: str) -> int:
    return int(value) if value.isdecimal() and len(value) <= 20 else -1
