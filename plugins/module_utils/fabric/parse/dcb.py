# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``dcb <object> show dev X`` of iproute2, as JSON (``-j``: one bare object) and as text.

Shapes are those of iproute2's dcb/dcb_*.c. No output names its netdev, so the caller does.
"""

from __future__ import annotations

import re
from typing import Any, Mapping

from ..errors import ParseError
from ..model.facts import QosState
from .dcbnl import DCBX, TSA, shares, trust
from .text import is_number, numbered, parse_json, wrong

TOOL = "dcb"
_TABLES = (
    "ethtype_prio",
    "default_prio",
    "stream_port_prio",
    "dgram_port_prio",
    "port_prio",
    "dscp_prio",
    "pcp_prio",
)
# Names of /etc/iproute2/rt_dsfield beside the class selectors and the assured forwarding of RFC 2474 and RFC 2597:
# RFC 3246 (EF), RFC 5865 (VOICE-ADMIT), RFC 8622 (LE).
_DSCPS = {"default": 0, "LE": 1, "VOICE-ADMIT": 44, "EF": 46}
_CLASS = re.compile(r"CS([0-7])|AF([1-4])([1-3])")
_UNITS = {"": 1, "b": 1, "Kb": 1 << 10, "Mb": 1 << 20}
_RATES = {"bit": 1, "Kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}


def app(text: str, netdev: str = "") -> QosState:
    """DSCPs of the table of applications, and what a driver without a setting for it trusts by them.

    An empty table prints nothing as text, which is no better than no output: that is refused.
    """
    found: list[tuple[int, int]] = []
    if _is_json(text):
        listing = _json("app", text).get("dscp_prio", [])
        if not isinstance(listing, list):
            raise ParseError("'dscp_prio' is no list", f"{TOOL} app:1", str(listing)[:80])
        for entry in listing:
            # iproute2 before 6.2 puts a blank after the two, or does not, by version.
            if not isinstance(entry, list) or len(entry) < 2:
                raise ParseError("an entry of 'dscp_prio' is no pair", f"{TOOL} app:1", str(entry)[:80])
            found.append((_dscp(str(entry[0])), _in(entry[1], 7, "app")))
    else:
        told = False
        for number, line in numbered(text):
            table, *entries = line.split()
            if table.replace("-", "_") not in _TABLES:
                raise wrong(f"{TOOL} app", number, line, "a table that is not known here")
            if not entries:
                raise wrong(f"{TOOL} app", number, line, "a table without entries: the line is cut")
            told = True
            for entry in entries if table == "dscp-prio" else ():
                name, _, priority = entry.rpartition(":")
                found.append((_dscp(name), _in(priority, 7, "app")))
        if not told:
            raise ParseError("no table", f"{TOOL} app:1")
    dscps = tuple(sorted(found))
    return QosState(netdev, trust=trust(dscps), dscp_prio=dscps)


def pfc(text: str, netdev: str = "") -> QosState:
    """Priorities with PFC, and with ``-s`` its frames. First versions say ``pg-pfc`` for ``prio-pfc``.

    The delay is the length of the cable for mlx5, and 0 for drivers that have no use for it.
    """
    told = _told("pfc", text, ("pfc_cap", "macsec_bypass", "delay"), ("prio_pfc", "pg_pfc", "requests", "indications"))
    switches = _eight("pfc", told, "prio_pfc" if "prio_pfc" in told else "pg_pfc")
    return QosState(
        netdev,
        pfc=tuple(priority for priority, word in enumerate(switches) if _on("pfc", word)),
        pfc_classes=_in(_needed("pfc", told, "pfc_cap"), 8, "pfc"),
        cable_length_m=_in(_needed("pfc", told, "delay"), 0xFFFF, "pfc") or None,
        pfc_sent=_numbers("pfc", told, "requests", 1 << 64) if "requests" in told else None,
        pfc_received=_numbers("pfc", told, "indications", 1 << 64) if "indications" in told else None,
    )


def ets(text: str, netdev: str = "") -> QosState:
    """Traffic classes: shares, algorithms, and the priorities' classes; not what is recommended to the peer."""
    arrays = ("tc_bw", "pg_bw", "tc_tsa", "prio_tc", "reco_tc_bw", "reco_tc_tsa", "reco_prio_tc")
    told = _told("ets", text, ("willing", "ets_cap", "cbs"), arrays)
    algorithms = _eight("ets", told, "tc_tsa")
    unknown = [word for word in algorithms if word not in TSA.values()]
    if unknown:
        raise ParseError("a transmission selection that is not known here", f"{TOOL} ets:1", str(unknown[0])[:80])
    return QosState(
        netdev,
        willing=_on("ets", _needed("ets", told, "willing")),
        tcs=_in(_needed("ets", told, "ets_cap"), 8, "ets"),
        share=shares(algorithms, _numbers("ets", told, "tc_bw", 100)),
        tsa=tuple(algorithms),
        prio_tc=_numbers("ets", told, "prio_tc", 7),
    )


def buffer(text: str, netdev: str = "") -> QosState:
    """Receive buffers in bytes. As text a size may be rounded to ``Kb`` and ``Mb``, by less than 16 bytes and 1 KiB."""
    told = _told("buffer", text, ("total_size",), ("prio_buffer", "buffer_size"))
    return QosState(
        netdev,
        buffer_size=tuple(_size(word) for word in _eight("buffer", told, "buffer_size")),
        prio_buffer=_numbers("buffer", told, "prio_buffer", 7),
        buffer_total=_size(_needed("buffer", told, "total_size")),
    )


def dcbx(text: str, netdev: str = "") -> QosState:
    """Who owns DCBX: the flags that are set. None is firmware-owned, and as text prints nothing: that is refused."""
    known = [word for _, word in DCBX]
    if _is_json(text):
        told = _json("dcbx", text)
        words = [word for word, value in told.items() if _on("dcbx", value)]
    else:
        words = [word.replace("-", "_") for word in text.split()]
        if not words:
            raise ParseError("no flag", f"{TOOL} dcbx:1")
    unknown = [word for word in words if word not in known]
    if unknown:
        raise ParseError("a flag that is not known here", f"{TOOL} dcbx:1", unknown[0][:80])
    return QosState(netdev, dcbx=tuple(word for word in known if word in words))


def apptrust(text: str, netdev: str = "") -> QosState:
    """What is trusted first of DSCP and PCP: ``order: dscp pcp``; ``None`` when neither is."""
    if _is_json(text):
        words = _json("apptrust", text).get("order")
    else:
        head, colon, rest = text.strip().partition(":")
        words = rest.split() if colon and head == "order" else None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ParseError("no order of what is trusted", f"{TOOL} apptrust:1", text.strip()[:80])
    return QosState(netdev, trust=next((word for word in words if word in ("dscp", "pcp")), None))


def maxrate(text: str) -> tuple[int, ...]:
    """Limits of the traffic classes in bit/s, 0 for none. JSON has bytes per second."""
    told = _told("maxrate", text, (), ("tc_maxrate",))
    if _is_json(text):
        return tuple(8 * rate for rate in _numbers("maxrate", told, "tc_maxrate", 1 << 64))
    return tuple(_rate(word) for word in _eight("maxrate", told, "tc_maxrate"))


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _json(what: str, text: str) -> dict[str, Any]:
    told = parse_json(f"{TOOL} {what}", text)
    if not isinstance(told, dict):
        raise ParseError("no object of JSON", f"{TOOL} {what}:1", text.strip()[:80])
    return told


def _told(what: str, text: str, scalars: tuple[str, ...], arrays: tuple[str, ...]) -> dict[str, Any]:
    """Values by JSON's names: words of a line ``KEY VALUE …``, a list for a line ``KEY 0:VALUE 1:VALUE …``."""
    if _is_json(text):
        return _json(what, text)
    found: dict[str, Any] = {}
    for number, line in numbered(text):
        words = line.split()
        keys = [word.replace("-", "_") for word in words[::2]]
        first = keys[0]
        if first in arrays and first not in found:
            parts = [word.partition(":") for word in words[1:]]
            if [part[0] for part in parts] != [str(index) for index in range(8)]:
                raise wrong(f"{TOOL} {what}", number, line, "values of 0 to 7 are expected")
            found[first] = [part[2] for part in parts]
        elif len(words) % 2 == 0 and all(key in scalars and key not in found for key in keys):
            found.update(zip(keys, words[1::2]))
        else:
            raise wrong(f"{TOOL} {what}", number, line, "a line that is not known here")
    return found


def _needed(what: str, told: Mapping[str, Any], key: str) -> Any:
    if key not in told:
        raise ParseError(f"'{key}' is lacking", f"{TOOL} {what}:1")
    return told[key]


def _eight(what: str, told: Mapping[str, Any], key: str) -> list[Any]:
    values = _needed(what, told, key)
    if not isinstance(values, list) or len(values) != 8:
        raise ParseError(f"'{key}' is no list of eight", f"{TOOL} {what}:1", str(values)[:80])
    return values


def _numbers(what: str, told: Mapping[str, Any], key: str, most: int) -> tuple[int, ...]:
    return tuple(_in(value, most, what) for value in _eight(what, told, key))


def _in(value: Any, most: int, what: str) -> int:
    digits = value if isinstance(value, str) else str(value) if type(value) is int else ""
    if not is_number(digits) or int(digits) > most:
        raise ParseError(f"a number up to {most} is expected", f"{TOOL} {what}:1", str(value)[:80])
    return int(digits)


def _on(what: str, value: Any) -> bool:
    known = {"on": True, "off": False, True: True, False: False}
    if not isinstance(value, (str, bool)) or value not in known:
        raise ParseError("on or off is expected", f"{TOOL} {what}:1", str(value)[:80])
    return known[value]


def _dscp(name: str) -> int:
    known = _CLASS.fullmatch(name)
    if known is not None:
        return 8 * int(known[1]) if known[1] else 8 * int(known[2]) + 2 * int(known[3])
    return _DSCPS[name] if name in _DSCPS else _in(name, 63, "app")


def _size(value: Any) -> int:
    number, unit = _amount(value, "buffer")
    if unit not in _UNITS:
        raise ParseError("a size is expected", f"{TOOL} buffer:1", str(value)[:80])
    return int(number * _UNITS[unit])


def _rate(value: Any) -> int:
    number, unit = _amount(value, "maxrate")
    if unit not in _RATES:
        raise ParseError("a rate is expected", f"{TOOL} maxrate:1", str(value)[:80])
    return round(number * _RATES[unit])


def _amount(value: Any, what: str) -> tuple[float, str]:
    text = value if isinstance(value, str) else str(value) if type(value) is int else ""
    parts = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,6})?)([A-Za-z]*)", text)
    if parts is None:
        raise ParseError("an amount is expected", f"{TOOL} {what}:1", str(value)[:80])
    return float(parts[1]), parts[2]
