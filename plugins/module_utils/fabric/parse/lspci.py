# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``lspci -vv``: PCIe links, as they are and as they could be (captured texts; a probe reads sysfs)."""

from __future__ import annotations

import re
from typing import Optional

from ..records import dataclass
from .text import numbered, wrong

TOOL = "lspci"
_HEAD = re.compile(r"((?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])(?: (.*))?")
_LINK = re.compile(
    r"Speed (unknown|[0-9]{1,3}(?:\.[0-9])?GT/s)(?: \(([a-z]+)\))?, Width x([0-9]{1,3})\b(?: \(([a-z]+)\))?"
)


@dataclass(frozen=True)
class PcieLink:
    """Speeds in GT/s a lane. ``address`` is as lspci prints it: without the domain where there is but one."""

    address: str
    name: str = ""
    speed_gts: Optional[float] = None
    width: Optional[int] = None
    max_speed_gts: Optional[float] = None
    max_width: Optional[int] = None

    @property
    def slow(self) -> Optional[bool]:
        """Whether a lane is slower than it could be; an idle GPU saves power so. ``None``: not known."""
        return _less(self.speed_gts, self.max_speed_gts)

    @property
    def narrow(self) -> Optional[bool]:
        """Whether lanes are missing; ``None``: not known."""
        return _less(self.width, self.max_width)


def parse(text: str) -> tuple[PcieLink, ...]:
    """Functions that have a link, in the order of the text. Lines that are about something else are passed over."""
    found: list[PcieLink] = []
    address, name = "", ""
    ability: tuple[Optional[float], Optional[int]] = (None, None)
    seen: set[str] = set()
    for number, line in numbered(text):
        head = _HEAD.fullmatch(line)
        if head:
            address, name, ability, seen = head.group(1).lower(), head.group(2) or "", (None, None), set()
            continue
        key, colon, rest = line.strip().partition(":")
        if not colon or key not in ("LnkCap", "LnkSta"):
            continue
        if not address or key in seen or (key == "LnkCap" and seen):
            raise wrong(TOOL, number, line, "a link without a device above it")
        seen.add(key)
        match = _LINK.search(rest)
        if match is None:
            raise wrong(TOOL, number, line, "no link of the form 'Speed 32GT/s, Width x16'")
        speed = None if match.group(1) == "unknown" else float(match.group(1)[: -len("GT/s")])
        link = (speed, int(match.group(3)) or None)
        if key == "LnkCap":
            ability = link
            continue
        told = PcieLink(address, name, *link, *ability)
        if ("downgraded", False) in ((match.group(2), told.slow), (match.group(4), told.narrow)):
            raise wrong(TOOL, number, line, "downgraded, and yet all that the device can do: its own line is missing")
        found.append(told)
    return tuple(found)


def _less(value: Optional[float], limit: Optional[float]) -> Optional[bool]:
    return None if value is None or limit is None else value < limit
