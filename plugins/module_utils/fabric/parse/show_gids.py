# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``show_gids`` of OFED: one line a GID, where the columns IPv4 and DEV (netdev) may be empty."""

from __future__ import annotations

import re

from ..model.facts import Gid, RdmaDevice, RdmaPort
from .text import gid, is_zero, numbered, soft_name, wrong

TOOL = "show_gids"
_KINDS = {"v1": "IB/RoCE v1", "v2": "RoCE v2"}
_IPV4 = re.compile(r"\d{1,3}(\.\d{1,3}){3}")


def parse(text: str) -> tuple[RdmaDevice, ...]:
    """Devices with ports and GIDs. The trailer's count, where there is one, must fit: a cut table is refused."""
    found: dict[str, dict[int, list[Gid]]] = {}
    seen: set[tuple[str, int, int]] = set()
    rows = 0
    for number, line in numbered(text):
        words = line.split()
        if line.startswith(("DEV", "---")):
            continue
        if line.startswith("n_gids_found="):
            if line != f"n_gids_found={rows}":
                raise wrong(TOOL, number, line, f"{rows} GIDs are listed")
            continue
        if len(words) < 5 or not (words[1] + words[2]).isdecimal() or len(words[1] + words[2]) > 6:
            raise wrong(TOOL, number, line, "no line of the form 'DEV PORT INDEX GID [IPv4] VER [DEV]'")
        full = gid(words[3])
        rest = words[5:] if _IPV4.fullmatch(words[4]) else words[4:]
        if full is None or not 1 <= len(rest) <= 2 or rest[0] not in _KINDS:
            raise wrong(TOOL, number, line, "no GID, or no version v1 or v2 after it")
        # An IPv4 address as a GID: RFC 4291, 2.5.5.2.
        if len(rest) < len(words[4:]) and full != gid(f"::ffff:{words[4]}"):
            raise wrong(TOOL, number, line, "the IPv4 address is not that of the GID")
        place = (words[0], int(words[1]), int(words[2]))
        if place in seen:
            raise wrong(TOOL, number, line, "a GID index that is there twice")
        seen.add(place)
        rows += 1
        entries = found.setdefault(words[0], {}).setdefault(int(words[1]), [])
        if not is_zero(full):
            entries.append(Gid(int(words[2]), full, _KINDS[rest[0]], rest[1] if len(rest) == 2 else None))
    return tuple(
        RdmaDevice(
            name,
            soft=soft_name(name),
            ports=tuple(RdmaPort(port, gids=tuple(gids)) for port, gids in ports.items()),
        )
        for name, ports in found.items()
    )
