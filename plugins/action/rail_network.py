# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Confirms over a new connection what the module of the same name changed: else the node undoes it by itself."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.plugins.connection import ConnectionBase

MODULE = "railwright.fabric.rail_network"
# How long a node that was cut off is waited for beyond its own bound: it puts files back and configures its links.
UNDO_S = 25.0
PAUSE_S = 2.0


class ActionModule(ActionBase):
    """One call; a second one only when the first one changed something."""

    _supports_check_mode = True
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        try:
            result.update(self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars))
        except AnsibleConnectionFailure as error:
            raise AnsibleConnectionFailure(
                f"{error}. If a change of its rails cut the node off, it undoes the change within 60 s by itself"
            ) from error
        token, within = result.pop("confirm", None), float(result.pop("confirm_within", 0))
        if token is None or result.get("failed"):
            return result
        problem = self._confirm(token, within, task_vars)
        if problem:
            result.update(failed=True, msg=problem)
        return result

    def _confirm(self, token: str, within: float, task_vars: Any) -> str:
        """Confirm the change; the answer is empty, or says why it does not stand."""
        end = time.monotonic() + within + UNDO_S
        while True:
            try:
                # The connection that is there may outlive what keeps every new one from coming.
                if type(self._connection).reset is not ConnectionBase.reset:
                    self._connection.reset()
                answer = self._execute_module(module_name=MODULE, module_args={"confirm": token}, task_vars=task_vars)
            except AnsibleConnectionFailure as error:
                if time.monotonic() >= end:
                    return (
                        f"the rails were changed, and the node cannot be reached since: {error}. It undoes the change "
                        f"by itself within {within:g} s. The next run says what became of it"
                    )
                time.sleep(PAUSE_S)
                continue
            if answer.get("failed"):
                return f"the change does not stand: {answer.get('msg') or answer}"
            return ""
