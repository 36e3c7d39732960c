# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ethtool <netdev>``: speed and link of a port."""

from __future__ import annotations

import re
from typing import Optional

from ..errors import ParseError
from ..records import dataclass
from .text import numbered, wrong

TOOL = "ethtool"
_HEAD = "Settings for "
# What ethtool says beside the settings when it is not root, or when the driver lacks something.
_TROUBLE = ("Cannot get ", "netlink error: ", "Could not ")


@dataclass(frozen=True)
class Settings:
    """``speed_mbps`` is ``None`` without a link. ``warnings`` are what ethtool could not read, in its own words."""

    netdev: str
    speed_mbps: Optional[int] = None
    link: Optional[bool] = None
    duplex: Optional[str] = None
    autoneg: Optional[bool] = None
    port: Optional[str] = None
    warnings: tuple[str, ...] = ()


def parse(text: str) -> Settings:
    """The settings of one netdev. A bond's speed is the sum of its ports.

    :raises ParseError: also for ``No data available``, which says nothing about the link.
    """
    netdev: Optional[str] = None
    values: dict[str, str] = {}
    warnings = []
    for number, line in numbered(text):
        words = line.strip()
        key, colon, value = words.partition(":")
        if words.startswith(_TROUBLE):
            warnings.append(words)
        elif words.startswith(_HEAD) and words.endswith(":"):
            if netdev is not None:
                raise ParseError("settings of more than one netdev", f"{TOOL}:{number}", words[:80])
            netdev = words[len(_HEAD) : -1]
        elif words == "No data available":
            raise ParseError("no data available", f"{TOOL}:{number}", netdev)
        elif colon and netdev is not None:
            if key in values:
                raise wrong(TOOL, number, line, "a setting that is there twice: settings of more than one netdev")
            values[key] = value.strip()
    if not netdev or not {"Speed", "Link detected"} & set(values):
        raise ParseError("no settings of a netdev", f"{TOOL}:1", text.strip()[:80])
    speed = re.fullmatch(r"([0-9]{1,8})Mb/s", values.get("Speed", ""))
    return Settings(
        netdev,
        int(speed.group(1)) if speed else None,
        _word(values.get("Link detected"), "yes", "no"),
        values.get("Duplex"),
        _word(values.get("Auto-negotiation"), "on", "off"),
        values.get("Port"),
        tuple(warnings),
    )


def _word(value: Optional[str], yes: str, no: str) -> Optional[bool]:
    return True if value == yes else False if value == no else None
