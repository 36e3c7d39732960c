# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails through NetworkManager: a keyfile a link, nm-settings-keyfile(5), and nmcli(1).

Keys are those of NetworkManager 1.30 and later (RHEL 9, Debian 12, Ubuntu 22.04).
"""

from __future__ import annotations

from typing import Sequence

from ...errors import FabricError, MissingError
from ...model.facts import Netdev, Route, RoutingRule
from ...model.network import BOND, PORT, VLAN, Link
from ...model.plan import Action, Run, WriteFile
from ...ports import Port
from ...resolve.prefix import family
from ...resolve.routes import MAIN
from ..links import bond_options
from .match import about, identity

FOLDER, SUFFIX = "/etc/NetworkManager/system-connections", ".nmconnection"
CONF_FOLDER, CONF_SUFFIX = "/etc/NetworkManager/conf.d", ".conf"
PREFIX, CONF_PREFIX = "railwright-", "90-railwright-"
HEADER = "# Managed by Railwright (role rail_network): the next run undoes what is changed here."
# Of the profiles that fit a device the one with the highest number is activated (nm-settings(5)); 0 is everybody's.
PRIORITY = 900
# nmcli(1): 3 and 4 are an activation that takes longer or failed, 10 is a profile or device that is not there. Whether
# all is well is looked at afterwards.
ALLOWED = (0, 3, 4, 10)
# The kernel's own metric of a route without one, for IPv6 (IP6_RT_PRIO_USER, include/uapi/linux/ipv6_route.h).
METRIC = {4: 0, 6: 1024}


class NetworkManager:
    """See ``NetworkProvider``."""

    def present(self, port: Port) -> tuple[str, ...]:
        """See ``NetworkProvider``; a folder that is not there has no files."""
        found: list[str] = []
        for folder, prefix, suffix in ((FOLDER, PREFIX, SUFFIX), (CONF_FOLDER, CONF_PREFIX, CONF_SUFFIX)):
            try:
                names = port.listdir(folder)
            except MissingError:
                continue
            found += [f"{folder}/{name}" for name in names if name.startswith(prefix) and name.endswith(suffix)]
        return tuple(sorted(found))

    def obstacle(self, port: Port, links: tuple[Link, ...]) -> str:
        """See ``NetworkProvider``: NICs that it is told to leave alone, and addresses that are not ours to take.

        A device has one profile at a time, so a rail without addresses of ours would lose those that it has.
        """
        for link in links:
            if link.netdev is not None and link.top and link.addressing == "none":
                others = [address for address in link.netdev.addresses if not address.lower().startswith("fe80:")]
                if others:
                    return (
                        f"{link.name} has {', '.join(others)} from elsewhere, and one profile a device is all that "
                        f"NetworkManager takes. Name the addresses in the spec (addressing: external)"
                    )
        argv = ("nmcli", "-t", "-f", "DEVICE,STATE", "device", "status")
        try:
            done = port.run(argv)
        except FabricError as error:
            return f"NetworkManager cannot be asked: {error}"
        # Within a field a colon is written with a backslash; a netdev of a rail has none.
        states = dict(line.rpartition(":")[::2] for line in done.out.splitlines())
        left = [link.name for link in links if link.kind == PORT and states.get(link.name) == "unmanaged"]
        if left:
            return (
                f"NetworkManager is told to leave {', '.join(left)} alone (nmcli device: unmanaged). "
                "Take it out of unmanaged-devices, of udev's NM_UNMANAGED, and of /etc/network/interfaces"
            )
        return ""

    def rail(self, path: str) -> str:
        """See ``NetworkProvider``; a rail's name has no dot, so that what follows one is the link or the suffix."""
        name = path.rpartition("/")[2]
        return name[len(CONF_PREFIX if name.startswith(CONF_PREFIX) else PREFIX) :].partition(".")[0]

    def netdevs(self, texts: tuple[str, ...], netdevs: tuple[Netdev, ...]) -> tuple[Netdev, ...]:
        """See ``NetworkProvider``: those whose match we would write as it stands there."""
        return about(texts, netdevs, lambda netdev: _match(netdev, netdevs), "interface-name")

    def render(self, links: tuple[Link, ...], netdevs: tuple[Netdev, ...]) -> tuple[WriteFile, ...]:
        """See ``NetworkProvider``.

        Beside the profiles there is a section of NetworkManager.conf(5): the addresses are there without carrier,
        because RDMA devices and verification want them before the peer is up.
        """
        rail = links[0].rail
        files = [
            WriteFile(_path(link, links), "\n".join(_profile(link, links, netdevs)) + "\n", 0o600) for link in links
        ]
        devices = [
            f"mac:{_mac(link.netdev)}"
            if link.kind == PORT and link.netdev is not None
            else f"interface-name:{link.name}"
            for link in links
        ]
        lines = [HEADER, f"[device-railwright-{rail}]", f"match-device={';'.join(devices)}", "ignore-carrier=1"]
        return (*files, WriteFile(f"{CONF_FOLDER}/{CONF_PREFIX}{rail}{CONF_SUFFIX}", "\n".join(lines) + "\n"))

    def settle(
        self, links: tuple[Link, ...], gone: tuple[Netdev, ...], removed: tuple[str, ...] = ()
    ) -> tuple[Action, ...]:
        """See ``NetworkProvider``.

        Files are loaded one by one: a reload would also apply what others changed in theirs, and end a connection
        whose file is gone. To load one that is gone is to forget its profile. A NIC that is given back may be taken by
        a profile of others.
        """
        rails: dict[str, list[Link]] = {}
        for link in links:
            rails.setdefault(link.rail, []).append(link)
        profiles = [(_path(link, rail), _uuid(link, rail)) for rail in rails.values() for link in _upwards(rail)]
        paths = [path for path in removed if path.endswith(SUFFIX)] + [path for path, _uuid_ in profiles]
        actions = [Run(("nmcli", "general", "reload", "conf"))]
        actions += [Run(("nmcli", "connection", "load", *paths))] if paths else []
        actions += [
            Run(("nmcli", "device", "set", netdev.name, "autoconnect", "yes"), allowed=ALLOWED)
            for netdev in gone
            if netdev.kind not in (BOND, VLAN)
        ]
        actions += [
            Run(("nmcli", "--wait", "10", "connection", "up", "uuid", uuid), allowed=ALLOWED)
            for _path_, uuid in profiles
        ]
        return tuple(actions)


def _upwards(links: Sequence[Link]) -> list[Link]:
    """A bond is there before its ports join it; a VLAN comes last."""
    return sorted(links, key=lambda link: (BOND, PORT, VLAN).index(link.kind))


def _name(link: Link, links: Sequence[Link]) -> str:
    number = [other.name for other in links].index(link.name)
    part = "" if link.top else f".{link.kind}{number if link.kind == PORT else ''}"
    return f"{PREFIX}{link.rail}{part}"


def _path(link: Link, links: Sequence[Link]) -> str:
    return f"{FOLDER}/{_name(link, links)}{SUFFIX}"


def _uuid(link: Link, links: Sequence[Link]) -> str:
    """A UUID made from name and kind (RFC 9562, section 5.5), the same in every run; a host needs no more.

    A profile never changes its type: what becomes a bond is another profile.
    """
    from hashlib import sha1  # noqa: PLC0415 - only here

    digest = bytearray(sha1(f"{_name(link, links)} {link.kind}".encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _mac(netdev: Netdev) -> str:
    return (netdev.permanent_mac or netdev.mac or "").lower()


def _profile(link: Link, links: Sequence[Link], netdevs: Sequence[Netdev]) -> list[str]:
    kind = {PORT: "ethernet", BOND: "bond", VLAN: "vlan"}[link.kind]
    name = _name(link, links)
    lines = [HEADER, "[connection]", f"id={name}", f"uuid={_uuid(link, links)}", f"type={kind}"]
    lines += [f"interface-name={link.name}"] if link.kind != PORT else []
    lines += [f"autoconnect-priority={PRIORITY}", "autoconnect-retries=0"]
    lines += [f"master={link.master}", "slave-type=bond"] if link.master is not None else []
    lines += ["autoconnect-slaves=1"] if link.kind == BOND else []
    matches = _match(link.netdev, netdevs) if link.kind == PORT and link.netdev is not None else []
    places = [line for line in matches if line.startswith("path=")]
    wired = [line for line in matches if line not in places] + ([f"mtu={link.mtu}"] if link.mtu is not None else [])
    lines += ["", "[ethernet]", *wired] if wired else []
    lines += ["", "[match]", *places] if places else []
    if link.bond is not None:
        lines += ["", "[bond]", *(f"{option}={value}" for option, value in bond_options(link.bond).items())]
    if link.kind == VLAN:
        lines += ["", "[vlan]", f"id={link.vlan}", f"parent={link.lower}"]
    if link.master is None:
        lines += ["", "[ipv4]", *_family(link, 4), "", "[ipv6]", *_family(link, 6)]
    return lines


def _family(link: Link, version: int) -> list[str]:
    """IPv6 stays on with its link-local address from the MAC: anything else would move or change the GIDs."""
    addresses = [address for address in link.addresses if family(address) == version]
    routes = [route for route in link.routes if family(route.destination) == version]
    rules = [rule for rule in link.rules if rule.family == version]
    lines = ["addr-gen-mode=eui64"] if version == 6 else []
    if not addresses:
        return [*lines, "method=link-local" if version == 6 else "method=disabled"]
    lines += ["method=manual", "never-default=true", f"route-metric={METRIC[version]}"]
    lines += [f"address{number}={address}" for number, address in enumerate(addresses, 1)]
    for number, route in enumerate(routes, 1):
        lines += _route(number, route, version)
    return [*lines, *(f"routing-rule{number}={_rule(rule)}" for number, rule in enumerate(rules, 1))]


def _route(number: int, route: Route, version: int) -> list[str]:
    gateway = route.gateway or ("0.0.0.0" if version == 4 else "::")  # noqa: S104 - no address, a place left empty
    words = [route.destination, gateway, str(route.metric or METRIC[version])]
    options = [f"table={route.table}"] if route.table != MAIN else []
    # Without carrier an IPv6 address is tentative, a route with it as its source is refused, and NetworkManager never
    # sets it later (seen with 1.42). The netdev's only address is the source of what leaves through it in any case.
    options += [f"src={route.source}"] if route.source is not None and version == 4 else []
    lines = [f"route{number}={','.join(words)}"]
    return [*lines, f"route{number}_options={','.join(options)}"] if options else lines


def _rule(rule: RoutingRule) -> str:
    source = rule.source or ("0.0.0.0/0" if rule.family == 4 else "::/0")
    return f"priority {rule.priority} from {source} table {rule.table}"


def _match(netdev: Netdev, others: Sequence[Netdev]) -> list[str]:
    """The rail's NIC by its place, as udev's path_id writes it, and by its MAC where that is needed."""
    if netdev.kind in (BOND, VLAN):
        return [f"interface-name={netdev.name}"]
    pci, by_mac = identity(netdev, others)
    path = [f"path=pci-{pci};*-pci-{pci};"] if pci is not None else []
    return [*path, f"mac-address={_mac(netdev)}"] if by_mac else path
