# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One node's part of a proof, in phases, for the module and for ``railwright prove`` alike."""

from __future__ import annotations

from typing import Optional

from ..errors import FabricError, ParseError, ReadError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..parse.rdma_resource import parse_users
from ..ports import Port
from ..resolve.bind import bind
from .measure import measure
from .mtu import probe_mtu
from .perf import TOOL
from .servers import Starter, serve
from .work import NodeWork, Outcome, Served, unsent

PHASES = ("mtu", "serve", "measure")


def prove_node(
    port: Port,
    starter: Starter,
    intent: NodeIntent,
    facts: NodeFacts,
    work: NodeWork,
    *,
    phase: str,
    force: bool = False,
) -> Outcome:
    """Carry out one phase of ``work``: ``mtu``, ``serve`` or ``measure``.

    A node whose RDMA resources other processes use takes no part unless ``force`` is set: its probes come back with
    the reason ``in_use``.

    :raises FabricError: for another phase.
    """
    if phase not in PHASES:
        raise FabricError(f"known phases are {', '.join(PHASES)}", "prove", phase)
    rails = {rail.intent.name: rail for rail in bind(intent, facts)}
    # While measuring, the servers of this very proof hold queue pairs; before that, a test of somebody else's counts.
    refused = "" if force else _in_use(port, ours=f"{TOOL} (" if phase == "measure" else None)
    if refused:
        return _refuse(work, phase, refused)
    if phase == "mtu":
        return Outcome(pairs=tuple(probe_mtu(port, rails, work)))
    if phase == "serve":
        return Outcome(served=tuple(serve(port, starter, rails, work)))
    return Outcome(pairs=tuple(measure(port, rails, work)))


def _in_use(port: Port, ours: Optional[str]) -> str:
    """Who uses RDMA here, or why that is not known; empty when nobody does."""
    argv = ["rdma", "-j", "resource", "show", "qp"]
    try:
        done = port.run(argv)
        if done.rc != 0:
            return f"whether RDMA is in use could not be read: {(done.err or done.out).strip()[:200]}"
        users = parse_users(done.out)
    except (ReadError, ParseError) as error:
        return f"whether RDMA is in use could not be read: {error}"
    held = []
    for device, names in users.items():
        others = [name for name in names if ours is None or not name.startswith(ours)]
        held += [f"{device} by {', '.join(others[:4])}"] if others else []
    return f"RDMA is in use: {'; '.join(held)}" if held else ""


def _refuse(work: NodeWork, phase: str, why: str) -> Outcome:
    error = f"{why}. Nothing was sent; set prove_force to prove it anyway"
    if phase == "serve":
        served = (Served(test.client, test.rail, test.port, error, "in_use") for test in work.serve)
        return Outcome(served=tuple(served), refused=error)
    return Outcome(unsent(work, phase, "in_use", error), refused=error)
