# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller side of railwright.fabric.write_discovery; the documentation is in plugins/modules/write_discovery.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.model.codec import decode
from ..module_utils.fabric.model.facts import NodeFacts
from ..module_utils.fabric.resolve.discover import discover
from ..module_utils.fabric.resolve.discover_files import inventory_files
from ..plugin_utils.write_once import write_files

CONNECTION = ("ansible_host", "ansible_port", "ansible_user")


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(
            {
                "facts_from": {"type": "str", "required": True},
                "output": {"type": "path", "required": True},
                "soft_roce": {"type": "bool", "default": False},
                "overwrite": {"type": "bool", "default": False},
            }
        )
        hosts = task_vars["ansible_play_hosts_all"]
        told = {host: task_vars["hostvars"][host].get(arguments["facts_from"]) or {} for host in hosts}
        try:
            facts = {
                str(host): decode(NodeFacts, answer["facts"], f"facts of {host}")
                for host, answer in told.items()
                if "facts" in answer
            }
            nodes = discover(facts, arguments["soft_roce"])
        except FabricError as error:
            return {**result, "failed": True, "msg": str(error), "changed": False}
        connection = {
            node.host: {key: task_vars["hostvars"][node.host].get(key) for key in CONNECTION} for node in nodes
        }
        plain = {host: {k: v for k, v in values.items() if v is not None} for host, values in connection.items()}
        files = inventory_files(nodes, arguments["soft_roce"], plain)
        result.update(write_files(Path(arguments["output"]), files, arguments["overwrite"], self._task.check_mode))
        for path in result["kept"]:
            self._display.warning(f"{path} differs from what was discovered and was kept")
        result["missing"] = sorted(set(map(str, hosts)) - set(facts))
        result["nodes"] = [{"host": n.host, "model": n.model, "unit": n.unit, "rails": len(n.rails)} for n in nodes]
        return result
