# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller side of railwright.fabric.switch_config; the documentation is in plugins/modules/switch_config.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.model.codec import encode
from ..module_utils.fabric.render import file_name, render
from ..plugin_utils import switch_inventory
from ..plugin_utils.write_once import write_files


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(
            {
                "output": {"type": "path", "required": True},
                "dumps": {"type": "path"},
            }
        )
        folder = Path(arguments["output"])
        try:
            intents = switch_inventory.resolve(task_vars)
            files = {file_name(intent): render(intent) for intent in intents}
            result.update(write_files(folder, files, True, self._task.check_mode, "resolved from the spec"))
        except (FabricError, OSError) as error:
            return {**result, "failed": True, "msg": str(error), "changed": False}
        del result["kept"]
        result["switches"] = {
            intent.name: {
                "os": intent.os,
                "role": intent.role,
                "file": str(folder / file_name(intent)),
                "ports": {port.name: port.description for port in intent.ports},
            }
            for intent in intents
        }
        result["notes"] = [note for intent in intents for note in intent.notes]
        for note in result["notes"]:
            self._display.warning(note)
        if arguments["dumps"] is not None:
            differences, unread = switch_inventory.read_back(intents, Path(arguments["dumps"]))
            result["differences"] = [encode(item) for item in differences]
            result["unread"] = unread
            result["findings"] = {
                intent.name: [str(item) for item in differences if item.switch == intent.name]
                + ([unread[intent.name]] if intent.name in unread else [])
                for intent in intents
            }
        return result
