# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``niccli --listdev`` of Broadcom: its own numbers of NICs, which follow neither PCI nor netdevs' names."""

from __future__ import annotations

import re
from typing import Optional

from ..errors import ParseError
from ..records import dataclass
from .text import numbered, wrong

TOOL = "niccli"
_HEAD = re.compile(r"([0-9]{1,3}) ?\) ?(\S.*)")
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")


@dataclass(frozen=True)
class Device:
    """A NIC port by niccli's number; PCI address and MAC are in lower case."""

    number: int
    model: str
    netdev: str
    mac: str
    pci: str


def parse(text: str) -> tuple[Device, ...]:
    """All devices, in niccli's order."""
    found: list[Device] = []
    head: Optional[tuple[int, str]] = None
    told: dict[str, str] = {}
    for number, line in numbered(text):
        start = _HEAD.fullmatch(line.strip())
        if start is not None:
            if head is not None:
                found.append(_device(head, told))
            head, told = (int(start[1]), start[2]), {}
            continue
        key, colon, value = line.partition(" : ")
        if head is None or not colon or key.strip() in told:
            raise wrong(TOOL, number, line, "no line of the form 'KEY : VALUE' below a device")
        told[key.strip()] = value.strip()
    if head is None:
        raise ParseError("no device", f"{TOOL}:1", text.strip()[:80])
    found.append(_device(head, told))
    if len({device.pci for device in found}) != len(found):
        raise ParseError("a PCI address that is there twice", f"{TOOL}:1")
    return tuple(found)


def _device(head: tuple[int, str], told: dict[str, str]) -> Device:
    netdev = told.get("Device Interface Name", "")
    mac = told.get("MAC Address", "").lower()
    pci = told.get("PCI Address", "").lower()
    if not netdev or not _MAC.fullmatch(mac) or not _PCI.fullmatch(pci):
        raise ParseError(f"name, MAC or PCI address of device {head[0]} is lacking", f"{TOOL}:1", head[1][:80])
    return Device(head[0], head[1], netdev, mac, pci)
