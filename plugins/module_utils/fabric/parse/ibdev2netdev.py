# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ibdev2netdev`` of OFED: ``mlx5_0 port 1 ==> eth0 (Up)``. The word is the netdev's state, not the port's."""

from __future__ import annotations

import re

from ..records import dataclass
from .text import numbered, wrong

TOOL = "ibdev2netdev"
_LINE = re.compile(r"(\S+) port (\d{1,3}) ==> (\S+) \((Up|Down)\)")


@dataclass(frozen=True)
class Binding:
    """A port of an RDMA device and its netdev."""

    device: str
    port: int
    netdev: str
    up: bool


def parse(text: str) -> tuple[Binding, ...]:
    """One binding a line, in the tool's order."""
    found: list[Binding] = []
    for number, line in numbered(text):
        match = _LINE.fullmatch(line)
        if match is None:
            raise wrong(TOOL, number, line, "no line of the form 'DEVICE port N ==> NETDEV (Up)'")
        binding = Binding(match.group(1), int(match.group(2)), match.group(3), match.group(4) == "Up")
        key = (binding.device, binding.port, binding.netdev)
        if any((other.device, other.port, other.netdev) == key for other in found):
            raise wrong(TOOL, number, line, "a binding that is there twice")
        found.append(binding)
    return tuple(found)
