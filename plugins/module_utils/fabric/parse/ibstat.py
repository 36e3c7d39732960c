# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ibstat`` (rdma-core infiniband-diags/ibstat.c)."""

from __future__ import annotations

import re
from typing import Any, Sequence

from ..model.facts import RdmaDevice, RdmaPort
from .text import LINK_LAYERS, PHYSICAL_STATES, guid, is_cut, lid, numbered, soft_name, whole_number, wrong

TOOL = "ibstat"
_CA = re.compile(r"CA '([^']+)'")
_PORT = re.compile(r"\s+Port (\d{1,3}):")
_FIELD = re.compile(r"\s+([A-Za-z][A-Za-z ]*): *(.*)")
_STATES = {"Down": "DOWN", "Initializing": "INIT", "Armed": "ARMED", "Active": "ACTIVE"}
_PHYSICAL = {word.replace(" ", ""): word for word in PHYSICAL_STATES.values()}
_LIDS = {"Base lid": "lid", "SM lid": "sm_lid"}
_RATE = re.compile(r"(\d{1,6}(?:\.\d)?)(?: \(FDR10\))?")


def parse(text: str) -> tuple[RdmaDevice, ...]:
    """Devices with firmware, GUIDs and ports.

    The rate is what the tool prints, which for a port that is down is a leftover.
    """
    devices: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for number, line in numbered(text):
        if line.startswith(("ibwarn:", "----")):  # debugging output; what collecting scripts put between devices
            continue
        ca, port, pair = _CA.fullmatch(line), _PORT.fullmatch(line), _FIELD.fullmatch(line)
        if ca:
            if any(device["name"] == ca.group(1) for device, _ports in devices):
                raise wrong(TOOL, number, line, "a device that is there twice")
            devices.append(({"name": ca.group(1), "soft": soft_name(ca.group(1))}, []))
        elif devices and port:
            if any(other["number"] == int(port.group(1)) for other in devices[-1][1]):
                raise wrong(TOOL, number, line, "a port that is there twice: a device without its 'CA' line")
            devices[-1][1].append({"number": int(port.group(1))})
        elif devices and pair:
            device, ports = devices[-1]
            if pair.group(1) in _LIDS and is_cut(text, number):
                continue
            if ports:
                _take_port(ports[-1], pair.groups(), number, line)
            else:
                _take_device(device, pair.groups(), number, line)
        else:
            raise wrong(TOOL, number, line, "no line that ibstat is known to print")
    return tuple(RdmaDevice(**device, ports=tuple(RdmaPort(**port) for port in ports)) for device, ports in devices)


def _take_device(device: dict[str, Any], pair: Sequence[str], number: int, line: str) -> None:
    key, value = pair
    names = {"CA type": "hca_type", "Firmware version": "firmware"}
    guids = {"Node GUID": "node_guid", "System image GUID": "sys_image_guid"}
    if key in names:
        device[names[key]] = value or None
    elif key in guids:
        device[guids[key]] = guid(value)
        if device[guids[key]] is None and value.strip("0x"):
            raise wrong(TOOL, number, line, "no GUID")


def _take_port(port: dict[str, Any], pair: Sequence[str], number: int, line: str) -> None:
    key, value = pair
    if key == "State" and "state" in port:
        raise wrong(TOOL, number, line, "a second port without its 'Port N:' line")
    if key in ("State", "Physical state"):
        if key == "Physical state" and "physical_state" in port:
            raise wrong(TOOL, number, line, "a physical state that is there twice")
        known = _STATES if key == "State" else _PHYSICAL
        if value not in known:
            raise wrong(TOOL, number, line, f"{key} is none of {', '.join(known)}")
        port["state" if key == "State" else "physical_state"] = known[value]
    elif key == "Rate":
        match = _RATE.fullmatch(value)
        if match is None:
            raise wrong(TOOL, number, line, "no rate in Gbit/s")
        port["rate_gbps"] = float(match.group(1))
    elif key in _LIDS:
        port[_LIDS[key]] = lid(whole_number(TOOL, number, line, value))
    elif key == "Link layer":
        if value not in LINK_LAYERS:
            raise wrong(TOOL, number, line, "no known link layer")
        port["link_layer"] = value
