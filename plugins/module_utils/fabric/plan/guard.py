# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a plan must not interrupt: jobs that use a rail's RDMA device."""

from __future__ import annotations

from typing import Callable, Iterable

from ..errors import RefusedError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..model.plan import Plan
from ..ports import Port
from ..probe.collect import Reader
from ..resolve.bind import bind, soft_name


def guard_jobs(port: Port, intent: NodeIntent, facts: Callable[[], NodeFacts], allowed: bool) -> Callable[[Plan], None]:
    """A guard for disruptive steps; ``facts`` gives the facts that the plan was made from.

    It asks for users only when a plan has such a step: a run without change pays nothing. Where the answer cannot be
    had, the rail counts as used.
    """

    def guard(plan: Plan) -> None:
        rails = {step.subject for step in plan.steps if step.disruptive}
        if allowed or not rails:
            return
        now = facts()
        if now.rdma is None:
            reason = next((f": {item.source}: {item.reason}" for item in now.unread if item.subject == "rdma"), "")
            raise _refused(
                f"whether RDMA devices are in use cannot be told: they could not be read{reason}", sorted(rails)
            )
        known = {device.name for device in now.rdma}
        devices: dict[str, str] = {}
        for rail in bind(intent, now):
            # A soft RoCE device that sits on a wrong netdev is the rail's as well, by its name.
            # A bond may have an RDMA device on each of its ports.
            bound = (rail.rdma, *(item.rdma for item in rail.ports))
            names = {soft_name(rail.intent)} & known | {device.name for device in bound if device is not None}
            devices.update((name, rail.intent.name) for name in names if rail.intent.name in rails)
        for gone in sorted(rails - {rail.name for rail in intent.rails}):
            # A rail that the intent no longer has: which device carried it is not told, so it may be any.
            for name in known:
                devices.setdefault(name, gone)
        if not devices:
            return
        from ..parse.rdma_resource import parse_counts, parse_users  # noqa: PLC0415 - rarely needed

        reader = Reader(port)
        users = reader.tool(("rdma", "-j", "resource", "show", "qp"), parse_users, "rdma")
        counts = reader.tool(("rdma", "-j", "resource", "show"), parse_counts, "rdma") if users is not None else None
        if users is None or counts is None:
            why = reader.unread[0]
            raise _refused(
                f"whether {', '.join(sorted(devices))} is in use cannot be told: {why.source}: {why.reason}",
                devices.values(),
            )
        used = [f"{device} by {', '.join(users[device])}" for device in devices if device in users]
        # A job that has opened a device and is not yet connected: NCCL makes its queue pairs when it first needs them.
        opened = {device: counts.get(device, {}).get("ctx", 0) for device in devices if device not in users}
        used += [f"{device} by {count} process(es) that opened it" for device, count in opened.items() if count]
        if used:
            raise _refused(f"a change would interrupt jobs: {'; '.join(used)}", devices.values())

    return guard


def _refused(message: str, rails: Iterable[str]) -> RefusedError:
    roles = ("rail_naming", "rail_network", "rdma_stack", "roce_qos")
    remedy = f"Drain the node first, or allow it: {', '.join(f'{role}_allow_disruption' for role in roles)}"
    return RefusedError(message, ", ".join(sorted(set(rails))), remedy=remedy)
