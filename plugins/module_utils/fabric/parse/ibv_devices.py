# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ibv_devices``: a table of names and node GUIDs, which libibverbs may precede by warnings."""

from __future__ import annotations

from ..model.facts import RdmaDevice
from ..records import dataclass
from .text import guid, numbered, soft_name, wrong

TOOL = "ibv_devices"


@dataclass(frozen=True)
class Listing:
    """The devices, and what libibverbs warned of."""

    devices: tuple[RdmaDevice, ...] = ()
    warnings: tuple[str, ...] = ()


def parse(text: str) -> Listing:
    """Names and GUIDs."""
    devices, warnings = [], []
    for number, line in numbered(text):
        words = line.split()
        if line.startswith("libibverbs:"):
            warnings.append(line)
        elif words == ["device", "node", "GUID"] or not line.strip("- \t"):
            continue
        elif len(words) == 2 and guid(words[1]):
            devices.append(RdmaDevice(words[0], node_guid=guid(words[1]), soft=soft_name(words[0])))
        else:
            raise wrong(TOOL, number, line, "no line of the form 'DEVICE GUID'")
    return Listing(tuple(devices), tuple(warnings))
