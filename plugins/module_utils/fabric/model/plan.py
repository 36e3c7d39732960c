# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The difference between what is and what should be, as steps that can be shown before they are taken."""

from __future__ import annotations

from typing import Optional, Union

from ..records import dataclass, field
from .base import Model


@dataclass(frozen=True, eq=False, repr=False)
class WriteFile(Model):
    """Write a whole file, atomically; ``mode`` as octal number."""

    path: str
    text: Union[str, bytes]
    mode: int = 0o644


@dataclass(frozen=True, eq=False, repr=False)
class RemoveFile(Model):
    """Remove a file that we own."""

    path: str


@dataclass(frozen=True, eq=False, repr=False)
class Run(Model):
    """Run a tool; it fails when the exit code is none of ``allowed``, and ``hint`` says what to do then.

    A tool that says ``again`` when it fails has lost the answer, and is run once more.
    """

    argv: tuple[str, ...]
    timeout: float = 30.0
    allowed: tuple[int, ...] = (0,)
    hint: str = ""
    again: str = ""


Action = Union[WriteFile, RemoveFile, Run]


@dataclass(frozen=True, eq=False, repr=False)
class Step(Model):
    """One change of one setting, in words of the field.

    ``subject`` is a rail, a file or a unit; ``setting`` names what changes (``MTU``, ``address`` …); ``before`` and
    ``after`` are its values as a person writes them. ``disruptive`` says what is interrupted, ``depends_on`` which
    earlier step must have been taken before this one can be judged exactly (in check mode it has not). ``undo`` puts
    the former value back, where that is no file that comes back by itself.
    """

    subject: str
    setting: str
    before: str
    after: str
    actions: tuple[Action, ...] = ()
    disruptive: Optional[str] = None
    depends_on: Optional[str] = None
    undo: tuple[Action, ...] = ()

    def __str__(self) -> str:
        text = f"{self.subject}: {self.setting} {self.before or '(none)'} -> {self.after or '(none)'}"
        if self.disruptive:
            text += f" [{self.disruptive}]"
        return f"{text} [after: {self.depends_on}]" if self.depends_on else text


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Model):
    """Steps in their order, then ``settle``: actions that make them effective, run once when any step was taken.

    ``undo`` takes away what the steps bring about beside files; a roll back runs it between the files and ``settle``.
    ``notes`` say what the planner leaves alone although the intent names it, and why; each is one sentence.
    ``refused`` has, by subject, what the planner would not touch, ``failed`` what was tried and put back: other
    subjects are done all the same, and whoever asked for the plan has failed.
    """

    concern: str  # intent | stack | network | qos | agent
    steps: tuple[Step, ...] = ()
    settle: tuple[Action, ...] = ()
    notes: tuple[str, ...] = ()
    undo: tuple[Action, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def trouble(self) -> str:
        """All that keeps the plan from being a success, as one text; empty when nothing does."""
        return "; ".join((*self.refused.values(), *self.failed.values()))


def merge(*plans: Plan) -> Plan:
    """Several plans of one concern as one, in their order."""
    return Plan(
        plans[0].concern,
        tuple(step for plan in plans for step in plan.steps),
        tuple(action for plan in plans for action in plan.settle),
        tuple(note for plan in plans for note in plan.notes),
        tuple(action for plan in plans for action in plan.undo),
        {subject: why for plan in plans for subject, why in plan.refused.items()},
        {subject: why for plan in plans for subject, why in plan.failed.items()},
    )
