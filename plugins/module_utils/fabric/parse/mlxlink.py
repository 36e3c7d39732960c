# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``mlxlink -m -c``, as text and as JSON: what the firmware of a ConnectX knows of its link and its cable."""

from __future__ import annotations

import re
from typing import Any, Iterator, Optional

from ..errors import ParseError
from ..records import dataclass
from .text import numbered, parse_json

TOOL = "mlxlink"
# What mlxlink prints for a counter that saw no error: a mantissa of 15 and an exponent of -255, no rate at all.
_NONE_SEEN = "15E-255"


@dataclass(frozen=True)
class MlxLink:
    """``speed`` and ``width`` in mlxlink's words (``200G``, ``IB-EDR``; ``4x``). A BER of 0.0: no error was seen.

    ``state`` is the link's, not the logical one of InfiniBand: a port without a subnet manager is Active here.
    """

    state: Optional[str] = None
    physical_state: Optional[str] = None
    speed: Optional[str] = None
    width: Optional[str] = None
    fec: Optional[str] = None
    opcode: Optional[int] = None
    recommendation: Optional[str] = None
    firmware: Optional[str] = None
    temperature: Optional[float] = None
    vendor: Optional[str] = None
    part: Optional[str] = None
    serial: Optional[str] = None
    raw_ber: Optional[float] = None
    effective_ber: Optional[float] = None
    symbol_ber: Optional[float] = None
    minutes: Optional[float] = None  # since the counters were cleared


def parse(text: str) -> MlxLink:
    """One port."""
    pairs = dict(_json(text) if text.lstrip().startswith("{") else _lines(text))
    if not pairs.get("State"):
        raise ParseError("no 'State' of a link", f"{TOOL}:1", text.strip()[:80])
    return MlxLink(
        pairs.get("State"),
        pairs.get("Physical state"),
        _told(pairs, "Speed"),
        _told(pairs, "Width"),
        _told(pairs, "FEC"),
        int(pairs["Status Opcode"]) if pairs.get("Status Opcode", "").isdecimal() else None,
        _told(pairs, "Recommendation"),
        _told(pairs, "Firmware Version"),
        _number(pairs, "Temperature [C]"),
        _told(pairs, "Vendor Name"),
        _told(pairs, "Vendor Part Number"),
        _told(pairs, "Vendor Serial Number"),
        _number(pairs, "Raw Physical BER"),
        _number(pairs, "Effective Physical BER"),
        _number(pairs, "Symbol BER"),
        _number(pairs, "Time Since Last Clear [Min]"),
    )


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for _, line in numbered(text):
        key, colon, value = line.partition(":")
        if colon:
            yield " ".join(key.split()), value.strip()


def _json(text: str) -> Iterator[tuple[str, str]]:
    data: Any = parse_json(TOOL, text)
    for key in ("result", "output"):
        data = data.get(key) if isinstance(data, dict) else None
    if not isinstance(data, dict):
        raise ParseError("no object result.output", f"{TOOL}:1", text.strip()[:80])
    for section in data.values():
        for key, value in section.items() if isinstance(section, dict) else ():
            if isinstance(value, (str, int, float)):
                yield " ".join(key.split()), str(value).strip()


def _told(pairs: dict[str, str], key: str) -> Optional[str]:
    value = pairs.get(key)
    return None if value in (None, "", "N/A") else value


def _number(pairs: dict[str, str], key: str) -> Optional[float]:
    value = _told(pairs, key)
    if value is None:
        return None
    if value == _NONE_SEEN:
        return 0.0
    # A temperature is followed by its thresholds: "46 [-5..75]".
    match = re.match(r"([0-9]{1,12}(?:\.[0-9]{1,9})?(?:[eE][-+]?[0-9]{1,3})?)(?: |$)", value)
    if match is None:
        raise ParseError(f"'{key}' is no number", f"{TOOL}:1", value[:80])
    return float(match.group(1))
