# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs as heat maps, one a rail and one over all: state by colour and sign, bandwidth by shade and number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator

from ..module_utils.fabric.verify.pair import NOT_MEASURED
from .report_blocks import Block, natural
from .report_common import STATES, SYMBOLS, Document, Item

ALL = "all rails"
SHADES = (0.95, 0.9, 0.8, 0.6)  # of the reference; below the last one is the fifth shade
SMALL = ("size_lost", "too_big", "local_mtu")
PEERS = 12  # named in one line


@dataclass
class Cell:
    """Ordered pairs from one block to another. ``low`` is the lowest share of the reference, ``slowest`` its pair."""

    tested: int = 0
    skipped: int = 0
    bad: int = 0
    state: str = "pass"
    sign: str = ""
    low: float | None = None
    slowest: str = ""

    def take(self, pair: Item, share: float | None) -> None:
        """Count one pair in."""
        if pair["reason"] in NOT_MEASURED:
            self.skipped += 1
        else:
            self.tested += 1
        if pair["state"] != "pass":
            self.bad += 1
            sign = _sign(pair)
            if _worse(pair["state"], sign, self.state, self.sign):
                self.state, self.sign = pair["state"], sign
        if share is not None and (self.low is None or share < self.low):
            self.low, self.slowest = share, f"{pair['host']} → {pair['peer']} {pair['rail']}"

    def merge(self, other: Cell) -> None:
        """Count another rail's in."""
        self.tested += other.tested
        self.skipped += other.skipped
        self.bad += other.bad
        if _worse(other.state, other.sign, self.state, self.sign):
            self.state, self.sign = other.state, other.sign
        if other.low is not None and (self.low is None or other.low < self.low):
            self.low, self.slowest = other.low, other.slowest

    @property
    def look(self) -> str:
        """Its class: the state, a shade where it is a pass, and whether most of its pairs pass where it is none."""
        if self.state == "pass":
            return f"pass s{shade(self.low)}"
        return f"{self.state} part" if 2 * self.bad < self.tested + self.skipped else self.state

    @property
    def text(self) -> str:
        """What it says without colours."""
        number = "" if self.low is None else f"{100 * self.low:.0f}"
        if self.state == "pass":
            return number or SYMBOLS["pass"]
        # Of many pairs the number that is bad says more than the value of the worst.
        return f"{self.sign} {self.bad if self.many else number}".strip()

    @property
    def many(self) -> bool:
        """Whether it stands for several pairs."""
        return self.tested + self.skipped > 1

    @property
    def words(self) -> str:
        """Its title."""
        total = self.tested + self.skipped
        said = f"{total - self.bad:,} of {total:,} pass" if self.many else self.state
        return said + (f", lowest {100 * self.low:.0f} %: {self.slowest}" if self.low is not None else "")


@dataclass
class Matrix:
    """One heat map.

    ``faults`` has for each row the pairs that do not pass: (host, state, why) and its peers. ``lists`` says for each
    row under which rail's number its list is: the one over all rails has none of its own.
    """

    rail: str
    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)
    faults: dict[int, dict[tuple[str, str, str], list[str]]] = field(default_factory=dict)
    lists: dict[int, int] = field(default_factory=dict)

    @property
    def total(self) -> Cell:
        """All its cells as one."""
        cell = Cell()
        for other in self.cells.values():
            cell.merge(other)
        return cell

    def lines(self, row: int) -> Iterator[tuple[str, str, str, str]]:
        """What is wrong from a row's nodes: host, state, reason, peers in words."""
        for (host, state, why), peers in self.faults.get(row, {}).items():
            more = f" and {len(peers) - PEERS} more" if len(peers) > PEERS else ""
            yield host, state, why, ", ".join(peers[:PEERS]) + more


def matrices(document: Document, kind: str, rows: list[Block]) -> list[Matrix]:
    """One over all rails, then one a rail."""
    index = {name: number for number, block in enumerate(rows) for name in block.nodes}
    best = _best(document, kind)
    rails: dict[str, Matrix] = {}
    for pair in document["pairs"]:
        if pair["kind"] != kind or pair["host"] not in index or pair["peer"] not in index:
            continue
        rail = rails.get(pair["rail"])
        if rail is None:
            rail = rails[pair["rail"]] = Matrix(pair["rail"])
        at = (index[pair["host"]], index[pair["peer"]])
        cell = rail.cells.get(at)
        if cell is None:
            cell = rail.cells[at] = Cell()
        cell.take(pair, _share(document, pair, best))
        if pair["state"] != "pass":
            why = f"{pair['reason'] or 'too slow'}{': ' + pair['error'] if pair['error'] else ''}"
            if pair["reason"] is None and pair["value"] is not None and kind == "bandwidth":
                why = f"{pair['value']:.4g} Gbit/s"
            rail.faults.setdefault(at[0], {}).setdefault((pair["host"], pair["state"], why), []).append(pair["peer"])
    if not rails:
        return []
    found = [Matrix(ALL), *(rails[name] for name in sorted(rails, key=natural))]
    for number, rail in enumerate(found[1:], 1):
        rail.lists = dict.fromkeys(rail.faults, number)
        found[0].lists = {**rail.lists, **found[0].lists}
        for at, cell in rail.cells.items():
            found[0].cells.setdefault(at, Cell()).merge(cell)
    return found


def reference(document: Document) -> str:
    """What bandwidths are a share of, in words."""
    rated = any(rail["rate_gbps"] for host in document["hosts"].values() for rail in host["rails"].values())
    return "% of the line rate" if rated else "% of the best pair of the rail"


def shade(low: float | None) -> int:
    """5 is the best; a test without a number has nothing to be slower than."""
    return 5 if low is None else 5 - sum(low < bound for bound in SHADES)


def _best(document: Document, kind: str) -> dict[str, float]:
    best: dict[str, float] = {}
    for pair in document["pairs"]:
        if pair["kind"] == kind and pair["value"] is not None:
            best[pair["rail"]] = max(best.get(pair["rail"], 0.0), pair["value"])
    return best


def _share(document: Document, pair: Item, best: dict[str, float]) -> float | None:
    if pair["kind"] != "bandwidth" or pair["value"] is None or pair["state"] == "unknown":
        return None
    known = document["hosts"][pair["host"]]["rails"].get(pair["rail"])
    whole = (known["rate_gbps"] if known else None) or best.get(pair["rail"])
    return pair["value"] / whole if whole else None


def _sign(pair: Item) -> str:
    """A letter that tells the kinds of failure apart without colour."""
    if pair["state"] != "fail":
        return SYMBOLS[pair["state"]]
    if pair["reason"] in SMALL:
        return "M"
    return "L" if pair["reason"] == "lossy" else SYMBOLS["fail"]


def _worse(state: str, sign: str, than: str, other: str) -> bool:
    rank = (STATES.index(state), sign != SYMBOLS["fail"])
    return rank < (STATES.index(than), other != SYMBOLS["fail"])
