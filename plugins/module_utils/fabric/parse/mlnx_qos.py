# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``mlnx_qos -i X`` of NVIDIA's mlnx-tools (Mellanox/mlnx-tools python/mlnx_qos, pretty_print())."""

from __future__ import annotations

import re
from typing import Any, Optional

from ..errors import ParseError
from ..model.facts import QosState
from .text import numbered, wrong

TOOL = "mlnx_qos"
_LLDPAD = "WARNING: lldpad service is running"
_OWNERS = {"OS controlled": ("host",), "Firmware controlled": ()}
_SCRIPT = re.compile(r"=+ show configuration for device .*=")
_DSCPS = re.compile(r"prio:([0-7]) dscp:((?:[0-9]{2},)+)")
_BUFFERS = re.compile(r"((?:[0-9]{1,10},){8})(?:(?:max_buffer_size|total_size)=([0-9]{1,10}))?")
_ROW = re.compile(r"(priority|enabled|buffer)((?: +[0-9]){8})")
_CLASS = re.compile(
    r"tc: ([0-7]) ratelimit: (?:unlimited|[0-9.]+ Gbps), tsa: (ets|strict|vendor)(?:, bw: ([0-9]{1,3})%)?"
)
_PRIORITY = re.compile(r"priority: +([0-7])")
_DEFAULT = "default priority:"
_OF_OTHERS = re.compile(r"prio:[0-7]")  # of packets that no DSCP speaks for
_LACKS = ("Buffers commands are not supported on your system", "Priority trust state is not supported on your system")


def parse(text: str, netdev: str = "") -> QosState:
    """What it shows of one netdev. Site scripts print a part of it, and what is not there is ``None``.

    A class without priorities is not listed: its algorithm is ``""``. Of DCBX, ``host`` is all that can be told.

    :raises ParseError: also for a part that is cut.
    """
    reader = _Output(netdev)
    for number, line in numbered(text):
        reader.take(number, line)
    return reader.state()


def lldpad_runs(text: str) -> bool:
    """Whether the output warns of it: lldpad may overwrite what is set."""
    return _LLDPAD in text


class _Output:
    def __init__(self, netdev: str) -> None:
        self.found: dict[str, Any] = {"netdev": netdev}
        self.dscps: Optional[list[tuple[int, int]]] = None
        self.rows: Optional[dict[str, tuple[int, ...]]] = None
        self.classes: dict[int, tuple[str, int]] = {}
        self.priorities: dict[int, int] = {}
        self.current: Optional[int] = None
        self.section = ""

    def take(self, number: int, line: str) -> None:
        words = line.strip()
        for match, handle in _LINES:
            found = match.fullmatch(words)
            if found is not None:
                handle(self, found, wrong(TOOL, number, line, "a part that is there twice, or out of its place"))
                return
        if _LLDPAD in words or words in _LACKS or _SCRIPT.fullmatch(words):
            return
        if self.section == _DEFAULT and _OF_OTHERS.fullmatch(words):
            return
        raise wrong(TOOL, number, line, "a line that is not known here")

    def once(self, key: str, value: Any, error: ParseError) -> None:
        if key in self.found:
            raise error
        self.found[key] = value
        self.section = key

    def owner(self, match: re.Match[str], error: ParseError) -> None:
        self.once("dcbx", _OWNERS[match[1]], error)

    def trust(self, match: re.Match[str], error: ParseError) -> None:
        self.once("trust", None if match[1] == "none" else match[1], error)

    def mapping(self, match: re.Match[str], error: ParseError) -> None:
        if self.dscps is not None:
            raise error
        self.dscps, self.section = [], "dscps"

    def dscp(self, match: re.Match[str], error: ParseError) -> None:
        if self.dscps is None or self.section != "dscps":
            raise error
        listed = [int(dscp) for dscp in match[2].split(",") if dscp]
        if max(listed) > 63 or {dscp for dscp, _ in self.dscps} & set(listed) or len(set(listed)) < len(listed):
            raise ParseError("a DSCP that is there twice, or is none", error.place, error.value)
        self.dscps += [(dscp, int(match[1])) for dscp in listed]

    def default(self, match: re.Match[str], error: ParseError) -> None:
        self.section = _DEFAULT

    def buffers(self, match: re.Match[str], error: ParseError) -> None:
        parts = _BUFFERS.fullmatch(match[1])
        if parts is None:
            raise ParseError("eight sizes are expected", error.place, error.value)
        self.once("buffer_size", tuple(int(size) for size in parts[1].split(",")[:8]), error)
        self.found["buffer_total"] = int(parts[2]) if parts[2] else None

    def cable(self, match: re.Match[str], error: ParseError) -> None:
        self.once("cable_length_m", int(match[1]) or None, error)

    def configuration(self, match: re.Match[str], error: ParseError) -> None:
        if self.rows is not None:
            raise error
        self.rows, self.section = {}, "rows"

    def row(self, match: re.Match[str], error: ParseError) -> None:
        values = tuple(int(value) for value in match[2].split())
        if self.rows is None or self.section != "rows" or match[1] in self.rows:
            raise error
        if (match[1] == "priority") != (values == tuple(range(8))) or (match[1] == "enabled" and max(values) > 1):
            raise error
        self.rows[match[1]] = values

    def traffic_class(self, match: re.Match[str], error: ParseError) -> None:
        number = int(match[1])
        if number in self.classes or (match[2] == "ets") != bool(match[3]):
            raise error
        self.classes[number] = (match[2], int(match[3] or 0))
        self.current, self.section = number, "classes"

    def priority(self, match: re.Match[str], error: ParseError) -> None:
        if self.current is None or self.section != "classes" or int(match[1]) in self.priorities:
            raise error
        self.priorities[int(match[1])] = self.current

    def state(self) -> QosState:
        """All of it.

        :raises ParseError: for parts that are cut, or none at all.
        """
        found = self.found
        if self.dscps is not None:
            if not self.dscps:
                raise ParseError("the mapping of DSCPs is cut", f"{TOOL}:1")
            found["dscp_prio"] = tuple(sorted(self.dscps))
        if self.rows is not None:
            if not {"priority", "enabled"} <= set(self.rows):
                raise ParseError("the configuration of PFC is cut", f"{TOOL}:1")
            found["pfc"] = tuple(priority for priority, on in enumerate(self.rows["enabled"]) if on)
            found["prio_buffer"] = self.rows.get("buffer")
        if self.classes:
            if set(self.priorities) != set(range(8)):
                raise ParseError("not every priority has a traffic class: the output is cut", f"{TOOL}:1")
            found["prio_tc"] = tuple(self.priorities[priority] for priority in range(8))
            found["tsa"] = tuple(self.classes.get(tc, ("", 0))[0] for tc in range(8))
            found["share"] = tuple(self.classes.get(tc, ("", 0))[1] for tc in range(8))
        if len(found) == 1:
            raise ParseError("no settings of a netdev", f"{TOOL}:1")
        return QosState(**found)


_LINES = (
    (re.compile(r"DCBX mode: (OS controlled|Firmware controlled)"), _Output.owner),
    (re.compile(r"Priority trust state: (dscp|pcp|none)"), _Output.trust),
    (re.compile(r"dscp2prio mapping:"), _Output.mapping),
    (_DSCPS, _Output.dscp),
    (re.compile(_DEFAULT), _Output.default),
    (re.compile(r"Receive buffer size \(bytes\): (\S+)"), _Output.buffers),
    (re.compile(r"Cable len: ([0-9]{1,5})"), _Output.cable),
    (re.compile(r"PFC configuration:"), _Output.configuration),
    (_ROW, _Output.row),
    (_CLASS, _Output.traffic_class),
    (_PRIORITY, _Output.priority),
)
