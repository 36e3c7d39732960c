# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Carry a plan out: write what differs, settle once, look again, and put everything back when it did not help."""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Callable, Mapping, Optional

from ..errors import ApplyError, FabricError, MissingError
from ..model.plan import Action, Plan, RemoveFile, Run, Step, WriteFile
from ..ports import Port
from ..records import dataclass, replace

MARKS = "/run/railwright"
KERNEL = "/sys/"
# A link that is configured again has its address back within a second or two; emulated nodes take several times that.
BOUND_S = 20.0

Planner = Callable[[bool], Plan]
Backups = Mapping[str, Optional[tuple[bytes, int]]]


@dataclass(frozen=True)
class Timer:
    """How time passes; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Watch:
    """Watches a change that may cut the node off; this one does not."""

    def arm(self, plan: Plan, backups: Backups) -> None:
        """Before the first action; ``backups`` are the files that the plan changes, as they are."""

    def danger(self) -> str:
        """What is wrong with the node's management by now; empty when nothing is."""
        return ""

    def done(self) -> None:
        """The change is as wanted."""

    def rolled_back(self, why: str) -> None:
        """The change was taken back; ``why`` is set when it endangered the management."""


class DangerError(ApplyError):
    """The change would cut the node off."""


def converge(
    port: Port,
    planner: Planner,
    *,
    lock: Optional[AbstractContextManager[None]] = None,
    check: bool = False,
    guard: Callable[[Plan], None] = lambda plan: None,
    timer: Timer = Timer(),  # noqa: B008 - frozen
    watch: Watch = Watch(),  # noqa: B008 - without state
) -> Plan:
    """Make the node as ``planner`` wants it, and return the plan that was carried out (or would be, with ``check``).

    ``planner`` reads the node and plans; its argument says whether an earlier run was interrupted between its first
    write and its last look. It is asked again afterwards: only when it finds nothing more to do has the plan succeeded.
    ``guard`` may refuse the plan before anything is done, and ``watch`` says when it must be taken back at once.

    :raises ApplyError: when a step failed or did not help; files are back as they were, and the message says so.
    :raises RefusedError: from the planner or the guard, with nothing done.
    """
    if check:
        plan = planner(False)
        guard(plan)
        return plan
    with lock or nullcontext():
        return _converge(port, planner, guard, timer, watch)


def _converge(port: Port, planner: Planner, guard: Callable[[Plan], None], timer: Timer, watch: Watch) -> Plan:
    plan = planner(False)
    mark = f"{MARKS}/unsettled-{plan.concern}"
    if port.exists(mark):
        plan = _with_owed(planner(True), port.read(mark))
    guard(plan)
    if not plan.steps:
        port.remove(mark)
        return plan
    work = _Work(port, plan)
    watch.arm(plan, work.backups)
    port.write(mark, _marked(plan), 0o600)
    try:
        for step in plan.steps:
            work.taken.append(step)
            work.take(step.actions)
        work.take(plan.settle)
        left = _look_again(planner, timer, watch)
        if left:
            raise ApplyError("not as wanted afterwards: " + "; ".join(str(step) for step in left))
        watch.done()
    except FabricError as error:
        said = work.undo(mark)
        # A roll back that failed leaves its mark, and the node's own undo is the next one to try.
        if not port.exists(mark):
            watch.rolled_back(str(error) if isinstance(error, DangerError) else "")
        raise ApplyError(f"{error}. {said}", plan.concern) from error
    port.remove(mark)
    return plan


def _marked(plan: Plan) -> str:
    """What a run that ends before its time owes the node: the subjects that it touches, and how they settle."""
    subjects = {step.subject: step.disruptive for step in plan.steps if step.disruptive}
    settle = [[list(action.argv), action.timeout] for action in plan.settle if isinstance(action, Run)]
    return json.dumps({"steps": [str(step) for step in plan.steps], "disrupts": subjects, "settle": settle}) + "\n"


def _with_owed(plan: Plan, mark: str) -> Plan:
    """The plan of a run after one that was interrupted, with what that one owes and this one would not do.

    Nothing may be left to plan: of a rail that is no more, the file may be gone, and its link still as it was. That a
    netdev of then is no more is no failure.
    """
    try:
        found = json.loads(mark)
        again = [Run(tuple(argv), timeout, tuple(range(256))) for argv, timeout in found["settle"]]
        subjects = dict(found["disrupts"])
    except (ValueError, TypeError, KeyError):
        return plan
    known = {action.argv for action in plan.settle if isinstance(action, Run)}
    owed = tuple(action for action in again if action.argv not in known)
    if not owed:
        return plan
    gone = {subject: why for subject, why in subjects.items() if subject not in {step.subject for step in plan.steps}}
    steps = [
        Step(subject, "settings in force", "unknown after an interrupted run", "yes", disruptive=why)
        for subject, why in (gone or ({} if plan.steps else {"node": None})).items()
    ]
    return replace(plan, steps=(*plan.steps, *steps), settle=(*plan.settle, *owed))


def _look_again(planner: Planner, timer: Timer, watch: Watch) -> tuple[Step, ...]:
    """What is still to do once the bound of time is over; nothing when all is well.

    :raises DangerError: when the node's management is cut, twice in a row: a network manager that reads its files may
        take a route away for a moment.
    """
    end = timer.now() + BOUND_S
    pause, before = 0.1, ""
    while True:
        left = planner(False).steps
        danger = watch.danger()
        if danger and before:
            raise DangerError(danger)
        before = danger
        if not danger and (not left or timer.now() >= end):
            return left
        timer.sleep(pause)
        pause = min(pause * 2, 1.0)


class _Work:
    """Actions taken so far, and the way back."""

    def __init__(self, port: Port, plan: Plan) -> None:
        self.port = port
        self.plan = plan
        self.backups: dict[str, Optional[tuple[bytes, int]]] = {}
        for action in (*(action for step in plan.steps for action in step.actions), *plan.settle):
            if isinstance(action, (WriteFile, RemoveFile)):
                self._back_up(action.path)
        self.changed: dict[str, None] = {}
        self.ran: list[tuple[str, ...]] = []
        self.taken: list[Step] = []

    def take(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            if isinstance(action, Run):
                run(self.port, action)
                self.ran.append(action.argv)
                continue
            if not action.path.startswith(KERNEL):
                self.changed[action.path] = None
            if isinstance(action, WriteFile):
                self.port.write(action.path, action.text, action.mode)
            else:
                self.port.remove(action.path)

    def _back_up(self, path: str) -> None:
        # What is read below /sys is not what may be written there.
        if path in self.backups or path.startswith(KERNEL):
            return
        try:
            self.backups[path] = (self.port.read_bytes(path), self.port.mode(path))
        except MissingError:
            self.backups[path] = None

    def undo(self, mark: str) -> str:
        """Put files back and settle again; the answer says what was put back and what stays."""
        said = self._put_back(mark)
        done = (action for step in self.taken if step.undo for action in step.actions)
        again = [action.argv for action in (*done, *self.plan.settle) if isinstance(action, Run)]
        stays = [" ".join(argv) for argv in self.ran if argv not in again]
        return f"{said}. Not undone: {', '.join(stays)}" if stays else said

    def _put_back(self, mark: str) -> str:
        """Put files back and settle again.

        The mark of an unfinished run stays when this fails, so that the next run settles once more.
        """
        undone = [step for step in reversed(self.taken) if step.undo]
        if not self.changed and not self.plan.undo and not undone:
            self.port.remove(mark)
            return "No file had been changed"
        try:
            for path in self.changed:
                backup = self.backups[path]
                if backup is None:
                    self.port.remove(path)
                else:
                    self.port.write(path, *backup)
            kept = [f"{step.subject}: {step.setting} ({failed})" for step in undone if (failed := self._former(step))]
            for action in (*self.plan.undo, *self.plan.settle):
                if isinstance(action, Run):
                    run(self.port, action)
            if kept:
                return f"Rolling back failed as well: {'; '.join(kept)}"
            self.port.remove(mark)
        except FabricError as error:
            return f"Rolling back failed as well: {error}"
        said = [*self.changed, *(f"{step.subject}: {step.setting}" for step in undone)]
        return f"Rolled back: {', '.join(said) or 'routes and rules'}"

    def _former(self, step: Step) -> str:
        """Put a step's former value back; the answer is empty, or why that failed. Other steps go on all the same."""
        try:
            for action in step.undo:
                if isinstance(action, Run):
                    run(self.port, action)
                elif isinstance(action, WriteFile):
                    self.port.write(action.path, action.text, action.mode)
        except FabricError as error:
            return str(error)
        return ""


def run(port: Port, action: Run) -> None:
    """Run a tool of a plan.

    :raises ApplyError: when its exit code is none of those that the plan allows, with what it said.
    """
    done = port.run(action.argv, action.timeout)
    if done.rc and action.again and action.again in done.out + done.err:
        done = port.run(action.argv, action.timeout)
    if done.rc not in action.allowed:
        said = (done.err or done.out).strip() or "no message"
        raise ApplyError(f"exit code {done.rc}: {said}", " ".join(action.argv), remedy=action.hint or None)
