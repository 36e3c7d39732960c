# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What every setter does at the Ansible boundary: parameters to the core, a plan to the module's result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Optional

from .fabric.apply.intent import current_intent
from .fabric.apply.lock import locked
from .fabric.errors import FabricError
from .fabric.model.document import from_data
from .fabric.model.intent import NodeIntent
from .fabric.model.plan import Plan
from .fabric.ports import LocalPort

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

Work = Callable[..., tuple[Plan, dict[str, Any]]]


def run_setter(module: AnsibleModule, work: Work, name: str) -> None:
    """Run ``work(port, lock, check)`` and end the module with its plan and its own results.

    Every error of the core becomes the module's failure, in the core's words; so does what a plan could not do.
    """
    if os.geteuid() != 0:
        module.fail_json(msg=f"{name} changes the node and was not started as root. Run with become: true")
    try:
        plan, more = work(LocalPort(), locked(f"Ansible module {name}"), module.check_mode)
    except FabricError as error:
        module.fail_json(msg=str(error))
    for note in plan.notes:
        module.warn(note)
    for words in _disruptions(plan) if module.check_mode else ():
        module.warn(words)
    if plan.trouble:
        module.fail_json(msg=plan.trouble, **{**result(plan), **more})
    module.exit_json(**{**result(plan), **more})


def given_intent(module: AnsibleModule) -> Optional[NodeIntent]:
    """The module's parameter ``intent``.

    :raises IntentError: when it is no intent of this version.
    """
    data = module.params["intent"]
    return from_data(data, "intent") if data is not None else None


def setter_intent(module: AnsibleModule, port: LocalPort) -> tuple[NodeIntent, Optional[str]]:
    """The intent to apply, and the step that this one depends on because the node does not have that intent yet."""
    intent, current = current_intent(port, given_intent(module), module.check_mode)
    return intent, None if current else "node_intent"


def result(plan: Plan, depends_on: Optional[str] = None) -> dict[str, Any]:
    """The keys that all setters return; ``depends_on`` is added to steps that name no earlier step themselves."""
    before = {f"{step.subject}: {step.setting}": step.before for step in plan.steps}
    after = {f"{step.subject}: {step.setting}": step.after for step in plan.steps}
    steps = [str(step) for step in plan.steps]
    if depends_on is not None:
        steps = [text if step.depends_on else f"{text} [after: {depends_on}]" for step, text in zip(plan.steps, steps)]
    diff = {"before": _text(before), "after": _text(after), "before_header": plan.concern, "after_header": plan.concern}
    return {"changed": bool(steps), "steps": steps, "before": before, "after": after, "diff": diff}


def _disruptions(plan: Plan) -> list[str]:
    """What would be interrupted, a line for each rail and kind."""
    settings: dict[tuple[str, str], list[str]] = {}
    for step in plan.steps:
        if step.disruptive:
            settings.setdefault((step.subject, step.disruptive), []).append(step.setting)
    return [f"{subject}: {what}, for {', '.join(names)}" for (subject, what), names in settings.items()]


def _text(settings: dict[str, str]) -> str:
    return "".join(f"{name}: {value or '(none)'}\n" for name, value in settings.items())
