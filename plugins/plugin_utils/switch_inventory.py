# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The inventory's switches as the resolver wants them, and their dumps on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

from ..module_utils.fabric.errors import FabricError, ParseError, SpecError
from ..module_utils.fabric.model.codec import decode
from ..module_utils.fabric.model.facts import NodeFacts
from ..module_utils.fabric.model.switch import Difference, SwitchEntry, SwitchIntent
from ..module_utils.fabric.parse import switch_dump
from ..module_utils.fabric.resolve import switch_entry
from ..module_utils.fabric.resolve.switches import resolve_switches
from ..module_utils.fabric.verify.switch_config import compare
from .spec_inventory import load_spec, resolve_site, variables
from .spec_schema import check

GROUPS = {"leaf_switches": "leaf", "spine_switches": "spine"}


def resolve(task_vars: Mapping[str, Any]) -> tuple[SwitchIntent, ...]:
    """The intents of all switches of the inventory, whether in the play or not.

    :raises SpecError: for the first thing that is wrong with spec, nodes, switches, or all together.
    """
    roles: dict[str, str] = {}
    for group, role in GROUPS.items():
        for name in task_vars["groups"].get(group, []):
            if name in roles:
                raise SpecError(
                    "a switch is a leaf or a spine", name, remedy=f"Take it out of one of {', '.join(GROUPS)}"
                )
            roles[str(name)] = role
    if not roles:
        raise SpecError("both groups are empty", ", ".join(GROUPS), remedy="List the switches in them")
    entries = [_entry(task_vars, name, role) for name, role in roles.items()]
    intents = resolve_site(task_vars)
    facts = {}
    if any(entry.role == "leaf" and entry.ports is None for entry in entries):
        known = task_vars["hostvars"]
        facts = {
            intent.host: decode(NodeFacts, known[intent.host]["fabric_facts"], f"facts of {intent.host}")
            for intent in intents
            if "fabric_facts" in known[intent.host]
        }
    return resolve_switches(load_spec(task_vars), intents, entries, facts)


def read_back(intents: tuple[SwitchIntent, ...], folder: Path) -> tuple[list[Difference], dict[str, str]]:
    """Every switch's dump, ``<folder>/<switch>.<anything>``, against its intent.

    :returns: differences, and for each switch that could not be judged the reason.
    """
    differences: list[Difference] = []
    unread: dict[str, str] = {}
    for intent in intents:
        try:
            text = _dump(folder, intent.name)
            differences += compare(intent, switch_dump.parse(intent.os, text))
        except (FabricError, OSError, UnicodeDecodeError) as error:
            unread[intent.name] = str(error)
    return differences, unread


def _entry(task_vars: Mapping[str, Any], name: str, role: str) -> SwitchEntry:
    given = variables(task_vars, name, switch_entry.VARIABLES)
    try:
        check(given)
    except SpecError as error:
        raise SpecError(error.message, f"{name}: {error.place}", error.value, error.remedy) from None
    return switch_entry.load(name, role, given)


def _dump(folder: Path, name: str) -> str:
    found = [path for path in sorted(folder.glob("*")) if path.is_file() and path.stem == name]
    if len(found) != 1:
        words = "there is no dump of this switch" if not found else "there are several dumps of this switch"
        raise ParseError(words, f"{folder}/{name}.*", ", ".join(path.name for path in found) or None)
    return found[0].read_text(encoding="utf-8")
