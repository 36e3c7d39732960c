# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller side of railwright.fabric.prove_plan; the documentation is in plugins/modules/prove_plan.py."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ansible import constants
from ansible.plugins.action import ActionBase

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.model.codec import encode
from ..module_utils.fabric.prove.cover import plan_proof
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
        # One file a host: every task runs in a process of its own, and a host then reads only its own.
        folder = Path(tempfile.mkdtemp(prefix="railwright-proof-", dir=constants.DEFAULT_LOCAL_TMP))
        for host, work in plan.nodes.items():
            _file(folder, host).write_text(json.dumps(encode(work)), encoding="utf-8")
        result.update(
            nodes={host: str(_file(folder, host)) for host in plan.nodes},
            coverage=plan.coverage,
            notes=list(plan.notes),
        )
        return result


def _file(folder: Path, host: str) -> Path:
    return folder / f"{quote(host, safe='')}.json"
