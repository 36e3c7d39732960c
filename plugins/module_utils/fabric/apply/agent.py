# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The agent on a node."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Optional

from ..agent.archive import Build, build, digest, interpreter
from ..errors import ApplyError
from ..model.plan import Plan
from ..plan.agent import plan_agent, read_agent
from ..ports import Port
from .run import converge

Lock = Optional[AbstractContextManager[None]]


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
    # Reading and digesting the program costs most of a run without change, so the first plan is made of what was read.
    found = [read_agent(port)]
    needed = packed is None and found[0][0] != wanted
    program = build(packed) if packed is not None else None

    def planner(interrupted: bool) -> Plan:
        return plan_agent(*(found.pop() if found else read_agent(port)), wanted, program)

    return converge(port, planner, lock=lock, check=check or needed), needed
