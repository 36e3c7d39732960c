# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``rdma dev show``, as JSON and as text: ``0: mlx5_0: node_type ca fw 28.39 node_guid … sys_image_guid …``."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional

from ..model.facts import RdmaDevice
from ..records import dataclass
from .text import guid, numbered, pairs, parse_json, soft_name, wrong

TOOL = "rdma dev"
_HEAD = re.compile(r"\d+: ([^\s:]+): +(\S.*)")


@dataclass(frozen=True)
class Device:
    """One line; ``kind`` is ``smi`` for a management child of ``parent``, which is no HCA of its own."""

    device: RdmaDevice
    protocol: Optional[str] = None
    kind: Optional[str] = None
    parent: Optional[str] = None


def parse(text: str) -> tuple[Device, ...]:
    """Devices with firmware and GUIDs. Further key and value pairs are ignored."""
    if text.lstrip().startswith("["):
        return _from_json(text)
    found: list[Device] = []
    for number, line in numbered(text):
        if line.startswith(" ") and line.split()[0].startswith("caps:"):
            continue
        head = _HEAD.fullmatch(line)
        if head is None:
            raise wrong(TOOL, number, line, "no line of the form 'N: DEVICE: key value …'")
        told = pairs(TOOL, number, line, head.group(2).split())
        found.append(_new(found, _device(head.group(1), told, number, line), number, line))
    return tuple(found)


def _from_json(text: str) -> tuple[Device, ...]:
    found: list[Device] = []
    for number, entry in enumerate(parse_json(TOOL, text), 1):
        if not isinstance(entry, dict):
            raise wrong(TOOL, number, str(entry), "an entry is no mapping")
        if entry:  # iproute2 prints an empty object for a device that vanished meanwhile
            device = _device(str(entry.get("ifname") or ""), entry, number, str(entry))
            found.append(_new(found, device, number, str(entry)))
    return tuple(found)


def _new(found: list[Device], device: Device, number: int, line: str) -> Device:
    if any(other.device.name == device.device.name for other in found):
        raise wrong(TOOL, number, line, "a device that is there twice")
    return device


def _device(name: str, told: Mapping[str, Any], number: int, line: str) -> Device:
    if not name or "node_type" not in told:
        raise wrong(TOOL, number, line, "a device without a name or 'node_type'")

    def text(key: str) -> Optional[str]:
        value = told.get(key)
        return str(value) if value not in (None, "") else None

    for key in ("node_guid", "sys_image_guid"):
        value = text(key)
        if value and guid(value) is None and value.strip("0:"):
            raise wrong(TOOL, number, line, f"{key} is no GUID")
    device = RdmaDevice(
        name,
        node_guid=guid(text("node_guid") or ""),
        sys_image_guid=guid(text("sys_image_guid") or ""),
        firmware=text("fw"),
        soft=soft_name(name),
    )
    return Device(device, text("protocol"), text("type"), text("parent"))
