# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain data as YAML: mappings, lists, text, whole numbers. Any reader of YAML 1.1 or 1.2 reads the same back."""

from __future__ import annotations

import json
import re
from typing import Any

# Nothing that a reader may take for another type: no digits in front, none of YAML 1.1's words for true, false, null.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/-]*")
_WORDS = re.compile(r"(?i)y|n|yes|no|on|off|true|false|null")
_WIDTH = 100


def dump(value: Any) -> str:
    """One document; a mapping of few scalars stands on one line."""
    return "\n".join(["---", *_lines(value)]) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        lines = []
        for key, entry in value.items():
            lines.extend(_below(f"{_scalar(str(key))}:", entry))
        return lines
    if isinstance(value, list) and value:
        lines = []
        for entry in value:
            first, *rest = _lines(entry)
            lines += [f"- {first}", *(f"  {line}" for line in rest)]
        return lines
    return [_flow(value)]


def _below(head: str, entry: Any) -> list[str]:
    flat = not isinstance(entry, (dict, list)) or all(
        not isinstance(item, (dict, list)) for item in (entry.values() if isinstance(entry, dict) else entry)
    )
    if flat and len(head) + len(_flow(entry)) < _WIDTH:
        return [f"{head} {_flow(entry)}"]
    return [head, *(f"  {line}" for line in _lines(entry))]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(entry) for entry in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and not _WORDS.fullmatch(value):
        return value
    return '"' + "".join(_escaped(letter) for letter in value) + '"'


def _escaped(letter: str) -> str:
    """JSON's escapes are YAML's, but for the pairs by which JSON writes letters above U+FFFF."""
    return f"\\U{ord(letter):08x}" if ord(letter) > 0xFFFF else json.dumps(letter)[1:-1]
