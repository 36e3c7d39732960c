# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The settings of a node, concern by concern, from intent to done: what Ansible modules and the agent both call.

Each concern imports its own planner: a module on a node compiles all that it imports, on every call.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Optional, Sequence

from ..errors import FabricError, ReadError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..model.plan import Plan, merge
from ..plan.guard import guard_jobs
from ..ports import Port
from ..probe.node import probe
from ..records import replace
from .run import Planner, Timer, Watch, converge

Lock = Optional[AbstractContextManager[None]]


class _Eyes:
    """Looks at the node afresh for every plan, and keeps what the latest plan was made from."""

    def __init__(self, port: Port, session: Optional[str]) -> None:
        self.port = port
        self.session = session
        self.facts = NodeFacts()

    def look(self) -> NodeFacts:
        self.facts = probe(self.port, session=self.session, judged=False)
        return self.facts


def apply_stack(
    port: Port,
    intent: NodeIntent,
    packages: Sequence[str] = (),
    *,
    units: Sequence[str] = (),
    lock: Lock = None,
    check: bool = False,
    allow_disruption: bool = False,
    session: Optional[str] = None,
    timer: Timer = Timer(),  # noqa: B008 - frozen
) -> tuple[Plan, tuple[str, ...]]:
    """The driver stack. Also returns the ``packages`` that are missing: as long as there are any, nothing is changed.

    :param units: services whose memory lock limit is raised beside the known ones.
    :raises FabricError: see :func:`converge`.
    """
    from ..plan.stack import plan_stack, read_stack  # noqa: PLC0415
    from ..probe.packages import missing_packages  # noqa: PLC0415

    missing = missing_packages(port, packages)
    eyes = _Eyes(port, session)

    def planner(interrupted: bool) -> Plan:
        facts = eyes.look()
        return plan_stack(intent, facts, read_stack(port, units), missing)

    guard = guard_jobs(port, intent, lambda: eyes.facts, allow_disruption)
    plan = converge(port, planner, lock=lock, check=check or bool(missing), guard=guard, timer=timer)
    return plan, missing


def apply_network(
    port: Port,
    intent: NodeIntent,
    *,
    lock: Lock = None,
    check: bool = False,
    allow_disruption: bool = False,
    session: Optional[str] = None,
    timer: Timer = Timer(),  # noqa: B008 - frozen
    watch: Watch = Watch(),  # noqa: B008 - without state
) -> Plan:
    """The rails' network settings, and the soft RoCE devices of bonds, which have to wait for them.

    :param session: the node's own address in the controller's session; the netdev that has it is never touched, and is
        remembered for times without a session.
    :param watch: takes care that the change does not cut the node off.
    :raises FabricError: see :func:`converge`.
    """
    from ..plan.firewall import plan_firewall, read_firewall  # noqa: PLC0415
    from ..plan.management import plan_management, read_management, with_remembered  # noqa: PLC0415
    from ..plan.network import plan_network, read_network  # noqa: PLC0415
    from ..plan.soft_roce import plan_bonded  # noqa: PLC0415
    from ..plan.sysctl import plan_sysctl, read_sysctl  # noqa: PLC0415

    eyes = _Eyes(port, session)

    def planner(interrupted: bool) -> Plan:
        remembered = read_management(port)
        facts = with_remembered(eyes.look(), remembered, session)
        return merge(
            plan_management(facts, remembered, session),
            plan_sysctl(intent, facts, *read_sysctl(port, facts)),
            plan_network(intent, facts, read_network(port, intent, facts), interrupted),
            plan_firewall(intent, facts, read_firewall(port, intent, facts)),
        )

    def on_bonds(interrupted: bool) -> Plan:
        return plan_bonded(intent, eyes.look())

    guard = guard_jobs(port, intent, lambda: eyes.facts, allow_disruption)
    with nullcontext() if check or lock is None else lock:
        plan = converge(port, planner, check=check, guard=guard, timer=timer, watch=watch)
        if all(rail.bond is None or not rail.soft_roce for rail in intent.rails):
            return plan
        return merge(plan, converge(port, on_bonds, check=check, guard=guard, timer=timer))


def apply_qos(
    port: Port,
    intent: NodeIntent,
    *,
    absent: bool = False,
    lock: Lock = None,
    check: bool = False,
    allow_disruption: bool = False,
    session: Optional[str] = None,
    timer: Timer = Timer(),  # noqa: B008 - frozen
) -> Plan:
    """The rails' lossless settings; a node whose intent has none for any rail is not even looked at.

    A rail that is refused or fails keeps no other one from its settings: the plan names it. Only jobs keep all back.

    :param absent: give the defaults back instead.
    :raises FabricError: see :func:`converge`; for what concerns the whole node.
    """
    if not absent and all(rail.qos is None for rail in intent.rails):
        return Plan("qos")
    from ..plan.management import read_management, with_remembered  # noqa: PLC0415
    from ..plan.qos import plan_qos, read_qos  # noqa: PLC0415
    from ..plan.qos_absent import plan_absent  # noqa: PLC0415

    eyes = _Eyes(port, session)

    def planner(interrupted: bool) -> Plan:
        facts = with_remembered(eyes.look(), read_management(port), session)
        if any(item.subject == "management" for item in facts.unread):
            raise ReadError("which link carries the management could not be read", "management")
        node = read_qos(port)
        return plan_absent(intent, facts, node) if absent else plan_qos(intent, facts, node, predict=check)

    guard = guard_jobs(port, intent, lambda: eyes.facts, allow_disruption)
    rails = {rail.name for rail in intent.rails}
    with nullcontext() if check or lock is None else lock:
        whole = converge(port, planner, check=True, guard=guard)
        if check:
            return whole
        if not whole.steps:
            return converge(port, lambda interrupted: whole)
        done, failed = [replace(whole, steps=())], {}
        for subject in dict.fromkeys(step.subject for step in whole.steps):
            try:
                plan = converge(port, _only(subject, planner, whole), guard=guard, timer=timer)
            except FabricError as error:  # noqa: PERF203 - the other rails go on
                if subject not in rails:
                    raise
                failed[subject] = str(error)
            else:
                done.append(replace(plan, notes=(), refused={}))
        return replace(merge(*done), failed=failed)


def _only(subject: str, planner: Planner, whole: Plan) -> Planner:
    """Plans one subject's steps alone.

    :raises ReadError: when it is refused by now, and was not in the ``whole`` plan before.
    """

    def plan(interrupted: bool) -> Plan:
        found = planner(interrupted)
        why = found.refused.get(subject)
        if why not in (None, whole.refused.get(subject)):
            raise ReadError(why)
        return replace(found, steps=tuple(step for step in found.steps if step.subject == subject))

    return plan
