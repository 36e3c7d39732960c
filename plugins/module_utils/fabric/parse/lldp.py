# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``lldpcli -f json0 show neighbors``, and the older ``-f json`` whose shape changes with the number of entries."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from ..errors import ParseError
from ..model.facts import Neighbour
from .text import parse_json

TOOL = "lldpcli"


def parse(text: str) -> tuple[Neighbour, ...]:
    """Neighbours by local netdev. A port known by its MAC is named by its description, as a plan names it."""
    data = parse_json(TOOL, text, unique=True)
    if not isinstance(data, dict) or "lldp" not in data:
        raise ParseError("no object 'lldp'", f"{TOOL}:1", text.strip()[:80])
    found = []
    for top in _list(data["lldp"]):
        if not isinstance(top, dict):
            raise ParseError("'lldp' is no mapping", f"{TOOL}:1", str(top)[:80])
        for netdev, entry in _named(top.get("interface", [])):
            found.append(_neighbour(netdev, entry))
    return tuple(found)


def _neighbour(netdev: str, entry: dict[str, Any]) -> Neighbour:
    system: Optional[str] = None
    for name, chassis in _named(entry.get("chassis", [])):
        system = name or _value(chassis.get("name")) or _value(chassis.get("id"))
    port = next(iter(_list(entry.get("port", []))), None)
    if not system or not isinstance(port, dict):
        raise ParseError("a neighbour without chassis and port", f"{TOOL}:1", netdev)
    identity, description = _value(port.get("id")), _value(port.get("descr"))
    kinds = [item.get("type") for item in _list(port.get("id", [])) if isinstance(item, dict)]
    port_name = description if description and kinds == ["mac"] else identity or description
    if not port_name:
        raise ParseError("a neighbour's port without id and description", f"{TOOL}:1", netdev)
    return Neighbour(netdev, system, port_name)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _named(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Entries of json0 (``[{"name": "eth0", …}]``) and of json (``{"eth0": {…}}``, or a list of such)."""
    for item in _list(value):
        if not isinstance(item, dict):
            raise ParseError("an entry is no mapping", f"{TOOL}:1", str(item)[:80])
        if {"via", "id", "port"} & set(item):
            name = item.get("name", "")
            yield (name if isinstance(name, str) else "", item)
            continue
        for name, entry in item.items():
            if not isinstance(entry, dict):
                raise ParseError("an entry is no mapping", f"{TOOL}:1", str(item)[:80])
            yield name, entry


def _value(item: Any) -> Optional[str]:
    """Text of ``"x"``, ``{"value": "x"}`` and ``[{"value": "x"}]``."""
    if isinstance(item, list):
        item = item[0] if item else None
    if isinstance(item, dict):
        item = item.get("value")
    return item if isinstance(item, str) and item else None
