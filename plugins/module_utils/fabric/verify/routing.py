# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about which way a rail's packets go: routes, routing rules, kernel parameters."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Optional

from ..model.facts import NodeFacts, Route, RoutingRule
from ..model.finding import Finding
from ..model.intent import NodeIntent
from ..resolve import derive, prefix, routes, sysctls
from ..resolve.bind import BoundRail
from .address import link_local
from .rule import Rule
from .view import View, place

ROUTES = Rule(
    "rail.routes",
    "The rail's packets leave by the rail's network device",
    "fail",
    "local",
    "A packet that leaves by another rail or by the management link is slow at best, and dropped by its receiver at "
    "worst.",
    "Run site.yml (role rail_network) for this node; ip route get PEER from ADDRESS shows the way by hand.",
    "fabric_spec.units.*.*.gateway and aggregate; ip-rule(8), ip-route(8)",
)
SYSCTLS = Rule(
    "rail.sysctls",
    "The kernel takes in the rail's packets, and answers ARP for the rail's address on the rail only",
    "fail",
    "local",
    "A strict reverse path filter drops RoCE without a word; without the ARP settings a peer learns the MAC of another "
    "rail for this rail's address (ARP flux).",
    "Run site.yml (role rail_network) for this node.",
    "kernel Documentation/networking/ip-sysctl.rst: rp_filter, arp_ignore, arp_announce; the larger of all and the "
    "device counts",
)
NEIGHBOURS = Rule(
    "node.neighbours",
    "The neighbour table has room for the fabric",
    "warn",
    "local",
    "In a large fabric the table overflows, and peers are lost at random.",
    "Run site.yml (role rail_network) for this node.",
    "kernel Documentation/networking/ip-sysctl.rst: neigh/default/gc_thresh1 … 3",
)


class Trouble(NamedTuple):
    """What is wrong with a rail's way; ``netdev`` is the one that takes its packets."""

    found: str
    cause: str
    remedy: str = ""
    netdev: Optional[str] = None


Entry = tuple[int, int, Route]


class _Ways:
    """The routes and rules of a node by table, read once for all rails."""

    def __init__(self, facts: NodeFacts, families: frozenset[int]) -> None:
        self.rules = sorted(facts.rules or (), key=lambda rule: rule.priority)
        self.above: dict[str, list[str]] = {}
        for netdev in facts.netdevs or ():
            if netdev.lower is not None:
                self.above.setdefault(netdev.lower, []).append(netdev.name)
        self._tables: dict[tuple[int, int], list[Entry]] = {}
        for route in facts.routes or ():
            family = prefix.family(route.destination)
            if family in families:  # the other one may cost an import for nothing
                _family, value, length = prefix.numbers(route.destination)
                self._tables.setdefault((route.table, family), []).append((value, length, route))

    def within(self, table: int, destination: str) -> list[Route]:
        """Routes of a table to all or a part of ``destination``."""
        family, value, length = prefix.numbers(destination)
        spare = (32 if family == 4 else 128) - length
        entries = self._tables.get((table, family), ())
        return [route for base, size, route in entries if size >= length and base >> spare == value >> spare]

    def best(self, table: int, destination: str) -> Optional[Route]:
        """The route that wins for the whole of it: the longest prefix, then the least metric, then the first one."""
        family, value, length = prefix.numbers(destination)
        full = 32 if family == 4 else 128
        fitting = [
            (-size, route.metric, number)
            for number, (base, size, route) in enumerate(self._tables.get((table, family), ()))
            if size <= length and base >> full - size == value >> full - size
        ]
        return self._tables[(table, family)][min(fitting)[2]][2] if fitting else None

    def own(self, netdev: str) -> frozenset[str]:
        """The rail's netdev and those stacked on it (a container's macvlan): by these its packets may leave."""
        return frozenset((netdev, *self.above.get(netdev, ())))


def routing(view: View, _intent: NodeIntent, rails: tuple[BoundRail, ...]) -> list[Finding]:
    """Each rail's own routes and rules are there, and none leads its packets away."""
    judged = [rail for rail in rails if rail.intent.transport == "roce" and rail.intent.addressing != "none"]
    unread = [section for section in ("routes", "rules") if getattr(view.facts, section) is None]
    strays = {rail.netdev_name: rail.intent.name for rail in judged if set(_held(rail)) - set(_addresses(rail))}
    try:
        families = frozenset(prefix.family(address) for rail in judged for address in _addresses(rail))
        ways = _Ways(view.facts, families) if not unread else None
        return [_routes(view, rail, ways, unread, strays) for rail in judged]
    except ValueError as error:
        return [
            ROUTES.unknown(view.host, rail.intent.name, found=f"a route to {error} is not understood")
            for rail in judged
        ]


def _addresses(rail: BoundRail) -> tuple[str, ...]:
    """Those of the spec, or what DHCP gave."""
    return rail.intent.addresses or _held(rail)


def _held(rail: BoundRail) -> tuple[str, ...]:
    """A link-local address has no route that matters."""
    return tuple(item for item in (rail.netdev.addresses if rail.netdev else ()) if not link_local(item))


def _routes(
    view: View, rail: BoundRail, ways: Optional[_Ways], unread: list[str], strays: Mapping[Optional[str], str]
) -> Finding:
    host, name, netdev, addresses = view.host, rail.intent.name, rail.netdev_name, _addresses(rail)
    gateways = ", ".join(rail.intent.gateways)
    expected = f"{', '.join(map(prefix.network, addresses)) or 'its subnet'} by {place(rail)}"
    expected += f", all else from it by {gateways}" if gateways else ""
    if ways is None or netdev is None:
        found = view.missing(" and ".join(unread) or f"the network device of {name}", *(unread or ("netdevs",)))
        return ROUTES.unknown(host, name, expected=expected, found=found)
    if not addresses:
        return ROUTES.unknown(host, name, expected=expected, found=f"{netdev} has no address to send from")
    trouble = _trouble(ways, rail, netdev, addresses)
    if trouble is None:
        return ROUTES.passed(host, name, found=expected)
    return ROUTES.broken(
        host,
        name,
        expected=expected,
        found=trouble.found,
        cause=trouble.cause,
        remedy=trouble.remedy,
        device=netdev,
        # A rail with a wrong address takes away the packets of the rail whose subnet it is in.
        peer=f"{host}/{strays[trouble.netdev]}" if trouble.netdev in strays else "",
    )


def _trouble(ways: _Ways, rail: BoundRail, netdev: str, addresses: tuple[str, ...]) -> Optional[Trouble]:
    """The first thing that is wrong: a rule that is missing or overruled, a way that leads off, a route not there."""
    wanted, rules = routes.wanted(rail.intent, netdev)
    for rule in rules:
        if not any(_same_rule(rule, have) for have in ways.rules):
            source = str(rule.source).partition("/")[0]
            found = f"no rule from {source} to table {rule.table}"
            return Trouble(found, "the routing rule was removed, or never set: the main table decides instead")
    own = ways.own(netdev)
    for address in addresses:
        astray = _astray(ways, own, address)
        if astray is not None:
            return astray
    for route in wanted:
        astray = _off(ways, own, route) or _missing(ways, route)
        if astray is not None:
            return astray
    return None


def _same_rule(want: RoutingRule, have: RoutingRule) -> bool:
    """The priority is free, as long as the order is right: see :func:`_astray`."""
    if have.family != want.family or have.table != want.table or have.selectors or have.action is not None:
        return False
    return have.source is not None and want.source is not None and _equal(have.source, want.source)


def _astray(ways: _Ways, own: frozenset[str], address: str) -> Optional[Trouble]:
    """Follow the policy for packets from ``address`` into its own subnet (ip-rule(8): first table with a route)."""
    subnet, family = prefix.network(address), prefix.family(address)
    for rule in ways.rules:
        # Rules with other conditions are for some packets only, none of them known to be the rail's.
        if rule.family != family or rule.selectors or rule.action is not None:
            continue
        if rule.source is not None and not prefix.holds(rule.source, address.partition("/")[0]):
            continue
        for route in ways.within(rule.table, subnet):
            if route.netdev not in own and not _equal(subnet, route.destination):
                return _wrong(route, f"this route is narrower than the rail's subnet {subnet}, so it wins")
        best = ways.best(rule.table, subnet)
        if best is None:
            continue
        if best.netdev in own:
            return None
        if best.destination in routes.DEFAULT.values():
            return _wrong(
                best, f"there is no route to the rail's subnet {subnet}, and the default route takes them", ""
            )
        return _wrong(best, f"this route wins for the rail's subnet {subnet}")
    return Trouble(f"no route to {subnet}", "the subnet's route was removed")


def _off(ways: _Ways, own: frozenset[str], want: Route) -> Optional[Trouble]:
    """A route that leads off what ``want`` shall carry.

    In the rail's own table none may. In the main table the other rails are at home, down to the first rail's metric,
    and so are narrower networks of the node's management.
    """
    for route in ways.within(want.table, want.destination):
        same = _equal(want.destination, route.destination)
        if route.netdev in own or (same and route.metric > want.metric):
            continue
        if want.table != routes.MAIN:
            return _wrong(route, f"it is in the rail's own table {want.table}, where all shall leave by the rail")
        if same and route.metric < derive.FIRST_TABLE:
            return _wrong(route, f"it wins over the rail's own route, which has metric {want.metric}")
    return None


def _missing(ways: _Ways, want: Route) -> Optional[Trouble]:
    for route in ways.within(want.table, want.destination):
        if route.netdev == want.netdev and _equal(route.destination, want.destination):
            if route.gateway == want.gateway:
                return None
            if route.gateway is not None and want.gateway is not None and _equal(route.gateway, want.gateway):
                return None
    gateway = f" via {want.gateway}" if want.gateway else ""
    table = "" if want.table == routes.MAIN else f" table {want.table}"
    found = f"no route to {want.destination}{gateway} in {table.strip() or 'the main table'}"
    remedy = f"ip route add {want.destination}{gateway} dev {want.netdev}{table}"
    return Trouble(found, "the route was removed, or never set", f"Run site.yml (role rail_network), or: {remedy}")


def _wrong(route: Route, why: str, remedy: Optional[str] = None) -> Trouble:
    gateway = f" via {route.gateway}" if route.gateway else ""
    table = "" if route.table == routes.MAIN else f" table {route.table}"
    metric = f" metric {route.metric}" if route.metric else ""
    way = f"{route.destination}{gateway} dev {route.netdev or 'several'}{table}{metric}"
    if remedy is None:
        remedy = f"ip route del {way}, and take it out of whatever sets it."
    cause = f"the rail's packets leave by {route.netdev or 'several devices'}: {why}"
    return Trouble(way, cause, remedy, route.netdev)


def _equal(one: str, other: str) -> bool:
    """Whether two prefixes are one, however they are written."""
    return one == other or prefix.numbers(one) == prefix.numbers(other)


def kernel(view: View, intent: NodeIntent, rails: tuple[BoundRail, ...]) -> list[Finding]:
    """One finding a rail; where all rails suffer from the same, it is one of the node: somebody set it for all."""
    netdevs = {rail.intent.name: rail.netdev_name for rail in rails if rail.netdev_name is not None}
    wanted = sysctls.wanted(intent, netdevs)
    have = view.facts.sysctls
    found: list[Finding] = []
    broken: dict[str, str] = {}
    judged = [rail for rail in rails if rail.intent.addressing != "none" and 4 in rail.intent.families]
    for rail in judged:
        host, name, netdev = view.host, rail.intent.name, rail.netdev_name
        own = {key: value for key, value in wanted.items() if netdev and key.startswith(sysctls.conf(netdev, ""))}
        expected = ", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in own.items())
        verdicts = {key: sysctls.good(key, value, have or {}) for key, value in own.items()}
        bad = [key for key, verdict in verdicts.items() if verdict is False]
        if bad:
            broken[name] = ", ".join(f"{key.rpartition('.')[2]} {sysctls.effective(key, have or {})}" for key in bad)
        elif not own or None in verdicts.values():
            subjects = ("sysctls",) if netdev else ("sysctls", "netdevs")
            missing = view.missing(f"the kernel parameters of {place(rail)}", *subjects)
            found.append(SYSCTLS.unknown(host, name, expected=expected, found=missing))
        else:
            found.append(SYSCTLS.passed(host, name, found=f"{netdev} {expected}"))
    if len(broken) > 1 and len(broken) == len(judged) and len(set(broken.values())) == 1:
        names = ", ".join(netdevs[name] for name in broken)
        return [*found, _set_wrong(view.host, None, names, next(iter(broken.values())), wanted)]
    return [*found, *(_set_wrong(view.host, name, netdevs[name], text, wanted) for name, text in broken.items())]


def _set_wrong(host: str, rail: Optional[str], netdevs: str, text: str, wanted: dict[str, str]) -> Finding:
    causes = []
    if "rp_filter" in text:
        causes.append("the reverse path filter is strict: packets that another route would answer are dropped")
    if "arp_" in text:
        causes.append("ARP flux: other rails answer for this rail's address, or ask in its name")
    first = netdevs.partition(",")[0]
    keys = [sysctls.conf(first, word.split(" ")[0]) for word in text.split(", ")]
    return SYSCTLS.broken(
        host,
        rail,
        expected=", ".join(f"{key.rpartition('.')[2]} {wanted[key]}" for key in keys),
        found=f"{netdevs} {text} (the larger of the device's and all)",
        cause="; ".join(causes),
        remedy=f"Run site.yml (role rail_network), or: sysctl -w {' '.join(f'{key}={wanted[key]}' for key in keys)}; "
        "then look what sets it: grep -r the name in /etc/sysctl.d, /run/sysctl.d and /usr/lib/sysctl.d.",
        device=first,
    )


def neighbours(view: View, intent: NodeIntent) -> Optional[Finding]:
    """Limits of the neighbour tables, as a minimum."""
    wanted = {key: value for key, value in sysctls.wanted(intent, {}).items() if ".neigh." in key}
    if not wanted:
        return None
    have = view.facts.sysctls or {}
    expected = ", ".join(f"{key} {value}" for key, value in wanted.items())
    verdicts = {key: sysctls.good(key, value, have) for key, value in wanted.items()}
    small = [key for key, verdict in verdicts.items() if verdict is False]
    if small:
        found = ", ".join(f"{key} {have[key]}" for key in small)
        cause = "the kernel's own limits are in force, or smaller ones"
        return NEIGHBOURS.broken(view.host, expected=expected, found=found, cause=cause)
    if None in verdicts.values():
        found = view.missing("the neighbour table's limits", "sysctls")
        return NEIGHBOURS.unknown(view.host, expected=expected, found=found)
    return NEIGHBOURS.passed(view.host, found=", ".join(f"{key} {have[key]}" for key in wanted))
