# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ip -j -d route show table all`` and ``ip -j -d rule show``: what decides which way a packet goes."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Optional

from ..model.facts import Route, RoutingRule
from .text import is_number, parse_json, wrong

TOOL = "ip route"
RULE_TOOL = "ip rule"
LOCAL, MAIN, DEFAULT = 255, 254, 253  # RT_TABLE_LOCAL, RT_TABLE_MAIN, RT_TABLE_DEFAULT: linux/rtnetlink.h
_KNOWN = {"local": LOCAL, "main": MAIN, "default": DEFAULT}
_ANY = {4: "0.0.0.0/0", 6: "::/0"}
# What a rule may ask of a packet beside its source, as iproute2 ip/iprule.c names it in JSON and ip-rule(8) in words.
_SELECTORS = {
    "dst": "to",
    "iif": "iif",
    "oif": "oif",
    "fwmark": "fwmark",
    "tos": "tos",
    "dsfield": "dsfield",
    "dscp": "dscp",
    "ipproto": "ipproto",
    "sport": "sport",
    "dport": "dport",
    "sport_start": "sport",
    "dport_start": "dport",
    "uid_start": "uidrange",
    "tun_id": "tun_id",
    "flowlabel": "flowlabel",
}

Names = Callable[[], Mapping[str, int]]


def table_names(text: str) -> dict[str, int]:
    """Names of routing tables, of a file ``rt_tables`` (ip-route(8)): a number and a name a line."""
    found = {}
    for line in text.split("\n"):
        words = line.partition("#")[0].split()
        if len(words) == 2 and is_number(words[0]):
            found[words[1]] = int(words[0])
    return found


def routes(text: str, names: Names = dict) -> tuple[Route, ...]:
    """Unicast routes of both families, without table ``local``; a multipath route is one entry a next hop.

    :param names: gives the numbers of tables that have names; asked only when one is met.
    """
    # iproute2 5 with -d prints the type of a route without its key (iproute2/iproute2#37).
    entries = _entries(TOOL, text.replace('{"unicast",', "{"))
    found: list[Route] = []
    for number, entry in entries:
        if entry.get("type", "unicast") != "unicast":
            continue
        table = _table(TOOL, entry, number, names)
        if table != LOCAL:
            found.extend(_hops(entry, number, table))
    return tuple(found)


def rules(text: str, names: Names = dict, family: int = 4) -> tuple[RoutingRule, ...]:
    """Rules of one family, in the kernel's order of evaluation."""
    return tuple(_rule(entry, number, names, family) for number, entry in _entries(RULE_TOOL, text))


def _entries(tool: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    data = parse_json(tool, text)
    if not isinstance(data, list):
        raise wrong(tool, 1, text, "a list is expected")
    for number, entry in enumerate(data, 1):
        if not isinstance(entry, dict):
            raise wrong(tool, number, str(entry), "an entry is no mapping")
        if entry:  # iproute2 5 prints an empty object for what its filter left out
            yield number, entry


def _hops(entry: dict[str, Any], number: int, table: int) -> Iterator[Route]:
    target = _text(TOOL, entry, "dst", number)
    if not target:
        raise wrong(TOOL, number, str(entry), "a route without 'dst'")
    metric = entry.get("metric", 0)
    if type(metric) is not int:
        raise wrong(TOOL, number, str(entry), "'metric' is no number")
    hops = entry.get("nexthops", [entry])
    if not isinstance(hops, list) or not all(isinstance(hop, dict) for hop in hops):
        raise wrong(TOOL, number, str(entry), "'nexthops' is no list of mappings")
    # Only IPv6 routes have a preference (RFC 4191).
    destination = _cidr(target, _ANY[6 if "pref" in entry or _is6(hops, number) else 4])
    source = _text(TOOL, entry, "prefsrc", number)
    for hop in hops:
        netdev = _text(TOOL, hop, "dev", number)
        yield Route(destination, netdev, _gateway(hop, number), table, metric, source)


def _is6(hops: list[dict[str, Any]], number: int) -> bool:
    return any(":" in (_text(TOOL, hop, "gateway", number) or "") for hop in hops)


def _gateway(hop: dict[str, Any], number: int) -> Optional[str]:
    via = hop.get("via")  # of the other family
    return _text(TOOL, via if isinstance(via, dict) else hop, "host" if isinstance(via, dict) else "gateway", number)


def _rule(entry: dict[str, Any], number: int, names: Names, family: int) -> RoutingRule:
    priority = entry.get("priority")
    if type(priority) is not int:
        raise wrong(RULE_TOOL, number, str(entry), "a rule without 'priority'")
    action = None
    if "table" in entry:
        table = _table(RULE_TOOL, entry, number, names)
    else:
        table = 0
        action = f"goto {entry['goto']}" if "goto" in entry else "l3mdev" if "l3mdev" in entry else entry.get("action")
        if not isinstance(action, str):
            raise wrong(RULE_TOOL, number, str(entry), "a rule without a table and without an action")
    source = _text(RULE_TOOL, entry, "src", number)
    return RoutingRule(
        priority,
        table,
        None if source in (None, "all") else _cidr(str(source), "", entry.get("srclen")),
        family,
        tuple(_selectors(entry)),
        action,
    )


def _selectors(entry: dict[str, Any]) -> Iterator[str]:
    if "not" in entry:
        yield "not"
    for key, word in _SELECTORS.items():
        if key in entry:
            value = f"{entry[key]}/{entry['dstlen']}" if key == "dst" and "dstlen" in entry else entry[key]
            yield f"{word} {value}"


def _table(tool: str, entry: dict[str, Any], number: int, names: Names) -> int:
    table = _text(tool, entry, "table", number) or "main"
    if is_number(table):
        return int(table)
    found = _KNOWN.get(table) or names().get(table)
    if found is None:
        raise wrong(tool, number, str(entry), f"no number is known for the table {table!r}")
    return found


def _cidr(prefix: str, default: str, length: object = None) -> str:
    if prefix == "default":
        return default
    if "/" in prefix:
        return prefix
    return f"{prefix}/{length if type(length) is int else 128 if ':' in prefix else 32}"


def _text(tool: str, entry: dict[str, Any], key: str, number: int) -> Optional[str]:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise wrong(tool, number, str(entry), f"'{key}' is no text")
    return value
