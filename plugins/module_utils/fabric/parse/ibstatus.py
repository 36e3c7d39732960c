# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ibstatus`` (rdma-core infiniband-diags/scripts/ibstatus): the values of sysfs, one block a port."""

from __future__ import annotations

import re
from typing import Any

from ..errors import ParseError
from ..model.facts import RdmaDevice, RdmaPort
from . import sysfs
from .text import is_cut, numbered, soft_name, wrong

TOOL = "ibstatus"
_HEAD = re.compile(r"Infiniband device '([^']+)' port (\d{1,3}) status:")
_LIDS = {"base lid": "lid", "sm lid": "sm_lid"}
_FIELD = re.compile(r"\s+([a-z_][a-z_ ]*):\s*(.*)")


def parse(text: str) -> tuple[RdmaDevice, ...]:
    """Devices with ports. A block without its header is a device named ``''`` with port 0: nobody knows whose it is.

    The default GID is not taken: it is entry 0 of the GID table, without its type.
    """
    blocks: list[tuple[str, dict[str, Any]]] = []
    for number, line in numbered(text):
        head, pair = _HEAD.fullmatch(line), _FIELD.fullmatch(line)
        if head:
            if any((name, told["number"]) == (head.group(1), int(head.group(2))) for name, told in blocks):
                raise wrong(TOOL, number, line, "a port that is there twice")
            blocks.append((head.group(1), {"number": int(head.group(2))}))
        elif pair:
            if pair.group(1) in _LIDS and is_cut(text, number):
                continue
            if not blocks:
                blocks.append(("", {"number": 0}))
            _take(blocks[-1][1], pair.group(1), pair.group(2), number, line)
        else:
            raise wrong(TOOL, number, line, "no line that ibstatus is known to print")
    ports: dict[str, list[RdmaPort]] = {}
    for name, values in blocks:
        ports.setdefault(name, []).append(RdmaPort(**values))
    return tuple(RdmaDevice(name, soft=soft_name(name), ports=tuple(found)) for name, found in ports.items())


def _take(port: dict[str, Any], key: str, value: str, number: int, line: str) -> None:
    if key == "state" and "state" in port:
        raise wrong(TOOL, number, line, "a second port without its header")
    if key == "phys state" and "physical_state" in port:
        raise wrong(TOOL, number, line, "a physical state that is there twice")
    try:
        if key == "state":
            port["state"] = sysfs.state(value)
        elif key == "phys state":
            port["physical_state"] = sysfs.physical_state(value)
        elif key == "rate":
            port["rate_gbps"], port["lanes"] = sysfs.rate(value)
        elif key == "link_layer":
            port["link_layer"] = sysfs.link_layer(value)
        elif key in _LIDS:
            port[_LIDS[key]] = sysfs.lid(value)
    except ParseError as error:
        raise wrong(TOOL, number, line, error.message) from None
