# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's reply to DCB_CMD_IEEE_GET: all that a driver's DCB is, in one netlink message.

Numbers and structures are those of linux/dcbnl.h; net/dcb/dcbnl.c, dcbnl_ieee_fill() writes the message.
"""

from __future__ import annotations

import struct
from typing import Any, Iterator, Optional, Sequence

from ..errors import ParseError
from ..model.facts import QosState

TOOL = "dcbnl"
# Algorithms of struct ieee_ets (tc_tsa), by the names that dcb-ets(8) has for them.
TSA = {0: "strict", 1: "cbs", 2: "ets", 255: "vendor"}
# DCB_CAP_DCBX_*, by the names of dcb-dcbx(8).
DCBX = ((1, "host"), (2, "lld_managed"), (4, "cee"), (8, "ieee"), (16, "static"))
DSCP = 5  # IEEE_8021QAZ_APP_SEL_DSCP
_GETDCB, _IEEE_GET = 78, 21
_IEEE, _DCBX = 13, 14
_ETS, _PFC, _APPS, _BUFFER, _APP_TRUST = 1, 2, 3, 10, 11
_PCP = 255  # DCB_APP_SEL_PCP
_HEAD = struct.Struct("=IHHIIBBH")
_ATTRIBUTE = struct.Struct("=HH")
_APP = struct.Struct("=HHBBH")
_PFC_STRUCT = struct.Struct("=BBBxHxx8Q8Q")
_BUFFER_STRUCT = struct.Struct("=8B8II")
_ETS_SIZE = 3 + 7 * 8


def parse(message: bytes, netdev: str) -> QosState:
    """The settings of one netdev; what the driver does not have is left ``None``.

    A driver that sizes receive buffers takes PFC's delay for the length of the cable in metres, and has buffers to tell
    (drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c). Trust is what the driver makes of the table of applications:
    that of DSCPs counts as soon as it has an entry (the same file, and mlnx_qos), unless the driver has an order.

    :raises ParseError: for a message that is cut, or is another one.
    """
    if len(message) < _HEAD.size:
        raise _cut("a message")
    length, kind, _, _, _, _, command, _ = _HEAD.unpack_from(message)
    if kind != _GETDCB or command != _IEEE_GET:
        raise ParseError("not the reply to DCB_CMD_IEEE_GET", f"{TOOL}:1", f"type {kind}, command {command}")
    if not _HEAD.size <= length <= len(message):
        raise _cut("the message")
    found: dict[str, Any] = {"netdev": netdev}
    told = False
    for name, value in _attributes(message[_HEAD.size : length]):
        if name == _IEEE:
            told = True
            found.update(_ieee(value))
        elif name == _DCBX:
            found["dcbx"] = tuple(word for bit, word in DCBX if _bytes(value, 1, "DCBX")[0] & bit)
    if not told:
        raise ParseError("no settings in the message", f"{TOOL}:1", netdev)
    return QosState(**found)


def _ieee(nest: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    delay: Optional[int] = None
    order: Optional[list[int]] = None
    for name, value in _attributes(nest):
        if name == _ETS:
            found.update(_ets(_bytes(value, _ETS_SIZE, "ETS")))
        elif name == _PFC:
            numbers = _PFC_STRUCT.unpack_from(_bytes(value, _PFC_STRUCT.size, "PFC"))
            delay = numbers[3]
            found["pfc_classes"] = numbers[0]
            found["pfc"] = tuple(priority for priority in range(8) if numbers[1] >> priority & 1)
            found["pfc_sent"], found["pfc_received"] = numbers[4:12], numbers[12:20]
        elif name == _BUFFER:
            numbers = _BUFFER_STRUCT.unpack_from(_bytes(value, _BUFFER_STRUCT.size, "buffers"))
            found["prio_buffer"], found["buffer_size"] = numbers[:8], numbers[8:16]
            found["buffer_total"] = numbers[16]
        elif name == _APPS:
            found["dscp_prio"] = _dscps(value)
        elif name == _APP_TRUST:
            order = [_bytes(selector, 1, "trust")[0] for _, selector in _attributes(value)]
    if "buffer_size" in found:
        found["cable_length_m"] = delay
    if order is not None:
        first = next((selector for selector in order if selector in (DSCP, _PCP)), None)
        found["trust"] = None if first is None else "dscp" if first == DSCP else "pcp"
    elif "dscp_prio" in found:
        found["trust"] = trust(found["dscp_prio"])
    return found


def trust(dscp_prio: tuple[tuple[int, int], ...]) -> str:
    """What a driver without a setting of its own for it trusts."""
    return "dscp" if dscp_prio else "pcp"


def _ets(value: bytes) -> dict[str, Any]:
    """Struct ieee_ets: three flags, then arrays of eight: bandwidths of TX and RX, algorithms, TCs of priorities …"""
    tsa = tuple(_algorithm(number) for number in value[19:27])
    return {
        "willing": bool(value[0]),
        "tcs": value[1],
        "share": shares(tsa, value[3:11]),
        "tsa": tsa,
        "prio_tc": tuple(value[27:35]),
    }


def shares(tsa: Sequence[str], bandwidths: Sequence[int]) -> tuple[int, ...]:
    """Percentages by class. Of one that does not share mlx5 says 100, others 0: it has none."""
    return tuple(share if word == "ets" else 0 for word, share in zip(tsa, bandwidths))


def _algorithm(number: int) -> str:
    if number not in TSA:
        raise ParseError("a transmission selection that is not known here", f"{TOOL}:1", str(number))
    return TSA[number]


def _dscps(table: bytes) -> tuple[tuple[int, int], ...]:
    """Attributes of struct dcb_app, which need no padding: selector, priority, protocol."""
    if len(table) % _APP.size:
        raise _cut("the table of applications")
    found = []
    for length, _, selector, priority, protocol in _APP.iter_unpack(table):
        if length != _APP.size:
            raise _cut("an application")
        if selector == DSCP:
            found.append((protocol, priority))
    return tuple(sorted(found))


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Types without their flags, and payloads."""
    offset, end = 0, len(data)
    while offset < end:
        if end - offset < 4:
            raise _cut("an attribute")
        length, name = _ATTRIBUTE.unpack_from(data, offset)
        if length < 4 or offset + length > end:
            raise _cut("an attribute")
        yield name & 0x3FFF, data[offset + 4 : offset + length]
        offset += length + (-length % 4)


def _bytes(value: bytes, size: int, what: str) -> bytes:
    if len(value) < size:
        raise _cut(what)
    return value


def _cut(what: str) -> ParseError:
    return ParseError(f"{what} is cut", f"{TOOL}:1")
