# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A :class:`SwitchIntent` setting by setting, port by port: what the switch's own dump is held against."""

from __future__ import annotations

from ..model.switch import Key, SwitchIntent, SwitchPort
from .switch_limits import sonic_cable, sonic_poll_ms

ON, OFF = "on", "off"
NONE = "none"
LOSSLESS_PROFILE = "egress_lossless_profile"  # sonic-net/sonic-buildimage:files/build_templates/buffers_config.j2
# SONiC's own platforms that have this map; others refuse it (qos_config.j2, pfc_to_pg_map_supported_asics).
PFC_TO_PG_ASICS = ("mellanox", "barefoot")
EOS_FIXED_PRIORITY = 7  # traffic class and transmit queue 7 belong together and cannot be mapped (Arista EOS, "QoS")


def expected(intent: SwitchIntent) -> dict[str, dict[Key, str]]:
    """By port the value of each setting, as text; numbers in bytes, milliseconds and percent."""
    return {port.name: {**_common(intent), **_by_system(intent, port)} for port in intent.ports}


def numbers(values: tuple[int, ...]) -> str:
    """``3,4``, or ``none``."""
    return ",".join(str(value) for value in sorted(values)) or NONE


def schedule(tsa: str, share: int) -> str:
    """``strict`` or ``ets 50``."""
    return f"ets {share}" if tsa == "ets" else tsa


def _common(intent: SwitchIntent) -> dict[Key, str]:
    wanted: dict[Key, str] = {
        ("link", None): "up",
        ("mtu", None): str(intent.mtu),
        ("trust", None): "dscp",
        ("remark", None): OFF,
        ("shaper", None): NONE,
        ("pfc", None): numbers(intent.pfc),
        ("watchdog", None): ON if intent.watchdog else OFF,
    }
    for dscp, priority in enumerate(intent.dscp_priority):
        wanted["dscp", dscp] = str(priority)
    for priority, queue in enumerate(intent.priority_queue):
        if intent.os != "eos" or priority != EOS_FIXED_PRIORITY:
            wanted["priority", priority] = str(queue)
    for queue in intent.queues:
        wanted["schedule", queue] = schedule(intent.tsa[queue], intent.share[queue])
        if intent.os != "cumulus":
            wanted["shaper", queue] = NONE
    for queue in sorted({intent.data_queue, *intent.ecn_queues}):
        wanted["ecn", queue] = ON if queue in intent.ecn_queues else OFF
        if queue in intent.ecn_queues and intent.ecn is not None:
            wanted["ecn_min_bytes", queue] = str(intent.ecn.min_bytes)
            wanted["ecn_max_bytes", queue] = str(intent.ecn.max_bytes)
            wanted["ecn_probability", queue] = str(intent.ecn.probability)
    if intent.watchdog is not None:
        wanted["watchdog_detection_ms", None] = str(intent.watchdog.detection_ms)
        wanted["watchdog_restoration_ms", None] = str(intent.watchdog.restoration_ms)
        wanted["watchdog_action", None] = intent.watchdog.action
    return wanted


def _by_system(intent: SwitchIntent, port: SwitchPort) -> dict[Key, str]:
    if intent.os == "eos":
        return {("pause", None): OFF}
    if intent.os == "cumulus":
        wanted: dict[Key, str] = {("pause", None): OFF, ("roce_mode", None): "lossless" if intent.pfc else "lossy"}
        if intent.pfc:
            wanted["cable_length", None] = f"{cumulus_cable_m(intent)}m"
            wanted["lossless_percent", None] = str(intent.lossless_percent)
        return wanted
    wanted = {("priority_group", priority): str(priority_group(intent, priority)) for priority in range(8)}
    for priority in intent.pfc:
        wanted["pause_queue", priority] = str(intent.priority_queue[priority])
        wanted["lossless_buffer", intent.priority_queue[priority]] = LOSSLESS_PROFILE
        wanted["headroom", priority] = ON
        if intent.entry.asic in PFC_TO_PG_ASICS:
            wanted["pause_group", priority] = str(priority)
    if intent.entry.buffer_model == "dynamic":
        wanted.update({("headroom", priority): OFF for priority in range(8) if priority not in intent.pfc})
    if intent.pfc:
        wanted["buffer_model", None] = intent.entry.buffer_model
        wanted["asymmetric_pfc", None] = OFF
        wanted["cable_length", None] = sonic_cable(intent, port.cable_length_m)
        wanted["watchdog_priorities", None] = numbers(intent.pfc)
    if intent.watchdog is not None:
        wanted["watchdog_poll_ms", None] = str(sonic_poll_ms(intent.watchdog))
    return wanted


def priority_group(intent: SwitchIntent, priority: int) -> int:
    """Ingress priority group: each lossless priority has its own, all others share one that is not lossless."""
    if priority in intent.pfc:
        return priority
    return next(group for group in range(8) if group not in intent.pfc)


def cumulus_cable_m(intent: SwitchIntent) -> int:
    """The switch's one cable length is that of its longest cable: too much headroom does no harm, too little drops."""
    return max(port.cable_length_m for port in intent.ports)
