# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The routes and rules that a rail needs beside its subnet's own route: what is set, and what is looked for."""

from __future__ import annotations

from ..model.facts import Route, RoutingRule
from ..model.intent import RailIntent
from . import derive, prefix

MAIN = 254  # RT_TABLE_MAIN, include/uapi/linux/rtnetlink.h
DEFAULT = {4: "0.0.0.0/0", 6: "::/0"}


def wanted(rail: RailIntent, netdev: str) -> tuple[tuple[Route, ...], tuple[RoutingRule, ...]]:
    """Routes and rules of ``rail``, whose addresses sit on ``netdev``; none for a rail that is alone in its subnet.

    What comes from the rail's address is looked up in the rail's own table: there its subnet is on ``netdev``, and all
    else behind the gateway, so that no other rail's route can win. A program that does not bind its source reaches the
    aggregates by the main table; where rails share one, the metric makes the first rail win, and each time the same.
    An address from DHCP is not known here, and neither are its routes.
    """
    routes: list[Route] = []
    rules: list[RoutingRule] = []
    for address in rail.addresses:
        source, family = address.partition("/")[0], prefix.family(address)
        subnet = prefix.network(address)
        gateway = next((hop for hop in rail.gateways if prefix.family(hop) == family), None)
        if rail.table is not None:
            routes.append(Route(subnet, netdev, None, rail.table, source=source))
            if gateway is not None:
                routes.append(Route(DEFAULT[family], netdev, gateway, rail.table, source=source))
            rules.append(RoutingRule(derive.rule_priority(rail.table), rail.table, prefix.host(address), family))
        for aggregate in rail.aggregates:
            if gateway is not None and prefix.family(aggregate) == family and aggregate != subnet:
                metric = derive.table(rail.index)
                routes.append(Route(aggregate, netdev, gateway, MAIN, metric, source))
    return tuple(routes), tuple(rules)
