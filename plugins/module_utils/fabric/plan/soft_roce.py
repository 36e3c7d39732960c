# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Soft RoCE devices of rails: on their NICs, and on bonds once there are any."""

from __future__ import annotations

from typing import Optional

from ..errors import ReadError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..model.plan import Plan, Run, Step
from ..resolve.bind import BoundRail, bind, soft_name
from .protect import refuse_management

_SETTING = "soft RoCE device"


def soft_steps(intent: NodeIntent, facts: NodeFacts, depends_on: Optional[str]) -> tuple[list[Step], list[str]]:
    """Steps towards the soft RoCE devices of all rails that have their netdev by now, and notes on the others.

    :raises ReadError: when the RDMA devices could not be read.
    :raises RefusedError: when one would be on a netdev that carries the node's management.
    """
    parents = _parents(facts)
    steps: list[Step] = []
    notes: list[str] = []
    for rail in bind(intent, facts):
        if rail.intent.soft_roce and rail.netdev is not None:
            refuse_management(rail.intent.name, rail.netdev, facts)
            steps += _device(rail, rail.netdev.name, parents, depends_on)
        elif rail.intent.soft_roce and (rail.intent.bond is None or any(port.problem for port in rail.ports)):
            problem = next((port.problem for port in rail.ports if port.problem), "its netdev is not there yet")
            notes.append(f"{rail.intent.name}: no soft RoCE device, because {problem}")
    return steps, notes


def plan_bonded(intent: NodeIntent, facts: NodeFacts) -> Plan:
    """The soft RoCE devices on bonds, which are there only when the network is set up.

    :raises ReadError: when the RDMA devices could not be read.
    """
    parents = _parents(facts)
    steps: list[Step] = []
    for rail in bind(intent, facts):
        if not rail.intent.soft_roce or rail.intent.bond is None or any(port.problem for port in rail.ports):
            continue
        if rail.netdev is None:
            name = soft_name(rail.intent)
            steps.append(Step(rail.intent.name, _SETTING, "", f"{name} on the bond", depends_on="the bond"))
        else:
            steps += _device(rail, rail.netdev.name, parents, None)
    return Plan("soft_roce", tuple(steps))


def _parents(facts: NodeFacts) -> dict[str, Optional[str]]:
    """Netdevs by the RDMA devices on them."""
    if facts.rdma is None:
        why = next((entry for entry in facts.unread if entry.subject == "rdma"), None)
        raise ReadError("the RDMA devices could not be read", f"{why.source}: {why.reason}" if why else "rdma")
    return {device.name: device.parent for device in facts.rdma}


def _device(rail: BoundRail, netdev: str, parents: dict[str, Optional[str]], depends_on: Optional[str]) -> list[Step]:
    """The rail's soft RoCE device; the kernel allows one a netdev (drivers/infiniband/sw/rxe/rxe_net.c).

    :param parents: netdevs by RDMA device, as they are once the steps so far are taken.
    """
    name = soft_name(rail.intent)
    if parents.get(name) == netdev:
        return []
    add = Run(("rdma", "link", "add", name, "type", "rxe", "netdev", netdev))
    subject, after = rail.intent.name, f"{name} on {netdev}"
    here = next((device for device, parent in parents.items() if parent == netdev), None)
    make = add if here is None else Run(("rdma", "dev", "set", here, "name", name))
    if name in parents:
        delete = Run(("rdma", "link", "delete", name))
        before, disruptive = f"{name} on {parents[name]}", f"ends the connections of {name}"
        step = Step(subject, _SETTING, before, after, (delete, make), disruptive, depends_on)
    else:
        before = "" if here is None else f"{here} on {netdev}"
        step = Step(subject, _SETTING, before, after, (make,), depends_on=depends_on)
    parents.pop(here or "", None)
    parents[name] = netdev
    return [step]
