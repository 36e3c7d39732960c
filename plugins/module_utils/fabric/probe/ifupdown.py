# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""ifupdown's files with all that they include, interfaces(5)."""

from __future__ import annotations

from ..parse import interfaces as parse_interfaces
from ..parse.interfaces import Interfaces
from .collect import Reader
from .owners_sysctl import SUBJECT

BASE = "/etc/network/interfaces"


def interfaces(reader: Reader) -> list[tuple[str, Interfaces]]:
    """Every file that ifup reads, the including one first; names are relative to the folder of the including file.

    What comes up by itself is told for all files: ``auto`` may stand in another one than the stanza.
    """
    found: list[tuple[str, Interfaces]] = []
    todo = [BASE]
    while todo and len(found) < 100:
        path = todo.pop(0)
        if any(path == known for known, _content in found):
            continue
        content = parse_interfaces.parse(reader.text(path, SUBJECT) or "")
        found.append((path, content))
        folder = path.rpartition("/")[0]
        for pattern in content.sources:
            todo += _matching(reader, pattern if pattern.startswith("/") else f"{folder}/{pattern}")
        for name in content.folders:
            place = name if name.startswith("/") else f"{folder}/{name}"
            # Names that are no file of ifupdown's are passed over, as run-parts(8) does.
            todo += [
                f"{place}/{file}"
                for file in reader.names(place, SUBJECT)
                if file.replace("-", "").replace("_", "").isalnum()
            ]
    auto = tuple(netdev for _path, content in found for netdev in content.auto)
    return [(path, Interfaces(content.stanzas, auto)) for path, content in found]


def _matching(reader: Reader, pattern: str) -> list[str]:
    from fnmatch import fnmatchcase  # noqa: PLC0415 - not on every node

    folder, _slash, last = pattern.rpartition("/")
    if not any(letter in "*?[" for letter in last):
        return [pattern]
    return [f"{folder}/{name}" for name in reader.names(folder, SUBJECT) if fnmatchcase(name, last) and name[0] != "."]
