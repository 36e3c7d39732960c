# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Callback for tools/bench.py: counts what really goes to nodes, by watching the two doors through which it goes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: remote_calls
type: aggregate
short_description: Counts module calls and commands on nodes
description:
  - Appends one JSON line a call to the file that the environment variable RAILWRIGHT_CALLS names.
"""


def _count(kind: str, action: ActionBase, what: str) -> None:
    """One line, appended in one write: the workers of a play share the file."""
    if action._connection.transport == "local":  # noqa: SLF001
        return
    entry = {"kind": kind, "host": action._task_vars_host, "what": what}  # noqa: SLF001
    with Path(os.environ["RAILWRIGHT_CALLS"]).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def _watch() -> None:
    """Wrap both doors in the controlling process; its workers are forks of it."""
    module, command = ActionBase._execute_module, ActionBase._low_level_execute_command  # noqa: SLF001

    def execute_module(self: ActionBase, *arguments: Any, **options: Any) -> Any:
        self._task_vars_host = (options.get("task_vars") or {}).get("inventory_hostname", "?")
        name = options.get("module_name") or (arguments[0] if arguments else None) or self._task.action
        _count("module", self, str(name))
        return module(self, *arguments, **options)

    def low_level(self: ActionBase, *arguments: Any, **options: Any) -> Any:
        self._task_vars_host = getattr(self, "_task_vars_host", "?")
        _count("command", self, str(self._task.action))
        return command(self, *arguments, **options)

    ActionBase._execute_module = execute_module  # noqa: SLF001
    ActionBase._low_level_execute_command = low_level  # noqa: SLF001


class CallbackModule(CallbackBase):
    """Only its import matters."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "remote_calls"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        _watch()
