# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The rule about packet filters on rails."""

from __future__ import annotations

from typing import Optional

from ..model.finding import Finding
from ..resolve.bind import BoundRail
from ..resolve.openings import openings
from .rule import Rule
from .view import View, place

FIREWALL = Rule(
    "rail.firewall",
    "No packet filter of the node closes the rail to RoCE and to tests",
    "fail",
    "local",
    "Soft RoCE passes the kernel's filters and is cut off by them. A NIC takes RoCE before any filter sees it, but the "
    "handshake of each test, and of programs that connect by TCP, still stops there.",
    "Run site.yml (role rail_network): it opens the rail's own addresses in firewalld and ufw. A filter of another "
    "make must accept UDP 4791 and the rail's test port, TCP 18600 plus its place in the spec.",
    "IANA service names: roce, 4791/udp; the test servers of prove",
)


def firewall(view: View, rail: BoundRail) -> Optional[Finding]:
    """What becomes of packets to RoCE and to test servers that come in on the rail; nothing where nothing filters."""
    intent, told = rail.intent, view.facts.firewall
    if intent.transport != "roce" or intent.addressing == "none":
        return None
    host, name, wanted = view.host, intent.name, openings(intent)
    expected = f"{' and '.join(f'{protocol.upper()} {port}' for protocol, port in wanted)} open"
    if told is None:
        unread = view.unread("firewall")
        found = view.missing("the packet filter", "firewall")
        return FIREWALL.unknown(host, name, expected=expected, found=found) if unread else None
    seen = [item for item in told.ports if item.netdev == rail.netdev_name and (item.protocol, item.port) in wanted]
    closed = [item for item in seen if item.state == "closed"]
    if closed:
        ports = ", ".join(dict.fromkeys(f"{item.protocol.upper()} {item.port}" for item in closed))
        rules = "; ".join(dict.fromkeys(item.rule for item in closed if item.rule))
        cause = f"{told.backend} closes {ports}" + (f" by: {rules}" if rules else "")
        if not intent.soft_roce:
            cause += ". RoCE itself does not pass this filter, handshakes over TCP do"
        return FIREWALL.broken(
            host,
            name,
            expected=expected,
            found=f"{place(rail)}: {ports} closed",
            cause=cause,
            warn=not intent.soft_roce,
            device=place(rail),
        )
    unsure = [item for item in seen if item.state != "open"]
    if unsure or {(item.protocol, item.port) for item in seen} != set(wanted):
        rules = "; ".join(dict.fromkeys(item.rule for item in unsure if item.rule))
        found = (
            f"what {told.backend} does on {place(rail)} depends on {rules}" if rules else f"nothing about {place(rail)}"
        )
        return FIREWALL.unknown(host, name, expected=expected, found=found)
    return FIREWALL.passed(host, name, found=f"{told.backend}: open on {place(rail)}")
