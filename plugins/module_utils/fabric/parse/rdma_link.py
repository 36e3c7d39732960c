# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``rdma link show``, as JSON (``-j``) and as text of every iproute2 that was seen.

Text lines are ``link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0``; OFED's iproute2 puts a colon after the
port, and old ones print ``8/1: mlx5_0/1: state …`` instead of the word ``link``.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional

from ..errors import ParseError
from ..model.facts import RdmaDevice, RdmaPort
from .text import STATES, lid, numbered, pairs, parse_json, soft_name, whole_number, wrong

TOOL = "rdma link"
# iproute2 rdma/link.c, phys_state_to_str(), beside the kernel's words for the same numbers.
_PHYSICAL = {
    "SLEEP": "Sleep",
    "POLLING": "Polling",
    "DISABLED": "Disabled",
    "ARMED": "PortConfigurationTraining",
    "LINK_UP": "LinkUp",
    "LINK_ERROR_RECOVER": "LinkErrorRecovery",
    "PHY_TEST": "Phy Test",
}
# Compiled when it is used: a health check reads JSON.
_HEAD = r"(?:link|\d+/\d+:) +([^\s/]+)/(\d{1,3}):? +(\S.*)"


def parse(text: str) -> tuple[RdmaDevice, ...]:
    """Devices with their ports: state, physical state, netdev, and LIDs where the link is InfiniBand."""
    if text.lstrip().startswith("["):
        return _from_json(text)
    rows = []
    for number, line in numbered(text):
        if line.startswith(" ") and line.split()[0].startswith("caps:"):
            continue
        head = re.fullmatch(_HEAD, line)
        if head is None:
            raise wrong(TOOL, number, line, "no line of the form 'link DEVICE/PORT state …'")
        told = pairs(TOOL, number, line, head.group(3).split())
        rows.append((head.group(1), _port(int(head.group(2)), told, number, line)))
    return _devices(rows)


def _from_json(text: str) -> tuple[RdmaDevice, ...]:
    rows = []
    for number, entry in enumerate(parse_json(TOOL, text), 1):
        if not isinstance(entry, dict):
            raise wrong(TOOL, number, str(entry), "an entry is no mapping")
        if not entry:  # iproute2 prints an empty object for a link that vanished meanwhile
            continue
        name, port = entry.get("ifname"), entry.get("port")
        if not isinstance(name, str) or not name or type(port) is not int:
            raise wrong(TOOL, number, str(entry), "an entry without 'ifname' and 'port'")
        rows.append((name.partition("/")[0], _port(port, entry, number, str(entry))))
    return _devices(rows)


def _port(port: int, told: Mapping[str, Any], number: int, line: str) -> RdmaPort:
    state, physical = told.get("state"), told.get("physical_state")
    if state not in STATES.values():
        raise wrong(TOOL, number, line, "no known port state")
    if not isinstance(physical, str) or physical not in _PHYSICAL:
        raise wrong(TOOL, number, line, "no known physical state")
    netdev = told.get("netdev")
    if netdev is not None and not isinstance(netdev, str):
        raise wrong(TOOL, number, line, "the netdev is no name")
    return RdmaPort(
        port,
        state=state,
        physical_state=_PHYSICAL[physical],
        netdev=netdev,
        lid=_lid(told.get("lid"), number, line),
        sm_lid=_lid(told.get("sm_lid"), number, line),
    )


def _lid(value: Any, number: int, line: str) -> Optional[int]:
    return None if value is None else lid(whole_number(TOOL, number, line, str(value)))


def _devices(rows: list[tuple[str, RdmaPort]]) -> tuple[RdmaDevice, ...]:
    ports: dict[str, list[RdmaPort]] = {}
    for name, port in rows:
        if any(other.number == port.number for other in ports.setdefault(name, [])):
            raise ParseError("this port is there twice", f"{TOOL}:1", f"{name}/{port.number}")
        ports[name].append(port)
    return tuple(RdmaDevice(name, soft=soft_name(name), ports=tuple(found)) for name, found in ports.items())
