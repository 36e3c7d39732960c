# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails through netplan over systemd-networkd: one YAML file a rail, netplan(5), and drop-ins for what it cannot say.

Where netplan's renderer is NetworkManager, rails are told to NetworkManager itself: that back end of netplan passes
over ``routing-policy`` without a word (canonical/netplan:src/nm.c; seen with 0.106).
"""

from __future__ import annotations

from typing import Iterator, Optional, Sequence, Union

from ...errors import MissingError
from ...model.facts import Netdev, Route, RoutingRule
from ...model.network import BOND, PORT, VLAN, Link
from ...model.plan import Action, Run, WriteFile
from ...ports import Port
from ...resolve.prefix import family
from ...resolve.routes import DEFAULT, MAIN
from ..links import bond_options

FOLDER, PREFIX, SUFFIX = "/etc/netplan", "90-railwright-", ".yaml"
# netplan generates /run/systemd/network/10-netplan-<id>.network; networkd takes drop-ins for it from /etc.
NETWORKD, GENERATED = "/etc/systemd/network", "10-netplan-"
DROP_IN, CONF = "railwright-", ".conf"
# Of several files that match a NIC the first by name wins (systemd.network(5)): digits come before anybody's words.
NIC = "00-railwright-"
RUNTIME, SCRATCH = "/run/systemd/network", "/run/railwright/netplan"
HEADER = "# Managed by Railwright (role rail_network): the next run undoes what is changed here."

# netplan(5), section "Bond parameters", by the kernel's names of the options.
_BOND_KEYS = {
    "mode": "mode",
    "miimon": "mii-monitor-interval",
    "lacp_rate": "lacp-rate",
    "xmit_hash_policy": "transmit-hash-policy",
}
_SECTIONS = {PORT: "ethernets", BOND: "bonds", VLAN: "vlans"}
_MADE, _KINDS = (BOND, VLAN), ("network", "netdev")
Value = Union[str, int, bool]


class Netplan:
    """See ``NetworkProvider``."""

    def present(self, port: Port) -> tuple[str, ...]:
        """See ``NetworkProvider``."""
        found = [f"{FOLDER}/{name}" for name in _names(port, FOLDER) if name.startswith(PREFIX)]
        for folder in _names(port, NETWORKD):
            if folder.startswith(GENERATED) and folder.endswith(".network.d"):
                place = f"{NETWORKD}/{folder}"
                found += [f"{place}/{name}" for name in _names(port, place) if name.startswith(DROP_IN)]
        return tuple(path for path in found if path.endswith((SUFFIX, CONF)))

    def obstacle(self, port: Port, links: tuple[Link, ...]) -> str:
        """See ``NetworkProvider``: definitions of one name are merged over all files, netplan(5).

        Files of others are searched for words, since there is no YAML here: a name in a comment counts as well. What
        they say of a NIC does no harm, because ours comes first.
        """
        made = {link.name for link in links if link.kind != PORT}
        for name in _names(port, FOLDER) if made else ():
            if name.endswith(SUFFIX) and not name.startswith(PREFIX):
                taken = sorted(made & _words(port.read(f"{FOLDER}/{name}")))
                if taken:
                    return f"{FOLDER}/{name} names {', '.join(taken)} as well. Take it out there, or rename the rail"
        return ""

    def rail(self, path: str) -> str:
        """See ``NetworkProvider``."""
        name = path.rpartition("/")[2]
        return name[len(PREFIX) : -len(SUFFIX)] if name.endswith(SUFFIX) else name[len(DROP_IN) : -len(CONF)]

    def netdevs(self, texts: tuple[str, ...], netdevs: tuple[Netdev, ...]) -> tuple[Netdev, ...]:
        """See ``NetworkProvider``: bonds and VLANs by their keys, NICs by their MAC."""
        lines = {line.strip() for text in texts for line in text.splitlines()}
        return tuple(
            netdev
            for netdev in netdevs
            if (f'"{netdev.name}":' if netdev.kind in _MADE else f'macaddress: "{_mac(netdev)}"') in lines
        )

    def render(self, links: tuple[Link, ...], netdevs: tuple[Netdev, ...]) -> tuple[WriteFile, ...]:
        """See ``NetworkProvider``.

        A NIC's MTU goes into a drop-in. For a NIC with an MTU netplan writes a .link file as well, which hides the
        distribution's: without ``set-name`` the NIC would have another name after the next boot (systemd.link(5);
        canonical/netplan:src/networkd.c, write_link_file()), and ``set-name`` would fix a name that is not ours to fix.
        """
        rail = links[0].rail
        lines = [HEADER, "network:", "  version: 2"]
        for kind, section in _SECTIONS.items():
            wanted = [link for link in links if link.kind == kind]
            lines += [f"  {section}:"] if wanted else []
            for link in wanted:
                lines += [f"    {_quoted(_id(link, links))}:", *(f"      {line}" for line in _definition(link, links))]
        files = [WriteFile(f"{FOLDER}/{PREFIX}{rail}{SUFFIX}", "\n".join(lines) + "\n", 0o600)]
        for link in links:
            text = _drop_in(link)
            if text:
                place = f"{NETWORKD}/{GENERATED}{_id(link, links)}.network.d"
                files.append(WriteFile(f"{place}/{DROP_IN}{rail}{CONF}", text))
        return tuple(files)

    def settle(
        self, links: tuple[Link, ...], gone: tuple[Netdev, ...], removed: tuple[str, ...] = ()
    ) -> tuple[Action, ...]:
        """See ``NetworkProvider``.

        ``netplan apply`` configures every link of the node, and even ``netplan generate`` writes all files anew, so
        that networkd would configure the management again (netplan-apply(8), networkctl(1): reload). So they are
        generated aside, which also tells whether netplan takes them, and only those of ours that differ are put in
        place. At boot netplan makes the same ones by itself.
        """
        made = sorted(
            {link.name for link in links if link.kind != PORT} | {item.name for item in gone if item.kind in _MADE}
        )
        names = [f"{GENERATED}{NIC}*", *(f"{GENERATED}{name}.{kind}" for name in made for kind in _KINDS)]
        ours = ["(", *[word for name in names for word in ("-o", "-name", name)][1:], ")"]
        fresh = f"{SCRATCH}{RUNTIME}"
        configured = [link.name for link in links if link.netdev is not None]
        configured += [item.name for item in gone if item.kind not in _MADE and item.name not in configured]
        stale = ("!", "-execdir", "test", "-e", f"{fresh}/{{}}", ";", "-delete")
        other = ("!", "-execdir", "cmp", "-s", "{}", f"{RUNTIME}/{{}}", ";")
        return (
            Run(("rm", "-rf", SCRATCH)),
            Run(("mkdir", "-p", "-m", "700", SCRATCH)),
            Run(("mkdir", "-p", f"{SCRATCH}/etc", fresh, RUNTIME)),
            Run(("cp", "-a", FOLDER, f"{SCRATCH}/etc/")),
            Run(("netplan", "generate", "--root-dir", SCRATCH)),
            Run(("find", RUNTIME, "-maxdepth", "1", *ours, *stale)),
            Run(("find", fresh, "-maxdepth", "1", *ours, *other, "-exec", "cp", "-p", "-t", RUNTIME, "{}", "+")),
            Run(("networkctl", "reload")),
            *(Run(("networkctl", "reconfigure", name)) for name in configured),
        )


def _names(port: Port, folder: str) -> list[str]:
    try:
        return port.listdir(folder)
    except MissingError:
        return []


def _words(text: str) -> set[str]:
    """What may be a name in a YAML file, in block style or flow style."""
    return {word.rstrip(":") for word in text.translate({ord(letter): " " for letter in "{}[],\"'"}).split()}


def _mac(netdev: Netdev) -> str:
    return (netdev.permanent_mac or netdev.mac or "").lower()


def _id(link: Link, links: Sequence[Link]) -> str:
    """A bond's or VLAN's id is its name, a NIC's is any; a rail's name has no dot."""
    if link.kind != PORT:
        return link.name
    base = f"{NIC}{link.rail}"
    return base if len(links) == 1 else f"{base}.port{[other.name for other in links].index(link.name)}"


def _quoted(value: str) -> str:
    return f'"{value}"'


def _definition(link: Link, links: Sequence[Link]) -> Iterator[str]:
    if link.kind == PORT and link.netdev is not None:
        yield from ("match:", f"  macaddress: {_quoted(_mac(link.netdev))}")
    if link.bond is not None:
        ports = [_quoted(_id(port, links)) for port in links if port.master == link.name]
        yield f"interfaces: [{', '.join(ports)}]"
        yield "parameters:"
        for name, value in bond_options(link.bond).items():
            yield f"  {_BOND_KEYS[name]}: {value if value.isdecimal() else _quoted(value)}"
    if link.kind == VLAN:
        lower = next((other for other in links if other.name == link.lower), None)
        yield f"id: {link.vlan}"
        yield f"link: {_quoted(_id(lower, links) if lower is not None else link.lower or '')}"
    if link.kind == BOND and link.mtu is not None:
        yield f"mtu: {link.mtu}"
    # IPv6 stays on with its link-local address: switching it off would move the indices of the GIDs.
    local = "" if link.master is not None else '"ipv6"'
    yield from ("dhcp4: false", "dhcp6: false", "accept-ra: false", f"link-local: [{local}]", "optional: true")
    addresses = [address for address in link.addresses if family(address) == 4]
    if addresses:
        yield "addresses:"
        yield from (f"- {_quoted(address)}" for address in addresses)
    if link.routes:
        yield "routes:"
        yield from (line for route in link.routes for line in _entry(_route(route)))
    if link.rules:
        yield "routing-policy:"
        yield from (line for rule in link.rules for line in _entry(_rule(rule)))


def _entry(pairs: list[tuple[str, Optional[Value]]]) -> Iterator[str]:
    """One entry of a YAML list."""
    given = [(key, value) for key, value in pairs if value is not None]
    for number, (key, value) in enumerate(given):
        yield f"{'  ' if number else '- '}{key}: {_quoted(value) if isinstance(value, str) else value}"


def _route(route: Route) -> list[tuple[str, Optional[Value]]]:
    # A subnet's own route is of scope link, as the kernel's own is; IPv6 knows none, and networkd passes over it.
    return [
        ("to", route.destination),
        ("via", route.gateway),
        ("scope", "link" if route.gateway is None else None),
        ("from", route.source),
        ("metric", route.metric or None),
        ("table", route.table if route.table != MAIN else None),
    ]


def _rule(rule: RoutingRule) -> list[tuple[str, Optional[Value]]]:
    return [("from", rule.source or DEFAULT[rule.family]), ("table", rule.table), ("priority", rule.priority)]


def _drop_in(link: Link) -> str:
    """What netplan has no word for, or no harmless one, systemd.network(5); empty for nothing."""
    network = []
    if link.kind == PORT:
        network.append("LLDP=yes")
        if link.master is None:
            # The address is there without carrier: RDMA devices and verification want it before the peer is up.
            network += ["ConfigureWithoutCarrier=yes", "IgnoreCarrierLoss=yes"]
    if link.top and link.addressing == "none":
        # Without addresses of ours, somebody else's are to stay when the link is configured again.
        network.append("KeepConfiguration=yes")
    # A VLAN that is made with a larger MTU than its lower netdev has is refused (kernel net/8021q/vlan_netlink.c).
    sections = [["[Link]", f"MTUBytes={link.mtu}"]] if link.kind != BOND and link.mtu is not None else []
    sections += [["[Network]", *network]] if network else []
    # Without carrier an address is tentative for ever, unless nobody is to be asked for it (RFC 4862, 5.4).
    sections += [
        ["[Address]", f"Address={address}", "DuplicateAddressDetection=none"]
        for address in link.addresses
        if family(address) == 6
    ]
    text = "\n\n".join("\n".join(lines) for lines in sections)
    return f"{HEADER}\n{text}\n" if text else ""
