# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Roots that are the same trouble in many places: twelve nodes with one wrong MTU are one thing to read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .report_common import STATES, Document, Item, consequences, roots, where

_MARKED = re.compile(r"\S*\d\S*")
FEW = 4  # names that fit into a sentence
WORDS = ("found", "expected", "cause", "remedy")


@dataclass(frozen=True)
class Group:
    """Roots of one rule with one cause; ``following`` is what follows from any of them."""

    items: list[Item]
    following: list[Item]

    @property
    def first(self) -> Item:
        """The one that stands for all."""
        return self.items[0]

    @property
    def where(self) -> str:
        """``node1 rail0``, or ``12 nodes, rail1``: the places in a few words."""
        if len(self.items) == 1:
            return where(self.first)
        hosts = list(dict.fromkeys(item["host"] or item["device"] or "fabric" for item in self.items))
        rails = list(dict.fromkeys(item["rail"] for item in self.items if item["rail"]))
        nodes = ", ".join(hosts) if len(hosts) <= FEW else f"{len(hosts)} nodes"
        if not rails:
            return nodes
        return f"{nodes}{' ' if len(hosts) == 1 else ', '}{', '.join(rails) if len(rails) <= FEW else _rails(rails)}"

    def word(self, key: str) -> tuple[str, str]:
        """A text and whom it is about: nobody in particular when all say the same, else the first one's place."""
        same = all(item[key] == self.first[key] for item in self.items)
        return self.first[key], "" if same else where(self.first)

    def by_rule(self) -> list[tuple[str, str, list[Item]]]:
        """What follows, by rule and state, worst first."""
        found: dict[tuple[str, str], list[Item]] = {}
        for item in self.following:
            found.setdefault((item["rule"], item["state"]), []).append(item)
        ordered = sorted(found.items(), key=lambda pair: STATES.index(pair[0][1]))
        return [(rule, state, items) for (rule, state), items in ordered]


def groups(document: Document) -> list[Group]:
    """All roots, worst first, those of one kind together where the first one of them stands."""
    below = consequences(document)
    found: dict[tuple[str, ...], list[Item]] = {}
    for item in roots(document):
        found.setdefault(_kind(item), []).append(item)
    return [Group(items, [one for item in items for one in below.get(item["key"], ())]) for items in found.values()]


def _kind(item: Item) -> tuple[str, ...]:
    """What is alike in two places: the texts without names and numbers."""
    names = sorted((name for name in (item["host"], item["device"], item["peer"]) if name), key=len, reverse=True)
    texts = []
    for key in ("title", "cause", "remedy"):
        text = item[key]
        for name in names:
            text = text.replace(name, "#")
        texts.append(_MARKED.sub("#", text))
    return (item["rule"], item["state"], *texts)


def _rails(rails: list[str]) -> str:
    return f"{len(rails)} rails"
