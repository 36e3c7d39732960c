# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent document on a node: writing it, and choosing what a setter applies."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Optional

from ..errors import IntentError
from ..model.document import PATH, load
from ..model.intent import NodeIntent
from ..model.plan import Plan
from ..ports import Port
from .run import converge

Lock = Optional[AbstractContextManager[None]]


def apply_intent(port: Port, intent: NodeIntent, lock: Lock = None, check: bool = False) -> Plan:
    """The intent document."""
    from ..plan.files import read_files  # noqa: PLC0415 - other setters read the intent only
    from ..plan.intent import plan_intent  # noqa: PLC0415

    return converge(
        port, lambda interrupted: plan_intent(intent, read_files(port, (PATH,))[PATH]), lock=lock, check=check
    )


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
    if given is None or given == own:
        return own, True
    if check:
        return given, False
    raise IntentError(
        "the intent on this node is not the one that the controller resolved",
        PATH,
        f"spec hash {own.spec_hash[:12]}, expected {given.spec_hash[:12]}",
        "Run the role node_agent's intent part first (tag intent)",
    )
