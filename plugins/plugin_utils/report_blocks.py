# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes in blocks, so that a matrix of a thousand nodes has no more rows than one of thirty.

Up to ``SINGLE`` nodes each has a row of its own. Beyond that a row is a unit's nodes at the same leaves; few large ones
are divided, many small ones are put together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .report_common import Document, Item

SINGLE = 16
MOST = 32
FINE = 12  # fewer rows than this say too little about a fabric that has more nodes


@dataclass(frozen=True)
class Block:
    """A row: its name, and its nodes."""

    name: str
    nodes: tuple[str, ...]

    @property
    def range(self) -> str:
        """First and last node."""
        return self.nodes[0] if len(self.nodes) == 1 else f"{self.nodes[0]} … {self.nodes[-1]}"


def blocks(document: Document) -> list[Block]:
    """All nodes, neighbours in the fabric beside each other."""
    hosts = document["hosts"]
    order = sorted(hosts, key=lambda name: (*_place(hosts[name]), hosts[name]["node_id"] or 0, name))
    if len(order) <= SINGLE:
        return [Block(name, (name,)) for name in order]
    cells: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name in order:
        cells.setdefault((_unit(hosts[name]), _leaves(hosts[name])), []).append(name)
    parts = [(unit, nodes) for (unit, _leaf), nodes in cells.items()]
    if len(parts) > MOST:
        parts = _merged(parts, -(-len(parts) // MOST))
    elif len(parts) < FINE:
        parts = _divided(parts, MOST)
    return _named(parts)


def _merged(parts: list[tuple[str, list[str]]], count: int) -> list[tuple[str, list[str]]]:
    found = []
    for start in range(0, len(parts), count):
        some = parts[start : start + count]
        first, last = some[0][0], some[-1][0]
        found.append((first if first == last else f"{first}–{last}", [name for _unit, nodes in some for name in nodes]))
    return found


def _divided(parts: list[tuple[str, list[str]]], most: int) -> list[tuple[str, list[str]]]:
    """Pieces of one size, the smallest that leaves no more than ``most`` of them."""
    largest = max(len(nodes) for _unit, nodes in parts)
    size = next(size for size in range(1, largest + 1) if sum(-(-len(nodes) // size) for _unit, nodes in parts) <= most)
    return [(unit, nodes[at : at + size]) for unit, nodes in parts for at in range(0, len(nodes), size)]


def _named(parts: list[tuple[str, list[str]]]) -> list[Block]:
    """By the unit, or by the nodes where a unit has several."""
    units = [unit for unit, _nodes in parts]
    found = []
    for unit, nodes in parts:
        span = nodes[0] if len(nodes) == 1 else f"{nodes[0]}–{_tail(nodes[0], nodes[-1])}"
        found.append(Block(unit if unit and units.count(unit) == 1 else span, tuple(nodes)))
    return found


def _tail(first: str, last: str) -> str:
    """What distinguishes the last name: ``008`` of ``gpu008``."""
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same] and not first[same].isdigit():
        same += 1
    return last[same:] or last


def _place(host: Item) -> tuple[list[tuple[int, int, str]], list[list[tuple[int, int, str]]]]:
    return natural(_unit(host)), [natural(leaf) for leaf in _leaves(host)]


def natural(text: str) -> list[tuple[int, int, str]]:
    """A key that puts ``su2`` before ``su10``."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text) if part]


def _unit(host: Item) -> str:
    return host["unit"] or ""


def _leaves(host: Item) -> tuple[str, ...]:
    return tuple(leaf for rail in host["rails"].values() for leaf in rail["leaf"])
