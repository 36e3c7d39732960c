# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""PCI functions of the network class, and of accelerators where details are wanted."""

from __future__ import annotations

from typing import Callable, Optional, TypeVar

from ..errors import ReadError
from ..model.facts import Pci
from ..parse import sysfs
from .collect import Reader

T = TypeVar("T")
_BUS = "/sys/bus/pci/devices"
# PCI class codes (PCI Code and ID Assignment Specification): 02 network; 0302 3D controller, 0380 other display,
# 12 processing accelerator. Class 0300 (VGA) counts only for makers of accelerators: every server has a console VGA.
_NETWORK = "0x02"
_ACCELERATORS = ("0x0302", "0x0380", "0x12")
_VGA, _GPU_VENDORS = "0x0300", ("0x10de", "0x1002")


def pci(reader: Reader, accelerators: bool) -> tuple[Optional[tuple[Pci, ...]], Optional[tuple[Pci, ...]]]:
    """Network functions, and accelerators (``None`` unless asked for); a machine without PCI has none."""
    try:
        addresses = reader.port.listdir(_BUS)
    except ReadError as error:
        if reader.port.exists("/sys/bus") and not reader.port.exists("/sys/bus/pci"):
            return (), () if accelerators else None
        reader.note(error, "pci")
        return None, None
    network, gpus = [], []
    for address in addresses:
        kind = reader.text(f"{_BUS}/{address}/class", address) or ""
        if kind.startswith(_NETWORK):
            network.append(_function(reader, address))
        elif accelerators and kind.startswith((*_ACCELERATORS, _VGA)):
            function = _function(reader, address)
            if not kind.startswith(_VGA) or function.vendor in _GPU_VENDORS:
                gpus.append(function)
    return tuple(network), tuple(gpus) if accelerators else None


def _function(reader: Reader, address: str) -> Pci:
    folder = f"{_BUS}/{address}"
    vendor, device = (reader.text(f"{folder}/{name}", address) or "" for name in ("vendor", "device"))
    real = reader.attempt(address, lambda: reader.port.realpath(folder))
    if real is None:
        return Pci(address, vendor, device)
    place = reader.place(real)

    def link(name: str, parse: Callable[[str], Optional[T]]) -> Optional[T]:
        if not express:
            return None
        return reader.value(f"{real}/{name}", parse, address)

    # A function that a hypervisor made up may have no PCI Express link.
    express = reader.port.exists(f"{real}/current_link_width")
    return Pci(
        address,
        vendor,
        device,
        place.driver,
        place.slot,
        place.numa,
        place.path,
        speed_gts=link("current_link_speed", sysfs.link_speed),
        width=link("current_link_width", sysfs.link_width),
        max_speed_gts=link("max_link_speed", sysfs.link_speed),
        max_width=link("max_link_width", sysfs.link_width),
    )
