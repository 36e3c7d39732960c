# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What Railwright itself keeps on a node: the intent document and the agent."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Optional

from ..agent.archive import Build, build, digest, interpreter
from ..errors import ApplyError, IntentError
from ..model.document import PATH, dump, load
from ..model.intent import NodeIntent
from ..model.plan import Plan
from ..plan.agent import plan_agent, read_agent
from ..plan.files import read_files
from ..plan.intent import plan_intent
from ..ports import Port
from .run import converge

Lock = Optional[AbstractContextManager[None]]


def apply_intent(port: Port, intent: NodeIntent, lock: Lock = None, check: bool = False) -> Plan:
    """The intent document."""
    return converge(
        port, lambda interrupted: plan_intent(intent, read_files(port, (PATH,))[PATH]), lock=lock, check=check
    )


def apply_agent(
    port: Port, sources: str, packed: Optional[bytes] = None, lock: Lock = None, check: bool = False
) -> tuple[Plan, bool]:
    """The agent, from sources with the digest ``sources``.

    The sources themselves (``packed``) are needed only when the node has another build: the second value says that
    they are, and then nothing was changed.

    :raises ApplyError: when ``packed`` is not what ``sources`` names, or see :func:`converge`.
    """
    wanted = Build(sources, interpreter())
    if packed is not None and digest(packed) != sources:
        raise ApplyError("the agent's sources were damaged on their way", "node_agent", digest(packed))
    needed = packed is None and read_agent(port)[0] != wanted
    program = build(packed) if packed is not None else None

    def planner(interrupted: bool) -> Plan:
        return plan_agent(*read_agent(port), wanted, program)

    return converge(port, planner, lock=lock, check=check or needed), needed


def current_intent(port: Port, given: Optional[NodeIntent], check: bool) -> tuple[NodeIntent, bool]:
    """The intent that a setter applies, and whether the node has it already.

    That is the node's own document, which must be ``given`` when the controller passes one; with ``check``, before the
    first run or before a change of the spec has reached the node, it is ``given``.

    :raises IntentError: when the node's document is missing, damaged or stale.
    """
    try:
        own = load(port)
    except IntentError:
        if check and given is not None:
            return given, False
        raise
    if given is None or dump(given) == dump(own):
        return own, True
    if check:
        return given, False
    raise IntentError(
        "the intent on this node is not the one that the controller resolved",
        PATH,
        f"spec hash {own.spec_hash[:12]}, expected {given.spec_hash[:12]}",
        "Run the role node_agent's intent part first (tag intent)",
    )
