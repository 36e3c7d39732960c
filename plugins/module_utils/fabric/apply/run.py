# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Carry a plan out: write what differs, settle once, look again, and put everything back when it did not help."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Callable, Optional

from ..errors import ApplyError, FabricError, MissingError
from ..model.plan import Action, Plan, RemoveFile, Run, Step, WriteFile
from ..ports import Port

MARKS = "/run/railwright"
# A link that is configured again has its address back within a second or two; emulated nodes take several times that.
BOUND_S = 20.0

Planner = Callable[[bool], Plan]


@dataclass(frozen=True)
class Timer:
    """How time passes; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def converge(
    port: Port,
    planner: Planner,
    *,
    lock: Optional[AbstractContextManager[None]] = None,
    check: bool = False,
    guard: Callable[[Plan], None] = lambda plan: None,
    timer: Timer = Timer(),
) -> Plan:
    """Make the node as ``planner`` wants it, and return the plan that was carried out (or would be, with ``check``).

    ``planner`` reads the node and plans; its argument says whether an earlier run was interrupted between its first
    write and its last look. It is asked again afterwards: only when it finds nothing more to do has the plan succeeded.
    ``guard`` may refuse the plan before anything is done.

    :raises ApplyError: when a step failed or did not help; files are back as they were, and the message says so.
    :raises RefusedError: from the planner or the guard, with nothing done.
    """
    if check:
        plan = planner(False)
        guard(plan)
        return plan
    with lock or nullcontext():
        return _converge(port, planner, guard, timer)


def _converge(port: Port, planner: Planner, guard: Callable[[Plan], None], timer: Timer) -> Plan:
    plan = planner(False)
    mark = f"{MARKS}/unsettled-{plan.concern}"
    if port.exists(mark):
        plan = planner(True)
    guard(plan)
    if not plan.steps:
        port.remove(mark)
        return plan
    port.write(mark, "".join(f"{step}\n" for step in plan.steps), 0o600)
    work = _Work(port)
    try:
        for step in plan.steps:
            work.take(step.actions)
        work.take(plan.settle)
        left = _look_again(planner, timer)
        if left:
            raise ApplyError("not as wanted afterwards: " + "; ".join(str(step) for step in left))
    except FabricError as error:
        raise ApplyError(f"{error}. {work.undo(plan.settle, mark)}", plan.concern) from error
    port.remove(mark)
    return plan


def _look_again(planner: Planner, timer: Timer) -> tuple[Step, ...]:
    """What is still to do once the bound of time is over; nothing when all is well."""
    end = timer.now() + BOUND_S
    pause = 0.1
    while True:
        left = planner(False).steps
        if not left or timer.now() >= end:
            return left
        timer.sleep(pause)
        pause = min(pause * 2, 1.0)


class _Work:
    """Actions taken so far, and the way back."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.backups: dict[str, Optional[tuple[bytes, int]]] = {}
        self.ran: list[tuple[str, ...]] = []

    def take(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            if isinstance(action, Run):
                run(self.port, action)
                self.ran.append(action.argv)
            elif isinstance(action, WriteFile):
                self._back_up(action.path)
                self.port.write(action.path, action.text, action.mode)
            elif isinstance(action, RemoveFile):
                self._back_up(action.path)
                self.port.remove(action.path)

    def _back_up(self, path: str) -> None:
        if path in self.backups:
            return
        try:
            self.backups[path] = (self.port.read_bytes(path), self.port.mode(path))
        except MissingError:
            self.backups[path] = None

    def undo(self, settle: tuple[Action, ...], mark: str) -> str:
        """Put files back and settle again; the answer says what was put back and what stays."""
        said = self._put_back(settle, mark)
        again = [action.argv for action in settle if isinstance(action, Run)]
        stays = [" ".join(argv) for argv in self.ran if argv not in again]
        return f"{said}. Not undone: {', '.join(stays)}" if stays else said

    def _put_back(self, settle: tuple[Action, ...], mark: str) -> str:
        """Put files back and settle again.

        The mark of an unfinished run stays when this fails, so that the next run settles once more.
        """
        if not self.backups:
            self.port.remove(mark)
            return "No file had been changed"
        try:
            for path, backup in self.backups.items():
                if backup is None:
                    self.port.remove(path)
                else:
                    self.port.write(path, *backup)
            for action in settle:
                if isinstance(action, Run):
                    run(self.port, action)
            self.port.remove(mark)
        except FabricError as error:
            return f"Rolling back failed as well: {error}"
        return f"Rolled back: {', '.join(self.backups)}"


def run(port: Port, action: Run) -> None:
    """Run a tool of a plan.

    :raises ApplyError: when its exit code is none of those that the plan allows, with what it said.
    """
    done = port.run(action.argv, action.timeout)
    if done.rc not in action.allowed:
        said = (done.err or done.out).strip() or "no message"
        raise ApplyError(f"exit code {done.rc}: {said}", " ".join(action.argv))
