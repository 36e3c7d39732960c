# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ethtool -m``: the transceiver or cable in a port.

Keys differ by the kind of module: ethtool's sfpid.c, sfpdiag.c, qsfp.c and cmis.c.
"""

from __future__ import annotations

import re
from typing import Optional

from ..errors import ParseError
from ..model.facts import Module
from .text import numbered, wrong

TOOL = "ethtool -m"
# SFF-8024, table 4-1: what byte 0 of a module's memory says it is.
_KINDS = {0x03: "SFP", 0x0C: "QSFP", 0x0D: "QSFP+", 0x11: "QSFP28", 0x18: "QSFP-DD", 0x19: "OSFP", 0x1E: "QSFP112"}
_RX = ("Receiver signal average optical power", "Rcvr signal avg optical power")
_TX = ("Laser output power", "Transmit avg optical power")
_ONCE = ("Identifier", "Vendor SN", "Module temperature")
_DARK = -40.0  # dBm: 0.1 µW, the least that a module can tell (SFF-8472, 9.4)


def parse(text: str, netdev: str = "") -> Module:
    """What the module tells. Copper without electronics has no temperature and no powers: that is no fault.

    A driver that hands out the bare memory (a dump in hex) leaves everything but the kind unknown.
    """
    pairs: list[tuple[str, str]] = []
    for number, line in numbered(text):
        dumped = re.fullmatch(r"0x0000:\s+([0-9a-f]{2})( [0-9a-f]{2})*\s*", line.strip())
        if dumped:
            return Module(netdev, kind=f"{_KINDS.get(int(dumped.group(1), 16), dumped.group(1))}, not decoded")
        key, colon, value = line.partition(" :")
        if not colon:
            key, colon, value = line.partition(": ")
        if colon and key.strip():
            pairs.append((" ".join(key.split()), value.strip()))
        elif line.strip(". ") and line.split() not in (["Offset", "Values"], ["------", "------"]):
            raise wrong(TOOL, number, line, "no line of the form 'Key : value'")
    _check(pairs)
    found = dict(reversed(pairs))
    known = ("Identifier", "Module temperature", *_RX, *_TX)
    if not any(key.startswith(known) for key in found):
        raise ParseError("nothing that a module tells", f"{TOOL}:1", text.strip()[:80])
    return Module(
        netdev,
        kind=_kind(found),
        vendor=found.get("Vendor name") or None,
        part=found.get("Vendor PN") or None,
        serial=found.get("Vendor SN") or None,
        temperature=_temperature(found.get("Module temperature")),
        rx_dbm=tuple(_dbm(value) for key, value in pairs if _is_power(key, _RX)),
        tx_dbm=tuple(_dbm(value) for key, value in pairs if _is_power(key, _TX)),
        alarms=tuple(key for key, value in pairs if value == "On" and (" alarm" in key or " warning" in key)),
    )


def _check(pairs: list[tuple[str, str]]) -> None:
    """Nothing, for the text of one module whose flags are all readable."""
    for key in _ONCE:
        values = [value for name, value in pairs if name == key]
        if len(values) > 1:
            raise ParseError(f"'{key}' is there twice: two modules in one text", f"{TOOL}:1", values[1][:80])
    for key, value in pairs:
        if re.search(r" (alarm|warning)$", key) and value not in ("On", "Off"):
            raise ParseError(f"'{key}' is neither On nor Off", f"{TOOL}:1", value[:80])


def _kind(found: dict[str, str]) -> Optional[str]:
    match = re.search(r"\(([^()]+)", found.get("Identifier", ""))
    if match is None:
        return None
    word = match.group(1).partition(" or ")[0].strip()
    technology = found.get("Transmitter technology", "")
    copper = "Copper cable" in technology or "Passive Cu" in found.get("Transceiver type", "")
    return f"{word}, copper" if copper else word


def _is_power(key: str, names: tuple[str, ...]) -> bool:
    """The value itself, of the module or of a channel: not its thresholds and flags, whose names go on."""
    return any(key == name or re.fullmatch(rf"{name} ?\(Chan(nel)? \d+\)", key) for name in names)


def _temperature(value: Optional[str]) -> Optional[float]:
    if value is None:
        return None
    match = re.match(r"(-?\d{1,3}(?:\.\d{1,3})?) degrees C", value)
    if match is None:
        raise ParseError("no temperature in degrees C", f"{TOOL}:1", value[:80])
    return float(match.group(1))


def _dbm(value: str) -> float:
    match = re.search(r" / (-?\d{1,3}\.\d{1,3}|-inf) dBm", value)
    if match is None:
        raise ParseError("no power in dBm", f"{TOOL}:1", value[:80])
    return _DARK if match.group(1) == "-inf" else float(match.group(1))
