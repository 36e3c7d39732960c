# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Several tools tell parts of one device; together they tell the device."""

from __future__ import annotations

from typing import Any, Iterable, Sequence, TypeVar

from ..model.facts import RdmaDevice, RdmaPort
from ..records import replace

T = TypeVar("T", RdmaDevice, RdmaPort)


def merge_devices(have: Sequence[RdmaDevice], more: Iterable[RdmaDevice]) -> tuple[RdmaDevice, ...]:
    """``have``, with its gaps filled from ``more``: what is known already is never replaced; new devices come last."""
    merged = {device.name: device for device in have}
    for device in more:
        known = merged.get(device.name)
        merged[device.name] = device if known is None else _merge_device(known, device)
    return tuple(merged.values())


def settle(device: RdmaDevice) -> RdmaDevice:
    """Without the rate of ports that are physically down: drivers keep the last or the highest one there."""
    ports = tuple(
        replace(port, rate_gbps=None, lanes=None) if port.state == "DOWN" and port.physical_state != "LinkUp" else port
        for port in device.ports
    )
    return replace(device, ports=ports)


def _merge_device(known: RdmaDevice, more: RdmaDevice) -> RdmaDevice:
    ports = {port.number: port for port in known.ports}
    for port in more.ports:
        ports[port.number] = _fill(ports[port.number], port) if port.number in ports else port
    merged = _fill(known, more)
    return replace(merged, soft=known.soft or more.soft, ports=tuple(ports[n] for n in sorted(ports)))


def _fill(known: T, more: T) -> T:
    gaps: dict[str, Any] = {}
    for name, value in vars(known).items():
        if value is None or value in ((), {}):
            gaps[name] = getattr(more, name)
    return replace(known, **gaps)
