# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails through ifupdown: one file a rail below /etc/network/interfaces.d, interfaces(5), and ifup(8).

Every stanza is of the method ``manual`` with commands of iproute2: they can be repeated, and need neither the package
ifenslave nor vlan.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from ...errors import MissingError
from ...model.facts import Netdev, Route
from ...model.network import BOND, PORT, VLAN, Link
from ...model.plan import Action, Run, WriteFile
from ...ports import Port
from ...resolve.prefix import family
from ..links import bond_options

MAIN = "/etc/network/interfaces"
FOLDER = f"{MAIN}.d"
# Letters, digits, _ and - only: source-directory takes no other names.
PREFIX = "railwright-"
HEADER = "# Managed by Railwright (role rail_network): the next run undoes what is changed here."


class Ifupdown:
    """See ``NetworkProvider``."""

    def present(self, port: Port) -> tuple[str, ...]:
        """See ``NetworkProvider``; a folder that is not there has no files."""
        try:
            names = port.listdir(FOLDER)
        except MissingError:
            return ()
        # What editors and dpkg leave beside a file has a dot or a tilde.
        return tuple(f"{FOLDER}/{name}" for name in names if name.startswith(PREFIX) and not set(name) & set(".~"))

    def obstacle(self, port: Port, links: tuple[Link, ...]) -> str:
        """See ``NetworkProvider``: ifup reads only what the main file sources, and adds stanzas of one name up."""
        from ...parse import interfaces  # noqa: PLC0415

        try:
            main = interfaces.parse(port.read(MAIN))
        except MissingError:
            return f"{MAIN} is not there. Add it with the line: source {FOLDER}/*"
        below = MAIN.rpartition("/")[0]
        sources = [path if path.startswith("/") else f"{below}/{path}" for path in main.sources]
        folders = [path if path.startswith("/") else f"{below}/{path}" for path in main.folders]
        sample = f"{FOLDER}/{PREFIX}rail0"
        if not (
            any(fnmatchcase(sample, pattern) for pattern in sources)
            or any(fnmatchcase(FOLDER, pattern.rstrip("/")) for pattern in folders)
        ):
            return f"{MAIN} does not read {FOLDER}. Add the line: source {FOLDER}/*"
        names = {link.name for link in links}
        taken = sorted({stanza.netdev for stanza in main.stanzas if stanza.netdev in names})
        if taken:
            return f"{MAIN} configures {', '.join(taken)} as well. Remove what it says there of the rails' netdevs"
        return ""

    def rail(self, path: str) -> str:
        """See ``NetworkProvider``."""
        return path[len(f"{FOLDER}/{PREFIX}") :]

    def netdevs(self, texts: tuple[str, ...], netdevs: tuple[Netdev, ...]) -> tuple[Netdev, ...]:
        """See ``NetworkProvider``."""
        names = {line.split()[1] for text in texts for line in text.splitlines() if line.startswith("iface ")}
        return tuple(netdev for netdev in netdevs if netdev.name in names)

    def render(self, links: tuple[Link, ...], netdevs: tuple[Netdev, ...]) -> tuple[WriteFile, ...]:
        """See ``NetworkProvider``. ifupdown knows netdevs by their names only."""
        lines = [HEADER, f"# Rail {links[0].rail}"]
        for link in links:
            lines += ["", f"auto {link.name}", f"iface {link.name} inet manual"]
            lines += [f"    {line}" for line in _stanza(link, links)]
        return (WriteFile(f"{FOLDER}/{PREFIX}{links[0].rail}", "\n".join(lines) + "\n"),)

    def settle(
        self, links: tuple[Link, ...], gone: tuple[Netdev, ...], removed: tuple[str, ...] = ()
    ) -> tuple[Action, ...]:
        """See ``NetworkProvider``: down from the top, up from the bottom, whatever ifup believes about them.

        Exit code 1 is a netdev that the files no longer name; whether all is well afterwards is looked at anyway. A
        link that goes down loses its routes, and it is emptied of addresses that the new files do not know.

        After a roll back the files may not name a link, and ifup leaves it down: one that was up before is up again.
        A netdev that no link needs any more is up again only when its file is back.
        """
        hardware = [netdev.name for netdev in gone if netdev.kind not in (BOND, VLAN)]
        actions: list[Action] = []
        for name in [link.name for link in reversed(links)] + hardware:
            actions.append(Run(("ifdown", "--force", name), 60.0, (0, 1)))
            actions.append(Run(("ip", "address", "flush", "dev", name, "scope", "global"), allowed=(0, 1, 255)))
            actions.append(Run(("ip", "link", "set", "dev", name, "down"), allowed=(0, 1)))
        lower_first = sorted(gone, key=lambda netdev: (netdev.kind == VLAN, netdev.kind == BOND))
        for name in [link.name for link in links] + [netdev.name for netdev in lower_first]:
            actions.append(Run(("ifup", "--force", name), 60.0, (0, 1)))
        was_up = [link.name for link in links if link.netdev is not None and link.netdev.admin_up]
        actions += [Run(("ip", "link", "set", "dev", name, "up"), allowed=(0, 1)) for name in was_up]
        return tuple(actions)


def _stanza(link: Link, links: tuple[Link, ...]) -> list[str]:
    name = link.name
    lines = [f"pre-up {line}" for line in _made(link, links)]
    lines += [f"pre-up ip link set dev {name} mtu {link.mtu}"] if link.mtu is not None else []
    if link.kind == PORT and link.master is not None:
        lines += [f"pre-up ip link set dev {name} down", f"pre-up ip link set dev {name} master {link.master}"]
    # No router's advertisement leads through a rail; where IPv6 is off there is no such file.
    lines.append(f"pre-up echo 0 2> /dev/null > /proc/sys/net/ipv6/conf/{name}/accept_ra || true")
    lines.append(f"up ip link set dev {name} up")
    for address in link.addresses:
        # Tentative without a carrier, it would give neither GID nor routes (RFC 4862, 5.4).
        lines.append(f"up ip address replace {address} dev {name}{' nodad' if ':' in address else ''}")
    lines += [f"up ip {_version(route.destination)} route replace {_route(route)}" for route in link.routes]
    for rule in link.rules:
        words = f"priority {rule.priority} from {rule.source or 'all'} table {rule.table}"
        away = f"ip -{rule.family} rule del {words}"
        lines.append(f"up {away} 2> /dev/null || true")
        lines.append(f"up ip -{rule.family} rule add {words}")
        lines.append(f"down {away} || true")
    if link.kind == PORT and link.master is not None:
        lines.append(f"post-down ip link set dev {name} nomaster || true")
    elif link.kind != PORT:
        lines.append(f"post-down ip link delete dev {name} || true")
    return lines


def _made(link: Link, links: tuple[Link, ...]) -> list[str]:
    """Commands that make what a link needs; a bond is there before its first port joins it."""
    if link.kind == PORT:
        return [_bond(other) for other in links if other.name == link.master]
    if link.kind == BOND:
        return [_bond(link)]
    make = f"ip link add link {link.lower} name {link.name} type vlan id {link.vlan}"
    return [f"test -e /sys/class/net/{link.name} || {make}"]


def _bond(link: Link) -> str:
    options = " ".join(f"{name} {value}" for name, value in bond_options(link.bond).items()) if link.bond else ""
    mtu = f" mtu {link.mtu}" if link.mtu is not None else ""
    return f"test -e /sys/class/net/{link.name} || ip link add name {link.name}{mtu} type bond {options}"


def _route(route: Route) -> str:
    words = [
        ("via", route.gateway),
        ("dev", route.netdev),
        ("table", route.table),
        ("metric", route.metric or None),
        ("src", route.source),
    ]
    text = " ".join(f"{word} {value}" for word, value in words if value is not None)
    return f"{route.destination} {text}"


def _version(prefix: str) -> str:
    return f"-{family(prefix)}"
