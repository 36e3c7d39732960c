# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Packs the agent's sources on the controller; see the module of the same name."""

from __future__ import annotations

import base64
from functools import lru_cache
from pathlib import Path

from ansible.plugins.action import ActionBase

from ..module_utils.fabric.agent.archive import digest, pack_sources

CORE = Path(__file__).resolve().parent.parent / "module_utils" / "fabric"
MODULE = "railwright.fabric.node_agent"


@lru_cache(maxsize=1)
def packed() -> bytes:
    """All sources of the core."""
    files = sorted(CORE.rglob("*.py"))
    return pack_sources({path.relative_to(CORE).as_posix(): path.read_text(encoding="utf-8") for path in files})


class ActionModule(ActionBase):
    """One call with the digest; a second one with the sources, when the node says that it needs them."""

    _supports_check_mode = True
    _requires_connection = True
    _VALID_ARGS = frozenset()

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        sources = packed()
        arguments = {"digest": digest(sources)}
        result.update(self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars))
        if result.get("sources_needed") and not self._task.check_mode:
            arguments["sources"] = base64.b64encode(sources).decode()
            result = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return result
