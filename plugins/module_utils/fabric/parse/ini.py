# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of sections and keys: systemd's units and links (systemd.syntax(7)), and NetworkManager's keyfiles.

Like their readers, this one passes over what is no section and no assignment. A key may come more than once.
"""

from __future__ import annotations

from typing import Optional

Section = tuple[str, tuple[tuple[str, str], ...]]


def parse(text: str) -> tuple[Section, ...]:
    """Sections in their order, each with its assignments; one that comes twice is told twice."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    held = ""
    for raw in text.split("\n"):
        line = raw.strip()
        if not held and (not line or line[0] in "#;"):
            continue
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        line, held = held + line, ""
        if line.startswith("[") and line.endswith("]"):
            found.append((line[1:-1], []))
            continue
        key, equals, value = line.partition("=")
        if found and equals:
            found[-1][1].append((key.strip(), value.strip()))
    return tuple((name, tuple(items)) for name, items in found)


def values(sections: tuple[Section, ...], section: str, key: str) -> tuple[str, ...]:
    """All values of a key over all sections of this name; an empty assignment forgets those before it."""
    found: list[str] = []
    for name, items in sections:
        if name == section:
            for this, value in items:
                if this == key:
                    found = [*found, value] if value else []
    return tuple(found)


def value(sections: tuple[Section, ...], section: str, *keys: str) -> Optional[str]:
    """The last value of the first of ``keys`` that has one."""
    return next((found[-1] for key in keys if (found := values(sections, section, key))), None)
