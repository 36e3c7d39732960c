# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Netdevs, routes and routing rules: one process of ip answers all three."""

from __future__ import annotations

from functools import lru_cache
from typing import Callable, Mapping, Optional, TypeVar, Union

from ..errors import MissingError, ReadError
from ..model.facts import Netdev, Route, RoutingRule
from ..parse import ip_address, ip_route
from ..ports import TIMEOUT_S, Completed
from .collect import Reader

T = TypeVar("T")
BATCH = ("ip", "-j", "-d", "-force", "-batch", "-")
RULES6 = ("ip", "-6", "-j", "-d", "rule", "show")
_COMMANDS = {"netdevs": "address show", "routes": "route show table all type unicast", "rules": "rule show"}
_FAILED = "Command failed -:"
# Where iproute2 has the names of tables: its own first, what the administrator wrote over it last (ip-route(8)).
_TABLES = ("/usr/lib/iproute2/rt_tables", "/usr/share/iproute2/rt_tables", "/etc/iproute2/rt_tables")

Found = tuple[Optional[tuple[Netdev, ...]], Optional[tuple[Route, ...]], Optional[tuple[RoutingRule, ...]]]


def ip(reader: Reader) -> Found:
    """Netdevs as ip knows them, routes and rules, of both families; each is ``None`` when it cannot be told."""
    try:
        done = reader.port.run(BATCH, TIMEOUT_S, "".join(f"{line}\n" for line in _COMMANDS.values()))
    except MissingError:
        # No ip at all; or a recording of an older version, which has netdevs only.
        return reader.tool(("ip", "-j", "-d", "address", "show"), ip_address.parse, "netdevs"), None, None
    except ReadError as error:
        for name in _COMMANDS:
            reader.note(error, name)
        return None, None, None
    told = _documents(done)

    names = lru_cache(maxsize=None)(lambda: _table_names(reader))

    def told_of(name: str, parse: Callable[[str], T]) -> Optional[T]:
        text = told[name]
        if isinstance(text, ReadError):
            reader.note(text, name)
            return None
        return reader.attempt(name, lambda: parse(text))

    netdevs = told_of("netdevs", ip_address.parse)
    routes = told_of("routes", lambda text: ip_route.routes(text, names))
    rules = told_of("rules", lambda text: ip_route.rules(text, names))
    if rules is not None and _may_have_rules6(routes):
        more = reader.tool(RULES6, lambda text: ip_route.rules(text, names, 6), "rules")
        rules = (*rules, *more) if more is not None else None
    return netdevs, routes, rules


def _documents(done: Completed) -> dict[str, Union[str, ReadError]]:
    """What each command printed, a line each; a command that failed is its error."""
    place = " ".join(done.argv)
    lines = [line for line in done.err.splitlines() if line.strip()]
    failed = {line[len(_FAILED) :] for line in lines if line.startswith(_FAILED)}
    said = next((line for line in lines if not line.startswith(_FAILED)), f"exit code {done.rc}")[:200]
    documents = done.out.splitlines()
    good = [name for number, name in enumerate(_COMMANDS, 1) if str(number) not in failed]
    if len(documents) != len(good):
        good = []
    found: dict[str, Union[str, ReadError]] = dict(zip(good, documents))
    for name, command in _COMMANDS.items():
        if name not in found:
            found[name] = ReadError(f"ip failed: {said}", f"{place}: {command}")
    return found


def _may_have_rules6(routes: Optional[tuple[Route, ...]]) -> bool:
    """Whether IPv6 packets can go another way than the main table says: that takes a table to go by.

    ip has one family a process, and nearly all nodes have no such table.
    """
    return routes is None or any(":" in route.destination and route.table != ip_route.MAIN for route in routes)


def _table_names(reader: Reader) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for path in _TABLES:
        for file in (path, *_dropped(reader, f"{path}.d")):
            text = reader.text(file, "routes")
            if text:
                found.update(ip_route.table_names(text))
    return found


def _dropped(reader: Reader, folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in reader.port.listdir(folder) if name.endswith(".conf")]
    except ReadError:
        return []
