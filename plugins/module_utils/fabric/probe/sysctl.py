# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernel parameters of the network, as in force."""

from __future__ import annotations

from typing import Iterator, Optional, Sequence

from ..errors import ReadError
from ..model.facts import Netdev
from ..parse.ip_address import HARDWARE
from .collect import Reader

_BASE = "/proc/sys/"
_CONF = "net/ipv4/conf"
_RAIL_KINDS = (*HARDWARE, "bond", "vlan")
_PER_NETDEV = ("rp_filter", "arp_ignore", "arp_announce")
_NEIGHBOURS = ("gc_thresh1", "gc_thresh2", "gc_thresh3")


def sysctls(reader: Reader, netdevs: Optional[Sequence[Netdev]]) -> Optional[dict[str, str]]:
    """Values by name, of what rails depend on; a parameter that is not there is left out.

    Names are those of sysctl(8): a dot in a netdev's name is a slash there. ``None`` when this is no tree of a kernel
    with IPv4, as old recordings are not.
    """
    found: dict[str, str] = {}
    for path in _paths([netdev.name for netdev in netdevs or () if netdev.kind in _RAIL_KINDS]):
        try:
            value = reader.port.read(_BASE + path).strip()
        except ReadError:
            if path.startswith(f"{_CONF}/all/") and not found:
                return None
            continue
        found[path.translate({ord("/"): ".", ord("."): "/"})] = value
    return found


def _paths(netdevs: Sequence[str]) -> Iterator[str]:
    for netdev in ("all", "default", *netdevs):
        for name in _PER_NETDEV:
            yield f"{_CONF}/{netdev}/{name}"
    for netdev in netdevs:
        yield f"net/ipv6/conf/{netdev}/disable_ipv6"
    for family in (4, 6):
        for name in _NEIGHBOURS:
            yield f"net/ipv{family}/neigh/default/{name}"
