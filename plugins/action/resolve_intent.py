# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller side of railwright.fabric.resolve_intent; the documentation is in plugins/modules/resolve_intent.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.fabric.errors import FabricError, SpecError
from ..module_utils.fabric.model.codec import decode, encode
from ..module_utils.fabric.model.facts import NodeFacts
from ..module_utils.fabric.model.intent import NodeIntent
from ..module_utils.fabric.resolve.hardware import match, overview, report
from ..plugin_utils import host_files
from ..plugin_utils.spec_inventory import (
    NODES,
    resolve_host,
    resolve_site,
)


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(
            {
                "scope": {"type": "str", "choices": ["site", "host"], "default": "host"},
                "intents": {"type": "path"},
                "facts": {"type": "dict"},
            }
        )
        result["changed"] = False
        try:
            if arguments["scope"] == "site":
                result.update(_site(task_vars))
            else:
                result.update(_host(task_vars, arguments["intents"], arguments["facts"]))
        except FabricError as error:
            result.update(failed=True, msg=str(error))
        return result


def _site(task_vars: dict[str, Any]) -> dict[str, Any]:
    """All intents, one file a host."""
    intents = resolve_site(task_vars)
    folder = host_files.write("intents", {intent.host: intent for intent in intents})
    return {"intents": str(folder), "nodes": len(intents)}


def _host(task_vars: dict[str, Any], folder: str | None, facts: dict[str, Any] | None) -> dict[str, Any]:
    name = str(task_vars["inventory_hostname"])
    if folder is None:
        intent = resolve_host(task_vars)
    else:
        file = host_files.path(Path(folder), name)
        if not file.exists():
            raise SpecError("the host is no node of the fabric", name, remedy=f"Add it to the group {NODES}")
        intent = decode(NodeIntent, json.loads(file.read_text(encoding="utf-8")))
    if facts is None:
        return {"intent": encode(intent)}
    found = match(intent, decode(NodeFacts, facts, "facts"))
    judged = {"problems": list(found.problems), "override": found.override}
    if found.problems:
        # Nothing else: what keeps the node back must not drown in its intent.
        return {**judged, "failed": True, "msg": report(name, found)}
    return {**judged, "intent": encode(intent), "rails": overview(found)}
