# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress of tasks over many nodes."""

from __future__ import annotations

DOCUMENTATION = r"""
name: progress
type: aggregate
short_description: Says how far a long task over many nodes is
version_added: 0.1.0
description:
  - Where a task runs on 20 nodes or more and takes more than ten seconds, prints a line with each quarter of the nodes
    that is done, and after a minute without one. The line has the nodes that failed or were not reached, the time that
    has passed, and about how much is left.
  - A few lines a task, with and without a terminal, so that the log of a job in AWX stays readable.
requirements:
  - enabled in C(callbacks_enabled), as the project's C(ansible.cfg) does
author: The Railwright authors (@railwright)
"""

from typing import Any

from ansible.plugins.callback import CallbackBase

from ..plugin_utils.progress import Progress


class CallbackModule(CallbackBase):
    """See the documentation above."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "railwright.fabric.progress"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._hosts = 0
        self._progress = Progress("", 0)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        variables = play.get_variable_manager().get_vars(play=play, include_hostvars=False)
        self._hosts = len(variables.get("ansible_play_hosts_all", ()))

    def v2_playbook_on_task_start(self, task: Any, is_conditional: Any) -> None:
        self._progress = Progress(task.get_name(), 1 if task.run_once else self._hosts)

    def v2_runner_on_ok(self, result: Any) -> None:
        self._done("ok")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._done("ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._done("failed")
        self._hosts -= not ignore_errors

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._done("unreachable")

    def _done(self, end: str) -> None:
        line = self._progress.done(end)
        if line:
            self._display.display(line)
