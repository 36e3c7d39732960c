# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ethtool -i``: driver and firmware of a netdev; several outputs may follow one another."""

from __future__ import annotations

import re
from typing import Optional

from ..errors import ParseError
from ..records import dataclass
from .text import numbered

TOOL = "ethtool -i"
_FIRMWARE = re.compile(r"(\S+) \(([A-Z0-9_]+)\)")


@dataclass(frozen=True)
class DriverInfo:
    """``psid`` is the board's id, which mlx5 puts in parentheses after the firmware's version."""

    driver: str
    firmware: Optional[str] = None
    psid: Optional[str] = None
    bus: Optional[str] = None


def parse(text: str) -> tuple[DriverInfo, ...]:
    """One entry an output; each begins with ``driver:``. No firmware is ``None``; lines without a colon are noise."""
    blocks: list[dict[str, str]] = []
    for number, line in numbered(text):
        key, colon, value = line.partition(":")
        if key == "driver" and value.strip():
            blocks.append({})
        if colon and not blocks:
            raise ParseError("the first line must name the driver", f"{TOOL}:{number}", line[:80])
        if colon and key.strip() in blocks[-1]:
            raise ParseError("a second netdev without its line 'driver:'", f"{TOOL}:{number}", line[:80])
        if colon:
            blocks[-1][key.strip()] = value.strip()
    if not blocks:
        raise ParseError("no driver is named", f"{TOOL}:1", text[:80])
    return tuple(_info(block) for block in blocks)


def _info(block: dict[str, str]) -> DriverInfo:
    firmware = block.get("firmware-version") or None
    match = _FIRMWARE.fullmatch(firmware or "")
    return DriverInfo(
        block["driver"],
        match.group(1) if match else firmware,
        match.group(2) if match else None,
        block.get("bus-info") or None,
    )
