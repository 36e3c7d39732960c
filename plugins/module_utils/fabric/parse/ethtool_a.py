# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ethtool -a`` and ``ethtool --json -a``: global pause, as it is set and as it was negotiated."""

from __future__ import annotations

from typing import Any, Optional

from ..errors import ParseError
from ..model.facts import QosState
from ..records import dataclass
from .text import numbered, parse_json, wrong

TOOL = "ethtool -a"
_HEAD = "Pause parameters for "
_LACKS = ("Operation not supported", "not supported")
_KEYS = {
    "Autonegotiate": "autoneg",
    "RX": "rx",
    "TX": "tx",
    "RX negotiated": "rx_negotiated",
    "TX negotiated": "tx_negotiated",
}
_JSON = {"autonegotiate": "autoneg", "rx": "rx", "tx": "tx"}


@dataclass(frozen=True)
class Pause:
    """Settings of one netdev; all are ``None`` where the driver has no pause frames to set (``supported`` is false)."""

    netdev: str
    supported: bool = True
    autoneg: Optional[bool] = None
    rx: Optional[bool] = None
    tx: Optional[bool] = None
    rx_negotiated: Optional[bool] = None
    tx_negotiated: Optional[bool] = None

    @property
    def rx_active(self) -> Optional[bool]:
        """Whether the port stops when it is told so."""
        return _active(self.autoneg, self.rx, self.rx_negotiated)

    @property
    def tx_active(self) -> Optional[bool]:
        """Whether the port tells its peer to stop."""
        return _active(self.autoneg, self.tx, self.tx_negotiated)

    @property
    def state(self) -> QosState:
        """The settings, which count for a peer that negotiates otherwise tomorrow."""
        return QosState(self.netdev, pause_rx=self.rx, pause_tx=self.tx, pause_autoneg=self.autoneg)


def _active(autoneg: Optional[bool], wanted: Optional[bool], negotiated: Optional[bool]) -> Optional[bool]:
    if not autoneg or not wanted:
        return wanted
    return negotiated


def parse(text: str) -> Pause:
    """The settings of one netdev.

    :raises ParseError: also for a headline without settings, unless ethtool says that the driver lacks them.
    """
    if text.lstrip().startswith("["):
        return _from_json(text)
    netdev, lacks, statistics = "", False, False
    told: dict[str, bool] = {}
    for number, line in numbered(text):
        words = line.strip()
        key, colon, value = (part.strip() for part in words.partition(":"))
        if words.startswith(_HEAD) and words.endswith(":") and not netdev:
            netdev = words[len(_HEAD) : -1]
        elif words.startswith(("Cannot get ", "netlink error: ")) and words.endswith(_LACKS):
            lacks = True
        elif netdev and words == "Statistics:":
            statistics = True
        elif netdev and statistics and colon and value.isdecimal():
            continue
        elif netdev and not statistics and key in _KEYS and value in ("on", "off") and _KEYS[key] not in told:
            told[_KEYS[key]] = value == "on"
        else:
            raise wrong(TOOL, number, line, "a line that is not known here")
    if lacks and not told:
        return Pause(netdev, supported=False)
    if not netdev or not {"autoneg", "rx", "tx"} <= set(told):
        raise ParseError("no settings of a netdev", f"{TOOL}:1", text.strip()[:80])
    return Pause(netdev, **told)


def _from_json(text: str) -> Pause:
    listing = parse_json(TOOL, text)
    entry = listing[0] if isinstance(listing, list) and len(listing) == 1 else None
    if not isinstance(entry, dict) or not isinstance(entry.get("ifname"), str):
        raise ParseError("no settings of one netdev", f"{TOOL}:1", text.strip()[:80])
    negotiated = entry.get("negotiated", {})
    if not isinstance(negotiated, dict):
        raise ParseError("'negotiated' is no mapping", f"{TOOL}:1", str(negotiated)[:80])
    told = {name: _flag(entry.get(key)) for key, name in _JSON.items()}
    told.update((f"{key}_negotiated", _flag(negotiated[key])) for key in ("rx", "tx") if key in negotiated)
    return Pause(entry["ifname"], **told)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ParseError("true or false is expected", f"{TOOL}:1", str(value)[:80])
    return value
