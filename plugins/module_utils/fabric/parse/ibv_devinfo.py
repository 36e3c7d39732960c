# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ibv_devinfo``, with or without ``-v`` (rdma-core libibverbs/examples/devinfo.c), also filtered by a grep."""

from __future__ import annotations

import re
from typing import Any, Callable, Optional

from ..model.facts import Gid, RdmaDevice, RdmaPort
from .text import (
    LINK_LAYERS,
    PHYSICAL_STATES,
    STATES,
    gid,
    guid,
    is_cut,
    is_zero,
    lid,
    numbered,
    soft_name,
    whole_number,
    wrong,
)

TOOL = "ibv_devinfo"
_FIELD = re.compile(r"\s*([A-Za-z_]+(?:\[ *\d+\])?):\s*(.*)")
_CODED = re.compile(r"(.+?) \((\d{1,3})\)")
_SPEED = re.compile(r"(\d{1,4}(?:\.\d)?) Gbps")
_PHYSICAL = {"LINK_UP": 5, "DISABLED": 3, "POLLING": 2, "SLEEP": 1, "PORT_CONFIGURATION_TRAINNING": 4}
_PHYSICAL.update({"LINK_ERROR_RECOVERY": 6, "PHY_TEST": 7})
# enum ibv_mtu, and the widths of ibv_port_attr.active_width (libibverbs/verbs.h, devinfo.c).
_MTU = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
_WIDTH = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
_DEVICE_FIELDS = ("fw_ver", "node_guid", "sys_image_guid", "board_id")
_SOFT_VENDORS = (0, 0xFFFFFF)  # rxe, before and since Linux 5.8 (drivers/infiniband/sw/rxe/rxe_param.h)


class _Port:
    """The fields of one port as they come; no dataclass, whose making costs more than parsing a node's ports."""

    def __init__(self, number: int) -> None:
        self.known: dict[str, Any] = {"number": number}
        self.speed: Optional[float] = None
        self.gids: list[Gid] = []

    def done(self) -> RdmaPort:
        lanes = self.known.get("lanes")
        rate = lanes * self.speed if lanes and self.speed else None
        return RdmaPort(**self.known, rate_gbps=rate, gids=tuple(self.gids))


class _Device:
    """The fields of one device as they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[str, str] = {}
        self.soft = soft_name(name)
        self.ports: list[_Port] = []

    def done(self) -> RdmaDevice:
        return RdmaDevice(
            self.name,
            node_guid=guid(self.values.get("node_guid", "")),
            sys_image_guid=guid(self.values.get("sys_image_guid", "")),
            firmware=self.values.get("fw_ver") or None,
            board_id=self.values.get("board_id") or None,
            soft=self.soft,
            ports=tuple(port.done() for port in self.ports),
        )


def parse(text: str) -> tuple[RdmaDevice, ...]:
    """Devices with firmware, GUIDs and ports. What a text does not tell stays ``None``.

    A port's fields without a ``port:`` line (a grep took it away) are those of port 1; a second set is refused.
    """
    devices: list[_Device] = []
    for number, line in numbered(text):
        match = _FIELD.fullmatch(line)
        if match and match.group(1) == "hca_id":
            if not match.group(2) or any(device.name == match.group(2) for device in devices):
                raise wrong(TOOL, number, line, "a device without a name, or named twice")
            devices.append(_Device(match.group(2)))
        elif not devices:
            if not line.startswith(("libibverbs:", "No IB devices found")):
                raise wrong(TOOL, number, line, "the first device must begin with 'hca_id:'")
        elif match and not (match.group(1) in ("port_lid", "sm_lid") and is_cut(text, number)):
            _take(devices[-1], match.group(1), match.group(2), number, line)
    return tuple(device.done() for device in devices)


def _take(device: _Device, key: str, value: str, number: int, line: str) -> None:
    if key in _DEVICE_FIELDS:
        if key.endswith("guid") and guid(value) is None and value.strip("0:"):
            raise wrong(TOOL, number, line, f"{key} is no GUID")
        device.values[key] = value
    elif key == "vendor_id":
        device.soft = device.soft or whole_number(TOOL, number, line, value, 16) in _SOFT_VENDORS
    elif key == "port":
        port_number = whole_number(TOOL, number, line, value)
        if any(other.known["number"] == port_number for other in device.ports):
            raise wrong(TOOL, number, line, "a port that is there twice: a device without its 'hca_id:' line")
        device.ports.append(_Port(port_number))
    elif key in _PORT_FIELDS or key.startswith("GID["):
        if not device.ports:
            device.ports.append(_Port(1))
        port = device.ports[-1]
        if key == "state" and "state" in port.known:
            raise wrong(TOOL, number, line, "a second port without its 'port:' line")
        if key == "phys_state" and "physical_state" in port.known:
            raise wrong(TOOL, number, line, "a physical state that is there twice")
        if key.startswith("GID["):
            _gid(port, key, value, number, line)
        else:
            _PORT_FIELDS[key](port, value, number, line)


def _coded(value: str, number: int, line: str) -> tuple[str, int]:
    match = _CODED.fullmatch(value)
    if match is None:
        raise wrong(TOOL, number, line, "a value of the form 'NAME (NUMBER)' is expected")
    return match.group(1), int(match.group(2))


def _state(port: _Port, value: str, number: int, line: str) -> None:
    word, code = _coded(value, number, line)
    if STATES.get(code) != word[5:] or not word.startswith("PORT_"):
        raise wrong(TOOL, number, line, "no known port state")
    port.known["state"] = word[5:]


def _physical(port: _Port, value: str, number: int, line: str) -> None:
    word, code = _coded(value, number, line)
    if word.startswith("invalid"):
        return
    if _PHYSICAL.get(word) != code:
        raise wrong(TOOL, number, line, "no known physical state")
    port.known["physical_state"] = PHYSICAL_STATES[code]


def _mtu(value: str, number: int, line: str) -> Optional[int]:
    word, code = _coded(value, number, line)
    if word.startswith("invalid"):
        return None
    if str(_MTU.get(code)) != word:
        raise wrong(TOOL, number, line, "no known MTU")
    return _MTU[code]


def _active_mtu(port: _Port, value: str, number: int, line: str) -> None:
    port.known["active_mtu"] = _mtu(value, number, line)


def _max_mtu(port: _Port, value: str, number: int, line: str) -> None:
    port.known["max_mtu"] = _mtu(value, number, line)


def _lid(port: _Port, value: str, number: int, line: str) -> None:
    port.known["lid"] = lid(whole_number(TOOL, number, line, value))


def _sm_lid(port: _Port, value: str, number: int, line: str) -> None:
    port.known["sm_lid"] = lid(whole_number(TOOL, number, line, value))


def _link_layer(port: _Port, value: str, number: int, line: str) -> None:
    if value not in LINK_LAYERS and value != "Unspecified":
        raise wrong(TOOL, number, line, "no known link layer")
    port.known["link_layer"] = value if value in LINK_LAYERS else None


def _width(port: _Port, value: str, number: int, line: str) -> None:
    word, code = _coded(value, number, line)
    if not word.startswith("invalid"):
        if word != f"{_WIDTH.get(code)}X":
            raise wrong(TOOL, number, line, "no known link width")
        port.known["lanes"] = _WIDTH[code]


def _speed(port: _Port, value: str, number: int, line: str) -> None:
    word, _ = _coded(value, number, line)
    match = _SPEED.fullmatch(word)
    if match is None and not word.startswith("invalid"):
        raise wrong(TOOL, number, line, "no speed of the form '25.0 Gbps'")
    port.speed = float(match.group(1)) if match else None


def _gid(port: _Port, key: str, value: str, number: int, line: str) -> None:
    address, _, kind = value.partition(",")
    full, index = gid(address), key[4:-1].strip()
    if not index.isdecimal() or len(index) > 4 or any(entry.index == int(index) for entry in port.gids):
        raise wrong(TOOL, number, line, "no index of a GID, or one that is there twice")
    if full is None or kind.strip() not in ("", "RoCE v1", "RoCE v2", "IB/RoCE v1"):
        raise wrong(TOOL, number, line, "no GID")
    if not is_zero(full):
        word = {"RoCE v1": "IB/RoCE v1", "": None}.get(kind.strip(), kind.strip())
        port.gids.append(Gid(int(index), full, word))


_PORT_FIELDS: dict[str, Callable[[_Port, str, int, str], None]] = {
    "state": _state,
    "phys_state": _physical,
    "active_mtu": _active_mtu,
    "max_mtu": _max_mtu,
    "port_lid": _lid,
    "sm_lid": _sm_lid,
    "link_layer": _link_layer,
    "active_width": _width,
    "active_speed": _speed,
}
