# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the intent document: which settings of the node change with it, in words."""

from __future__ import annotations

import json
from typing import Any, Optional

from ..model.codec import encode
from ..model.document import PATH, dump
from ..model.intent import NodeIntent
from ..model.plan import Plan, Step, WriteFile

_NEVER = object()


def plan_intent(intent: NodeIntent, have: Optional[str]) -> Plan:
    """Steps that make the document hold ``intent``; ``have`` is its text now. Only the first step carries the write."""
    text = dump(intent)
    if text == have:
        return Plan("intent")
    write = (WriteFile(PATH, text),)
    if have is None:
        words = f"spec {intent.spec_name}, {len(intent.rails)} rails"
        return Plan("intent", (Step("intent", PATH, "", words, write),))
    try:
        old = _flatten(json.loads(have))
    except ValueError:
        return Plan("intent", (Step("intent", PATH, "damaged", f"spec {intent.spec_name}", write),))
    new = _flatten(encode(intent))
    steps: list[Step] = []
    for subject, setting in sorted({*old, *new}):
        before, after = old.get((subject, setting), _NEVER), new.get((subject, setting), _NEVER)
        if before != after:
            steps.append(Step(subject, setting, _words(before), _words(after), () if steps else write))
    return Plan("intent", tuple(steps) or (Step("intent", PATH, "another layout", "as this version writes it", write),))


def _flatten(data: Any) -> dict[tuple[str, str], Any]:
    """Leaves of a document by (subject, setting): a rail's settings under the rail's name, the rest under ``node``."""
    flat: dict[tuple[str, str], Any] = {}
    if not isinstance(data, dict):
        return flat
    for key, value in data.items():
        if key == "rails" and isinstance(value, list):
            for number, rail in enumerate(value):
                name = str(rail.get("name", number)) if isinstance(rail, dict) else str(number)
                _leaves(rail, name, "", flat)
        else:
            _leaves(value, "node", key, flat)
    return flat


def _leaves(value: Any, subject: str, place: str, flat: dict[tuple[str, str], Any]) -> None:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            _leaves(item, subject, f"{place}.{key}" if place else str(key), flat)
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        for number, item in enumerate(value):
            _leaves(item, subject, f"{place}[{number}]", flat)
    else:
        flat[(subject, place)] = value


def _words(value: Any) -> str:
    if value is _NEVER or value is None or value == []:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
