# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``lldptool -ti X`` and ``lldptool -t -n -i X`` of lldpad: what DCBX tells the peer, and what the peer tells.

TLVs of IEEE 802.1Qaz as intel/openlldp lldp_8021qaz_clif.c prints them; others are ignored.
"""

from __future__ import annotations

import re
from typing import Any, Optional

from ..errors import ParseError
from ..records import dataclass
from .text import numbered, whole_number, wrong

TOOL = "lldptool"
_ETS, _PFC, _APP = "IEEE 8021QAZ ETS Configuration TLV", "IEEE 8021QAZ PFC TLV", "IEEE 8021QAZ APP TLV"
_END = re.compile(r"End of LLDPDU (?:TLV|LTV)")  # both spellings are in the field
_HEAD = re.compile(r"[A-Z].* TLV")
_MAP = re.compile(r"([0-7]):(\w+)")
DSCP = 5  # selector of IEEE 802.1Qcd


@dataclass(frozen=True)
class App:
    """An application of the table: ``selector`` and ``value`` as in IEEE 802.1Qaz D.2.12, ``kind`` as it is printed."""

    priority: int
    selector: int
    kind: str
    value: int


@dataclass(frozen=True)
class Tlvs:
    """``None``: the TLV was not sent. ``willing`` is PFC's, ``ets_willing`` that of ETS; tuples as in QosState."""

    pfc: Optional[tuple[int, ...]] = None
    willing: Optional[bool] = None
    pfc_classes: Optional[int] = None
    ets_willing: Optional[bool] = None
    prio_tc: Optional[tuple[int, ...]] = None
    share: Optional[tuple[int, ...]] = None
    tsa: Optional[tuple[str, ...]] = None
    apps: Optional[tuple[App, ...]] = None

    @property
    def dscp_prio(self) -> tuple[tuple[int, int], ...]:
        """(DSCP, priority) among the applications, sorted."""
        return tuple(sorted((app.value, app.priority) for app in self.apps or () if app.selector == DSCP))


def parse(text: str) -> Tlvs:
    """One LLDPDU.

    :raises ParseError: without its end: then TLVs may be lacking that were sent.
    """
    sections: dict[str, dict[str, str]] = {}
    apps: Optional[list[dict[str, str]]] = None
    current, ended = "", False
    for number, line in numbered(text):
        words = line.strip()
        if ended:
            raise wrong(TOOL, number, line, "a line behind the end of the LLDPDU")
        if _END.fullmatch(words):
            ended = True
        elif _HEAD.fullmatch(words):
            current = words
            if current in sections:
                raise wrong(TOOL, number, line, "a TLV that is there twice")
            sections[current] = {}
            apps = [] if current == _APP else apps
        elif current == _APP and apps is not None and words.startswith("App#"):
            apps.append({})
        elif current in (_ETS, _PFC, _APP):
            into = apps[-1] if current == _APP and apps else sections[current]
            key, colon, value = words.partition(":")
            if not colon or key in into:
                raise wrong(TOOL, number, line, "no line of the form 'KEY: VALUE', or one that is there twice")
            into[key] = value.strip()
    if not ended:
        raise ParseError("the LLDPDU has no end", f"{TOOL}:1", text.strip()[:80])
    return Tlvs(
        **_pfc(sections[_PFC]) if _PFC in sections else {},
        **_ets(sections[_ETS]) if _ETS in sections else {},
        apps=None if apps is None else tuple(map(_app, apps)),
    )


def _pfc(told: dict[str, str]) -> dict[str, Any]:
    """``PFC enabled: none``, or the priorities: ``0`` is priority 0."""
    words = _needed(told, "PFC enabled").split()
    if words == ["none"]:
        words = []
    elif not words or words != sorted(set(words)) or not all(re.fullmatch("[0-7]", word) for word in words):
        raise ParseError("priorities, or none, are expected", f"{TOOL}:1", told["PFC enabled"][:80])
    return {
        "pfc": tuple(map(int, words)),
        "willing": _yes(told),
        "pfc_classes": _number(told, "PFC capable traffic classes"),
    }


def _ets(told: dict[str, str]) -> dict[str, Any]:
    shares = _needed(told, "TC Bandwidth").split()
    if len(shares) != 8 or not all(re.fullmatch(r"[0-9]{1,3}%", word) for word in shares):
        raise ParseError("eight percentages are expected", f"{TOOL}:1", told["TC Bandwidth"][:80])
    classes = _eight(told, "PRIO_MAP")
    if not all(re.fullmatch("[0-7]", word) for word in classes):
        raise ParseError("traffic classes are expected", f"{TOOL}:1", told["PRIO_MAP"][:80])
    return {
        "ets_willing": _yes(told),
        "prio_tc": tuple(map(int, classes)),
        "share": tuple(int(word[:-1]) for word in shares),
        "tsa": _eight(told, "TSA_MAP"),
    }


def _app(told: dict[str, str]) -> App:
    kind = next((key for key in told if key not in ("Priority", "Sel")), "")
    value = _needed(told, kind)
    base = 16 if value.startswith("0x") else 10
    priority = _number(told, "Priority")
    if priority > 7:
        raise ParseError("a priority is expected", f"{TOOL}:1", str(priority))
    return App(priority, _number(told, "Sel"), kind, whole_number(TOOL, 1, value, value, base))


def _eight(told: dict[str, str], key: str) -> tuple[str, ...]:
    parts = [_MAP.fullmatch(word) for word in _needed(told, key).split()]
    if [part[1] if part else None for part in parts] != [str(index) for index in range(8)]:
        raise ParseError(f"{key} has not the values of 0 to 7", f"{TOOL}:1", told[key][:80])
    return tuple(part[2] for part in parts if part)


def _yes(told: dict[str, str]) -> bool:
    word = _needed(told, "Willing")
    if word not in ("yes", "no"):
        raise ParseError("yes or no is expected", f"{TOOL}:1", word[:80])
    return word == "yes"


def _number(told: dict[str, str], key: str) -> int:
    return whole_number(TOOL, 1, key, _needed(told, key))


def _needed(told: dict[str, str], key: str) -> str:
    if key not in told:
        raise ParseError(f"'{key or 'the application'}' is lacking", f"{TOOL}:1")
    return told[key]
