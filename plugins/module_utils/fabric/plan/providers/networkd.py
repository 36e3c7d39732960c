# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails through systemd-networkd: a .network file a link, a .netdev file a bond or VLAN, and networkctl(1).

Keys are those of systemd.network(5) and systemd.netdev(5), version 247 and later.
"""

from __future__ import annotations

from ...errors import MissingError
from ...model.facts import Netdev, Route, RoutingRule
from ...model.intent import Bond
from ...model.network import BOND, PORT, VLAN, Link
from ...model.plan import Action, Run, WriteFile
from ...ports import Port
from ..links import bond_options
from .match import about, identity

FOLDER = "/etc/systemd/network"
# Number 10 comes before what distributions and images put there as a fallback (…-wired, 99-…).
PREFIX, SUFFIXES = "10-railwright-", (".network", ".netdev")
HEADER = "# Managed by Railwright (role rail_network): the next run undoes what is changed here."


class Networkd:
    """See ``NetworkProvider``."""

    def present(self, port: Port) -> tuple[str, ...]:
        """See ``NetworkProvider``; a folder that is not there has no files."""
        try:
            names = port.listdir(FOLDER)
        except MissingError:
            return ()
        return tuple(f"{FOLDER}/{name}" for name in names if name.startswith(PREFIX) and name.endswith(SUFFIXES))

    def obstacle(self, port: Port, links: tuple[Link, ...]) -> str:
        """See ``NetworkProvider``: it makes bonds and VLANs by itself."""
        return ""

    def rail(self, path: str) -> str:
        """See ``NetworkProvider``; a rail's name has no dot, so that what follows one is the link or the suffix."""
        return path[len(f"{FOLDER}/{PREFIX}") :].partition(".")[0]

    def netdevs(self, texts: tuple[str, ...], netdevs: tuple[Netdev, ...]) -> tuple[Netdev, ...]:
        """See ``NetworkProvider``: those whose match we would write as it stands there."""
        return about(texts, netdevs, lambda netdev: _match(netdev, netdevs), "Name")

    def render(self, links: tuple[Link, ...], netdevs: tuple[Netdev, ...]) -> tuple[WriteFile, ...]:
        """See ``NetworkProvider``.

        Nothing of the spec but this rail's own settings is in it, so that an unrelated change of the spec never
        touches a rail.
        """
        files: list[WriteFile] = []
        for number, link in enumerate(links):
            part = "" if link.top else f".{link.kind}{number if link.kind == PORT else ''}"
            base = f"{FOLDER}/{PREFIX}{link.rail}{part}"
            if link.kind != PORT:
                files.append(WriteFile(f"{base}.netdev", _text(_netdev(link))))
            files.append(WriteFile(f"{base}.network", _text(_network(link, links, netdevs))))
        return tuple(files)

    def settle(
        self, links: tuple[Link, ...], gone: tuple[Netdev, ...], removed: tuple[str, ...] = ()
    ) -> tuple[Action, ...]:
        """See ``NetworkProvider``.

        A reload reads the files, makes the netdevs of new ones, and configures links whose file changed; drift by hand
        needs the reconfigure. What networkd did not set itself goes from a link that is configured again
        (ManageForeignRoutes= of networkd.conf(5)); a site may have that off, so the plan does not count on it.
        """
        names = [link.name for link in links if link.netdev is not None]
        names += [netdev.name for netdev in gone if netdev.kind not in (BOND, VLAN) and netdev.name not in names]
        return (Run(("networkctl", "reload")), *(Run(("networkctl", "reconfigure", name)) for name in names))


def _text(lines: list[str]) -> str:
    return "\n".join([HEADER, *lines]) + "\n"


def _netdev(link: Link) -> list[str]:
    lines = ["[NetDev]", f"Name={link.name}", f"Kind={link.kind}"]
    if link.bond is not None:
        lines += [f"MTUBytes={link.mtu}"] if link.mtu is not None else []
        return [*lines, "", "[Bond]", *_bond(link.bond)]
    # Without an MTU it starts with the one below it, which may not be the final one yet (net/8021q/vlan_netlink.c).
    return [*lines, "", "[VLAN]", f"Id={link.vlan}"]


# systemd.netdev(5) by the kernel's names of the options.
_BOND_KEYS = {
    "mode": "Mode",
    "miimon": "MIIMonitorSec",
    "lacp_rate": "LACPTransmitRate",
    "xmit_hash_policy": "TransmitHashPolicy",
}


def _bond(bond: Bond) -> list[str]:
    unit = {"miimon": "ms"}
    return [f"{_BOND_KEYS[name]}={value}{unit.get(name, '')}" for name, value in bond_options(bond).items()]


def _network(link: Link, links: tuple[Link, ...], netdevs: tuple[Netdev, ...]) -> list[str]:
    """The address is there without carrier, because RDMA devices and verification want it before the peer is up.

    IPv6 stays on with its link-local address: switching it off would move the indices of the GIDs.
    """
    match = _match(link.netdev, netdevs) if link.kind == PORT and link.netdev is not None else [f"Name={link.name}"]
    above = [f"VLAN={other.name}" for other in links if other.kind == VLAN and other.lower == link.name]
    lines = ["[Match]", *match, "", "[Link]"]
    lines += [f"MTUBytes={link.mtu}"] if link.mtu is not None else []
    lines += ["RequiredForOnline=no", "", "[Network]", f"Description=Railwright rail {link.rail}"]
    if link.master is not None:
        return [*lines, f"Bond={link.master}", "LinkLocalAddressing=no", "IPv6AcceptRA=no", "LLDP=yes", *above]
    lines += [
        "LinkLocalAddressing=ipv6",
        "IPv6AcceptRA=no",
        "LLDP=yes",
        "ConfigureWithoutCarrier=yes",
        "IgnoreCarrierLoss=yes",
        *above,
    ]
    if link.top and link.addressing == "none":
        # Without addresses of ours, somebody else's are to stay when the link is configured again.
        lines.append("KeepConfiguration=yes")
    lines += [f"Address={address}" for address in link.addresses if ":" not in address]
    for address in link.addresses:
        if ":" in address:
            # Tentative without a carrier, it would give neither GID nor routes (RFC 4862, 5.4).
            lines += ["", "[Address]", f"Address={address}", "DuplicateAddressDetection=none"]
    for route in link.routes:
        lines += ["", "[Route]", *_route(route)]
    for rule in link.rules:
        lines += ["", "[RoutingPolicyRule]", *_rule(rule)]
    return lines


def _route(route: Route) -> list[str]:
    lines = [f"Destination={route.destination}"]
    lines += [f"Gateway={route.gateway}"] if route.gateway is not None else []
    # A subnet's own route is of scope link, as the kernel's own is; IPv6 knows no scopes.
    lines += ["Scope=link"] if route.gateway is None and ":" not in route.destination else []
    lines += [f"PreferredSource={route.source}"] if route.source is not None else []
    lines += [f"Metric={route.metric}"] if route.metric else []
    return [*lines, f"Table={route.table}"]


def _rule(rule: RoutingRule) -> list[str]:
    lines = [f"From={rule.source}"] if rule.source is not None else [f"Family=ipv{rule.family}"]
    return [*lines, f"Table={rule.table}", f"Priority={rule.priority}"]


def _match(netdev: Netdev, others: tuple[Netdev, ...]) -> list[str]:
    """The rail's NIC by its place, as udev's path_id writes it, and by its MAC where that is needed."""
    if netdev.kind in (BOND, VLAN):
        return [f"Name={netdev.name}"]
    pci, by_mac = identity(netdev, others)
    path = [f"Path=pci-{pci} *-pci-{pci}"] if pci is not None else []
    return [*path, f"PermanentMACAddress={netdev.permanent_mac or netdev.mac or ''}"] if by_mac else path
