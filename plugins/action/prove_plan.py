# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller side of railwright.fabric.prove_plan; the documentation is in plugins/modules/prove_plan.py."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.prove.cover import plan_proof
from ..plugin_utils import host_files
from ..plugin_utils.spec_inventory import resolve_site


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            {"results": {"type": "str", "default": "fabric_check_result"}}
        )
        result["changed"] = False
        everyone, known = task_vars["ansible_play_hosts_all"], task_vars["hostvars"]
        reached = {host for host in everyone if "facts" in known[host].get(options["results"], {})}
        try:
            intents = {intent.host: intent for intent in resolve_site(task_vars) if intent.host in reached}
        except FabricError as error:
            result.update(failed=True, msg=str(error))
            return result
        plan = plan_proof(intents, [host for host in everyone if host not in reached], int(task_vars["ansible_forks"]))
        folder = host_files.write("proof", plan.nodes)
        result.update(
            nodes={host: str(host_files.path(folder, host)) for host in plan.nodes},
            coverage=plan.coverage,
            notes=list(plan.notes),
        )
        return result
