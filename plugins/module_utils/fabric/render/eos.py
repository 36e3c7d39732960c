# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of an Arista EOS configuration, to be merged into the running one.

Lines and their nesting: aristanetworks/avd, python-avd/pyavd/_eos_cli_config_gen/j2templates/eos/qos-profiles.j2,
ethernet-interface-tx-queues.j2, ethernet-interface-uc-tx-queues.j2 and priority-flow-control.j2, and
molecule/eos_cli_config_gen/documentation/devices/qos.md (``qos map``, ``service-profile``). Headroom is the platform's
own affair: EOS sizes it itself.
"""

from __future__ import annotations

from typing import Iterator

from ..model.switch import SwitchIntent, Watchdog
from ..resolve.switch_settings import EOS_FIXED_PRIORITY

PROFILE = "RAILWRIGHT"


def render(intent: SwitchIntent) -> str:
    """The lines, in the order of a running configuration.

    What is not wanted is said as well: the lines are merged, and an earlier profile's would stay.
    """
    lines = [
        *_maps(intent),
        "!",
        f"qos profile {PROFILE}",
        *(f"   {line}" for line in _profile(intent)),
        "!",
    ]
    for port in intent.ports:
        lines += [
            f"interface {port.name}",
            f"   description {port.description}",
            f"   mtu {intent.mtu}",
            f"   service-profile {PROFILE}",
            "!",
        ]
    if intent.watchdog is not None:
        lines += [*_timers(intent.watchdog), "!"]
    return "\n".join(lines) + "\n"


def _maps(intent: SwitchIntent) -> Iterator[str]:
    for priority in range(8):
        points = [str(dscp) for dscp, to in enumerate(intent.dscp_priority) if to == priority]
        if points:
            yield f"qos map dscp {' '.join(points)} to traffic-class {priority}"
    for queue in intent.queues:
        classes = [str(p) for p, to in enumerate(intent.priority_queue) if to == queue and p != EOS_FIXED_PRIORITY]
        if classes:
            yield f"qos map traffic-class {' '.join(classes)} to tx-queue {queue}"


def _profile(intent: SwitchIntent) -> Iterator[str]:
    yield "qos trust dscp"
    for queue in intent.queues:
        yield "!"
        yield f"{intent.entry.tx_queue} {queue}"
        if intent.tsa[queue] == "strict":
            yield "   priority strict"
            yield "   no bandwidth percent"
        else:
            yield "   no priority"
            yield f"   bandwidth percent {intent.share[queue]}"
        if queue in intent.ecn_queues and intent.ecn is not None:
            yield (
                f"   random-detect ecn minimum-threshold {intent.ecn.min_bytes} bytes "
                f"maximum-threshold {intent.ecn.max_bytes} bytes max-mark-probability {intent.ecn.probability}"
            )
        else:
            yield "   no random-detect ecn"
    yield "!"
    yield "priority-flow-control on" if intent.pfc else "no priority-flow-control"
    for priority in range(8):
        yield f"priority-flow-control priority {priority} {'no-drop' if priority in intent.pfc else 'drop'}"
    yield f"{'' if intent.watchdog is not None else 'no '}priority-flow-control pause watchdog"


def _timers(watchdog: Watchdog) -> list[str]:
    """Times in seconds; polled twice within the shorter one, as EOS wants it (Arista EOS, "PFC Watchdog")."""
    poll = min(watchdog.detection_ms, watchdog.restoration_ms) / 2
    head = "priority-flow-control pause watchdog"
    return [
        f"{head} default timeout {watchdog.detection_ms / 1000:.2f}",
        f"{head} default recovery-time {watchdog.restoration_ms / 1000:.2f}",
        f"{head} default polling-interval {poll / 1000:.3f}",
        f"{head} action {watchdog.action}",
    ]
