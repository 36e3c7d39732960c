# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What the driver that a netdev really has can do; the hardware profile need not name it, and may name another."""

from __future__ import annotations

from ..errors import RefusedError
from ..resolve.drivers import CONTIGUOUS, ICE_CLASSES
from .qos_providers import RailPort


def suit_driver(port: RailPort, notes: list[str]) -> None:
    """Nothing, when the driver can have what the rail wants; ``notes`` gets what it leaves out.

    :raises RefusedError: for what the driver cannot have. The limits are those of ``resolve/drivers.py``.
    """
    driver, name, qos = port.netdev.driver, port.netdev.name, port.qos
    if driver not in CONTIGUOUS:
        return
    if driver == "ice":
        _check_ice(port)
    if qos.dcqcn:
        notes.append(
            f"{port.rail}: the fabric's dcqcn ({', '.join(qos.dcqcn)}) is left out on {name}: its driver is {driver}, "
            "and these are parameters of NVIDIA's NICs"
        )


def _check_ice(port: RailPort) -> None:
    nic = f"{port.netdev.name} is an Intel E810 (driver ice), which has"
    place = f"rail {port.rail}"
    if len(port.qos.pfc) > 1:
        raise RefusedError(
            f"{nic} one lossless class at most", place, str(list(port.qos.pfc)), "Name one priority in qos.pfc"
        )
    numbers = sorted(entry.tc for entry in port.qos.traffic_classes)
    remedy = "Write driver: ice into the rail's hardware profile, and leave traffic_classes out of the fabric's qos"
    if numbers != list(range(len(numbers))):
        raise RefusedError(f"{nic} traffic classes without gaps, from 0", place, str(numbers), remedy)
    if len(numbers) > ICE_CLASSES:
        raise RefusedError(f"{nic} {ICE_CLASSES} traffic classes at most", place, str(len(numbers)), remedy)
