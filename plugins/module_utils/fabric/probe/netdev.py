# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Netdevs: what only sysfs knows of the physical ones, beside what ip told."""

from __future__ import annotations

from typing import Optional, Sequence

from ..errors import ReadError
from ..model.facts import Netdev
from ..parse import ip_address
from ..records import replace
from .collect import Reader

_CLASS = "/sys/class/net"


def netdevs(reader: Reader, listed: Sequence[Netdev], detail: bool) -> tuple[Netdev, ...]:
    """All netdevs but the loopback, completed.

    ``detail`` asks ethtool for the firmware of each netdev that has a driver: a process per netdev.
    """
    return tuple(
        _physical(reader, netdev, detail) if netdev.kind in ip_address.HARDWARE else netdev for netdev in listed
    )


def _physical(reader: Reader, netdev: Netdev, detail: bool) -> Netdev:
    try:
        real = reader.port.realpath(f"{_CLASS}/{netdev.name}")
    except ReadError:
        return netdev  # gone since ip listed it, or in no class of this recording
    device, net, _ = real.rpartition("/net/")
    if not net or device.startswith("/sys/devices/virtual"):
        return netdev
    place = reader.place(device)
    return replace(
        netdev,
        speed_mbps=_speed(reader, netdev) if netdev.carrier else None,
        driver=place.driver,
        firmware=_firmware(reader, netdev.name) if detail and place.driver else None,
        pci=place.address,
        pcie_path=place.path,
        numa=place.numa,
        slot=place.slot,
    )


def _speed(reader: Reader, netdev: Netdev) -> Optional[int]:
    try:
        text = reader.port.read(f"{_CLASS}/{netdev.name}/speed").strip()
    except ReadError:  # EINVAL: the driver does not know it
        return None
    # A driver that does not know says -1 (SPEED_UNKNOWN), as a signed or an unsigned number.
    return int(text) if text.isdecimal() and 0 < int(text) < 0x7FFFFFFF else None


def _firmware(reader: Reader, name: str) -> Optional[str]:
    from ..parse import ethtool_i  # noqa: PLC0415 - for details only

    told = reader.tool(("ethtool", "-i", name), ethtool_i.parse, name)
    return told[0].firmware if told else None
