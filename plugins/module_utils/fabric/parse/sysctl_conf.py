# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of kernel parameters: sysctl.d(5), sysctl.conf(5) and what tuned keeps in its profiles."""

from __future__ import annotations

from typing import Optional

Assignment = tuple[str, Optional[str]]
WILDCARDS = "*?["


def parse(text: str) -> tuple[Assignment, ...]:
    """Assignments in their order; a value of ``None`` takes a name out of what patterns match (``-net.ipv4.…``).

    Like its readers, this one passes over a line that is no assignment. A dash before an assignment says only that a
    failure does not matter.
    """
    found: list[Assignment] = []
    for raw in text.split("\n"):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        key, equals, value = line.partition("=")
        dash, key = key.startswith("-"), key.strip().lstrip("-").strip()
        if key and (equals or dash):
            found.append((name(key), value.strip() if equals else None))
    return tuple(found)


def name(key: str) -> str:
    """A key as sysctl(8) names it, with dots between its parts.

    The first separator says which one it is; written with slashes, a dot is a part of a netdev's name.
    """
    first = next((letter for letter in key if letter in "./"), ".")
    return key if first == "." else key.translate({ord("/"): ".", ord("."): "/"})


def fits(pattern: str, key: str) -> bool:
    """Whether a pattern with wildcards matches a name; a wildcard does not reach over a separator (glob(7))."""
    wanted, parts = pattern.split("."), key.split(".")
    return len(wanted) == len(parts) and all(map(_part, wanted, parts))


def _part(pattern: str, part: str) -> bool:
    if pattern in ("*", part):
        return True
    if not any(letter in WILDCARDS for letter in pattern):
        return False
    from fnmatch import fnmatchcase  # noqa: PLC0415 - it compiles a pattern, and nearly all are a plain star

    return fnmatchcase(part, pattern)
