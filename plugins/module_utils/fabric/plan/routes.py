# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Drift of a rail's live routes and rules of the routing policy."""

from __future__ import annotations

from typing import Optional

from ..errors import ReadError, RefusedError
from ..model.facts import NodeFacts, Route, RoutingRule
from ..model.network import Link
from ..model.plan import Run, Step
from ..resolve.derive import rule_priority
from ..resolve.prefix import family, holds, host, network, numbers
from ..resolve.routes import MAIN

# What the kernel gives an IPv6 route without a metric, and a prefix that comes with an address (IP6_RT_PRIO_USER and
# IP6_RT_PRIO_ADDRCONF, include/uapi/linux/ipv6_route.h).
_METRICS6 = (0, 256, 1024)


def route_steps(links: tuple[Link, ...], facts: NodeFacts) -> list[Step]:
    """What is missing among the routes and rules of one rail, and what is there and leads elsewhere.

    What is missing comes when the network manager settles the rail; what is too much is taken away by hand, since not
    every manager takes away what it did not set.

    :raises ReadError: when the rail needs routes or rules and those of the node could not be read.
    """
    top = links[-1]
    if not top.addresses:
        return []
    if (top.routes and facts.routes is None) or (top.rules and facts.rules is None):
        raise ReadError("routes and rules of the node could not be read", "routes")
    steps: list[Step] = []
    tables = {route.table for route in top.routes if route.table != MAIN}
    _refuse_management(top, tables, facts)
    have = tuple(route for route in facts.routes or () if not _unsettled(route, top))
    for route in top.routes:
        if not _unsettled(route, top) and not any(_same(route, other) for other in have):
            steps.append(Step(top.rail, f"route {route.destination}{_table(route.table)}", "", route_text(route)))
    steps += _connected(top, facts)
    for route in have:
        if route.table in tables and not any(_same(wanted, route) for wanted in top.routes):
            steps.append(_away(top.rail, route))
    rules = facts.rules or ()
    for rule in top.rules:
        if rule not in rules:
            steps.append(Step(top.rail, f"rule {rule.priority}", "", rule_text(rule)))
    priorities = {rule_priority(table) for table in tables}
    for rule in rules:
        if (rule.table in tables or rule.priority in priorities) and rule not in top.rules:
            steps.append(Step(top.rail, f"rule {rule.priority}", rule_text(rule), "", (_no_rule(rule),)))
    return steps


def _refuse_management(top: Link, tables: set[int], facts: NodeFacts) -> None:
    """Nothing, when no rule sends the management to the rail's own tables, or has the priority of theirs.

    :raises RefusedError: when one does: it would be taken away, and what is in the table as well.
    """
    nics = [netdev for netdev in facts.netdevs or () if netdev.name in facts.management]
    own = [address.partition("/")[0] for netdev in nics for address in netdev.addresses]
    priorities = {rule_priority(table) for table in tables}
    for rule in facts.rules or ():
        if rule.table not in tables and rule.priority not in priorities:
            continue
        words = {word for selector in rule.selectors for word in selector.split()}
        if words & set(facts.management) or any(holds(rule.source, address) for address in own if rule.source):
            raise RefusedError(
                f"the node's management is routed by its rule {rule.priority}, {rule_text(rule)}, and the rail needs "
                f"table {min(tables)} and priority {min(priorities)} for itself",
                f"rail {top.rail}",
                remedy="Give the management another table and priority",
            )


def undo_routes(links: tuple[Link, ...], facts: NodeFacts) -> list[Run]:
    """Take away what the rail brings and the node does not have yet, whatever the network manager does about it.

    A route of the main table may lead the way back to the controller astray.
    """
    top = links[-1]
    routes = [route for route in top.routes if not any(_same(route, have) for have in facts.routes or ())]
    rules = [rule for rule in top.rules if rule not in (facts.rules or ())]
    return [_no_route(route) for route in routes] + [_no_rule(rule) for rule in rules]


def stray_steps(links: tuple[Link, ...], facts: NodeFacts) -> list[Step]:
    """Routes of the main table by which one rail's traffic would leave through another rail.

    :param links: the links of all rails.
    """
    tops = [link for link in links if link.top]
    prefixes = {network(address) for link in tops for address in link.addresses}
    prefixes |= {route.destination for link in tops for route in link.routes if route.table == MAIN}
    rails = {link.name: link for link in links}
    return [
        _away(rails[route.netdev].rail, route)
        for route in facts.routes or ()
        if route.table == MAIN
        and route.netdev in rails
        and route.destination in prefixes
        and not _known(route, rails[route.netdev])
    ]


def _known(route: Route, link: Link) -> bool:
    own = {network(address) for address in link.addresses}
    return route.destination in own or any(_same(wanted, route) for wanted in link.routes)


def _connected(top: Link, facts: NodeFacts) -> list[Step]:
    """The subnet's own route, which the kernel adds with the address and nobody brings back when it was deleted."""
    if top.netdev is None or top.netdev.admin_up is False or facts.routes is None:
        return []
    steps = []
    for address in top.addresses:
        subnet, source = network(address), address.partition("/")[0]
        route = Route(subnet, top.name, None, MAIN, source=source)
        if address not in top.netdev.addresses or _unsettled(route, top) or subnet == host(address):
            continue
        if not any(
            (other.destination, other.netdev, other.table, other.gateway) == (subnet, top.name, MAIN, None)
            for other in facts.routes
        ):
            version = f"-{family(address)}"
            more = ("metric", "256") if family(address) == 6 else ("scope", "link", "src", source)
            argv = ("ip", version, "route", "replace", subnet, "dev", top.name, "proto", "kernel", *more)
            steps.append(Step(top.rail, f"route {subnet}", "", route_text(route), (Run(argv),)))
    return steps


def _unsettled(route: Route, top: Link) -> bool:
    """Whether the kernel cannot show the route yet.

    An IPv6 address stays tentative without carrier, and no route has it as its source before (RFC 4862).
    """
    return ":" in route.destination and top.netdev is not None and not top.netdev.carrier


def _same(wanted: Route, have: Route) -> bool:
    if (wanted.netdev, wanted.table) != (have.netdev, have.table) or not (
        equal(wanted.destination, have.destination) and equal(wanted.gateway, have.gateway)
    ):
        return False
    metrics = _METRICS6 if ":" in wanted.destination and not wanted.metric else (wanted.metric,)
    return have.metric in metrics and have.source in (None, wanted.source)


def _away(rail: str, route: Route) -> Step:
    setting = f"route {route.destination}{_table(route.table)}"
    return Step(rail, setting, route_text(route), "", (_no_route(route),))


def _no_route(route: Route) -> Run:
    version = f"-{family(route.destination)}"
    argv = ["ip", version, "route", "del", route.destination, "table", str(route.table)]
    argv += ["via", route.gateway] if route.gateway is not None else []
    argv += ["dev", route.netdev] if route.netdev is not None else []
    argv += ["metric", str(route.metric)] if route.metric else []
    # A route that went with another change is gone all the same (exit code 2), or its netdev is (exit code 1).
    return Run(tuple(argv), allowed=(0, 1, 2))


def _no_rule(rule: RoutingRule) -> Run:
    # Every condition is named: the kernel deletes the first rule that has those that it is told.
    argv = ["ip", f"-{rule.family}", "rule", "del", "priority", str(rule.priority), *_rule_words(rule)]
    return Run(tuple(argv), allowed=(0, 2))


def route_text(route: Route) -> str:
    """``via 10.20.0.1 dev ens1 metric 100``."""
    words = [("via", route.gateway), ("dev", route.netdev), ("metric", route.metric or None)]
    return " ".join(f"{word} {value}" for word, value in words if value is not None)


def rule_text(rule: RoutingRule) -> str:
    """``from 10.20.0.5/32 table 101``."""
    return " ".join(_rule_words(rule))


def _rule_words(rule: RoutingRule) -> list[str]:
    selectors = [word for selector in rule.selectors for word in selector.split()]
    end = rule.action.split() if rule.action else ["table", str(rule.table)]
    return ["from", rule.source or "all", *selectors, *end]


def equal(one: Optional[str], other: Optional[str]) -> bool:
    """Whether two prefixes or addresses are the same, however IPv6 is spelled."""
    return one == other or (one is not None and other is not None and numbers(one) == numbers(other))


def _table(number: int) -> str:
    return "" if number == MAIN else f" in table {number}"
