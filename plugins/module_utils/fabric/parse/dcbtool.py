# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``dcbtool gc X dcb`` of lldpad: whether CEE's DCB is on. A daemon that does not run is an error, not "off"."""

from __future__ import annotations

from ..errors import ParseError
from ..records import dataclass
from .text import numbered, wrong

TOOL = "dcbtool"
_TROUBLE = ("connect: ", "Failed to connect")


@dataclass(frozen=True)
class State:
    """The answer to one question; ``version`` is DCBX's: ``FORCED CIN``, ``AUTO`` …"""

    netdev: str
    feature: str
    on: bool
    version: str


def parse(text: str) -> State:
    """The state of DCB of one netdev."""
    told: dict[str, str] = {}
    for number, line in numbered(text):
        words = line.strip()
        if words.startswith(_TROUBLE):
            raise wrong(TOOL, number, line, "lldpad is not running")
        key, colon, value = words.partition(":")
        if not colon or key in told:
            raise wrong(TOOL, number, line, "no line of the form 'KEY: VALUE', or one that is there twice")
        told[key] = value.strip()
    try:
        netdev, feature, status, version = (told[key] for key in ("Port", "Feature", "Status", "DCBX Version"))
    except KeyError as error:
        raise ParseError(f"{error} is lacking", f"{TOOL}:1", text.strip()[:80]) from None
    if feature != "DCB State" or status not in ("On", "Off") or not netdev or not version:
        raise ParseError("no state of DCB", f"{TOOL}:1", f"{feature}: {status}"[:80])
    return State(netdev, feature, status == "On", version)
