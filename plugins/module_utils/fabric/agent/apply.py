# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright apply``: the node's intent in force, at boot and whenever hardware comes back."""

from __future__ import annotations

from typing import TextIO

from ..apply.concerns import apply_network, apply_qos, apply_stack
from ..apply.lock import LOCK, locked
from ..apply.run import Timer
from ..apply.safety import FOLDER, Safety, last_undone, undone_intent
from ..apply.undo import undo
from ..errors import ApplyError, MissingError, ReadError, RefusedError, UnsupportedError
from ..model.document import load
from ..model.intent import NodeIntent
from ..model.plan import Plan
from ..plan.qos import RELEASED
from ..ports import Port
from ..probe.node import probe
from ..resolve.bind import bind
from .options import Options

# NIC drivers with large firmware take up to a minute after the kernel is up; the network manager needs seconds.
NIC_BOUND_S, NETWORK_BOUND_S = 60.0, 10.0
# A netdev is followed by its RDMA device; a run of Ansible that holds the lock may be what flapped the link.
EVENT_SETTLE_S, EVENT_BOUND_S = 0.5, 60.0
# A change may flap the link that asked for it: three changes within a minute are a loop, not a repair.
STAMPS = "/run/railwright/applied"
LIMIT, WINDOW_S = 3, 60.0


def apply(
    port: Port,
    options: Options,
    out: TextIO,
    lock: str = LOCK,
    timer: Timer = Timer(),  # noqa: B008 - frozen
) -> int:
    """Exit code 0: in force; 1: something is not, and the output says what.

    At boot it waits for what is late. It never interrupts jobs, and gives way to an Ansible run that holds the lock.
    After an event of the hardware it waits for such a run, and looks once more when it changed something, since more
    may have come back meanwhile. Only a person may change things as often as he likes.

    :raises IntentError: without a usable intent.
    """
    intent = load(port)
    boot, event = "--boot" in options, "--event" in options
    if boot:
        undo(FOLDER, lock=lock)
    if event:
        timer.sleep(EVENT_SETTLE_S)
    plans: list[Plan] = []
    code = 0
    try:
        with locked("railwright apply", NIC_BOUND_S if boot else EVENT_BOUND_S if event else 0.0, lock, timer.sleep):
            if boot or event:
                _refuse_loop(_recent(port, timer.now()))
            code = _put_in_force(port, intent, timer, plans, boot=boot, counted=boot or event)
            if event and any(plan.steps for plan in plans):
                timer.sleep(EVENT_SETTLE_S)
                code = _put_in_force(port, intent, timer, plans, counted=True)
    except (ApplyError, ReadError, RefusedError) as error:
        _say(out, plans, str(error))
        return 1
    _say(out, plans, "" if any(plan.steps or plan.notes for plan in plans) else "nothing to change")
    return code


def _put_in_force(
    port: Port, intent: NodeIntent, timer: Timer, plans: list[Plan], *, boot: bool = False, counted: bool
) -> int:
    """Apply every concern; ``plans`` gets what was done, as far as it came. The answer is apply's exit code."""
    code = int(_wait_for_nics(port, intent, timer) if boot else _unbound(port, intent))
    done, failed = len(plans), False
    try:
        plans.append(apply_stack(port, intent, timer=timer)[0])
        plans.append(_network(port, intent, timer, boot))
        plans.append(_qos(port, intent, timer))
        _judge(plans[-1])
    except ApplyError:
        # What failed half-way and was put back has moved links all the same, and would at each event that it causes.
        failed = True
        raise
    finally:
        if counted and (failed or any(plan.steps for plan in plans[done:])):
            stamps = (*_recent(port, timer.now()), timer.now())
            port.write(STAMPS, "".join(f"{stamp}\n" for stamp in stamps), 0o600)
    return code


def _judge(plan: Plan) -> None:
    """Nothing, when all of the plan is done.

    :raises ApplyError: when something was tried and put back, which has moved links.
    :raises RefusedError: when something was not tried.
    """
    if plan.failed:
        raise ApplyError(plan.trouble)
    if plan.refused:
        raise RefusedError(plan.trouble)


def _say(out: TextIO, plans: list[Plan], last: str) -> None:
    lines = [str(line) for plan in plans for line in (*plan.steps, *plan.notes)]
    out.write("".join(f"{line}\n" for line in (*lines, last) if line))


def _unbound(port: Port, intent: NodeIntent) -> bool:
    """Whether a rail has no hardware."""
    return any(bound.problem for rail in bind(intent, probe(port, judged=False)) for bound in rail.ports)


def _wait_for_nics(port: Port, intent: NodeIntent, timer: Timer) -> bool:
    """Wait for the rails' NICs; returns whether a rail still has no hardware."""
    end = timer.now() + NIC_BOUND_S
    while _unbound(port, intent):
        if timer.now() >= end:
            return True
        timer.sleep(2.0)
    return False


def _network(port: Port, intent: NodeIntent, timer: Timer, boot: bool) -> Plan:
    """The rails' network settings; at boot the network manager, busy with the very same files, is waited for first.

    A change that cut the node off once is not made again until the controller's next run, which can confirm it.
    A network manager that this version cannot drive is no fault of the node: the site configures the rails itself.
    """
    if undone_intent(port) == intent.spec_hash:
        return Plan("network", notes=(f"rails left alone: {last_undone(port)}",))
    watch = Safety(port, intent.spec_hash)
    end = timer.now() + NETWORK_BOUND_S
    try:
        while boot and timer.now() < end and apply_network(port, intent, check=True, allow_disruption=True).steps:
            timer.sleep(1.0)
        return apply_network(port, intent, timer=timer, watch=watch)
    except UnsupportedError as error:
        return Plan("network", notes=(f"rails left alone: {error}",))


def _qos(port: Port, intent: NodeIntent, timer: Timer) -> Plan:
    """The rails' lossless settings, which a reboot, a new netdev and a driver that was loaded again have lost."""
    if port.exists(RELEASED):
        return Plan("qos", notes=(f"lossless settings left alone: they were given back ({RELEASED})",))
    return apply_qos(port, intent, timer=timer)


def _recent(port: Port, now: float) -> list[float]:
    """When the agent changed something lately, by itself."""
    try:
        stamps = [float(line) for line in port.read(STAMPS).splitlines()]
    except (MissingError, ValueError):
        return []
    return [stamp for stamp in stamps if now - WINDOW_S < stamp <= now]


def _refuse_loop(recent: list[float]) -> None:
    """Nothing, as long as changes are few.

    :raises ApplyError: when there were so many that something must undo them.
    """
    if len(recent) >= LIMIT:
        raise ApplyError(
            f"{len(recent)} changes within {WINDOW_S:g} s: something undoes them, so nothing was done",
            "railwright apply",
            remedy="See what else configures the rails: journalctl -u railwright-apply -u systemd-networkd",
        )
