# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The names of a node's devices, from intent to done. At boot udev gives them, so the agent has no part in it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Optional

from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..model.plan import Plan
from ..plan.boot_image import names_nics
from ..plan.guard import guard_jobs
from ..plan.management import read_management, with_remembered
from ..plan.naming import plan_naming, read_naming
from ..ports import Port
from ..probe.node import probe
from .run import Timer, converge


def apply_naming(
    port: Port,
    intent: NodeIntent,
    *,
    live: bool = False,
    rebuild: bool = True,
    lock: Optional[AbstractContextManager[None]] = None,
    check: bool = False,
    allow_disruption: bool = False,
    session: Optional[str] = None,
    timer: Timer = Timer(),  # noqa: B008 - frozen
) -> Plan:
    """The names of the rails' netdevs and RDMA devices; see :func:`plan_naming` for ``live`` and ``rebuild``.

    :param session: the node's own address in the controller's session; the netdev that has it is never renamed.
    :raises FabricError: see :func:`converge`.
    """
    facts = NodeFacts()

    def planner(interrupted: bool) -> Plan:
        nonlocal facts
        facts = with_remembered(probe(port, session=session, judged=False), read_management(port), session)
        return plan_naming(
            intent,
            facts,
            read_naming(port, facts.system.kernel),
            live=live,
            rebuild=rebuild,
            interrupted=interrupted,
            in_image=lambda image, drivers: names_nics(port, image, drivers),
        )

    guard = guard_jobs(port, intent, lambda: facts, allow_disruption)
    return converge(port, planner, lock=lock, check=check, guard=guard, timer=timer)
