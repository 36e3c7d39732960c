# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What an operating system of switches cannot be told, refused before anything is rendered."""

from __future__ import annotations

from typing import Optional

from ..errors import SpecError
from ..model.spec import Link
from ..model.switch import Ecn, SwitchIntent, SwitchSpec, Watchdog
from .derive import gbps

# ECN thresholds that hold the delay at which marking begins and is full the same at any speed: 100 kB and 400 kB for
# each 25 Gbit/s, with a probability of 20 % (alibaba-edu/High-Precision-Congestion-Control:simulation/run.py, kmin_map,
# kmax_map and pmax_map of DCQCN; Li et al., "HPCC", SIGCOMM 2019, section 5.1).
KMIN_BYTES, KMAX_BYTES, PER_GBPS, PROBABILITY = 100_000, 400_000, 25, 20

# Where the spec gives no speed: 150000 and 1500000 bytes, 100 %, the defaults of NVIDIA's switches at any speed
# (Cumulus Linux user guide, "Congestion Control (ECN)").
ANY_SPEED = Ecn(150_000, 1_500_000, 100)

# Milliseconds that each takes: sonic-net/sonic-buildimage:src/sonic-yang-models/yang-models/sonic-pfcwd.yang;
# Arista EOS, "PFC Watchdog": 0.01 to 60 s in steps of 10 ms (aristanetworks/avd: priority_flow_control.schema.yml).
SONIC_DETECTION, SONIC_RESTORATION, SONIC_POLL = (100, 5000), (100, 60_000), (100, 1000)
EOS_TIMES, EOS_STEP = (10, 60_000), 10

# NVUE's polling-interval in milliseconds, and robustness (CumulusNetworks/docs, What's New in Cumulus Linux 5.6:
# ``nv set qos pfc-watchdog polling-interval 100-5000``, ``robustness 1-1000``).
CUMULUS_POLL, CUMULUS_TIMES = (100, 5000), (1, 1000)

# Cable lengths that every pg_profile_lookup.ini of SONiC knows; for another one the switch makes no headroom at all
# (sonic-net/sonic-swss:cfgmgr/buffermgr.cpp, "No PG profile configured for speed %s and cable length %s").
SONIC_CABLES = (5, 40, 300)


def ecn(spec: SwitchSpec, link: Link) -> Ecn:
    """Thresholds of a fabric's links: the spec's own, or those that follow from their speed."""
    if spec.ecn is not None:
        return spec.ecn
    speed = gbps(link.speed)
    if speed is None:
        return ANY_SPEED
    return Ecn(int(KMIN_BYTES * speed / PER_GBPS), int(KMAX_BYTES * speed / PER_GBPS), PROBABILITY)


def check_spec(spec: SwitchSpec, place: str) -> None:
    """What contradicts itself in the spec's section, whatever switches there are.

    :raises SpecError: naming the key.
    """
    marking = spec.ecn
    if marking is not None and not 0 < marking.min_bytes < marking.max_bytes:
        raise SpecError(
            "marking begins at min_bytes, and max_bytes lies above it",
            f"{place}.ecn",
            f"{marking.min_bytes} and {marking.max_bytes}",
        )
    if marking is not None and not 1 <= marking.probability <= 100:
        raise SpecError("a percentage of 1 to 100 is expected", f"{place}.ecn.probability", str(marking.probability))
    if not 1 <= spec.buffers.lossless_percent <= 99:
        raise SpecError(
            "lossy traffic needs memory, too: 1 to 99 is expected",
            f"{place}.buffers.lossless_percent",
            str(spec.buffers.lossless_percent),
        )
    if spec.pfc_watchdog.action not in ("drop", "forward"):
        raise SpecError("drop or forward is expected", f"{place}.pfc_watchdog.action", spec.pfc_watchdog.action)


def check(intent: SwitchIntent) -> None:
    """Refuse what this switch's operating system has no words for.

    :raises SpecError: naming the spec's key and the switch.
    """
    place = f"fabric_spec.fabrics.{intent.fabric}.qos"
    check_os = {"sonic": _sonic, "cumulus": _cumulus, "eos": _eos}[intent.os]
    check_os(intent, intent.watchdog, place)


def sonic_poll_ms(watchdog: Watchdog) -> int:
    """POLL_INTERVAL: as rare as allowed, since neither time may be below it (sonic-pfcwd.yang)."""
    return min(watchdog.detection_ms, watchdog.restoration_ms, SONIC_POLL[1])


def sonic_cable(intent: SwitchIntent, metres: int) -> str:
    """CABLE_LENGTH of a port: in the traditional buffer model the next one that has a headroom profile."""
    if intent.entry.buffer_model == "dynamic":
        return f"{metres}m"
    return f"{next(known for known in SONIC_CABLES if known >= metres)}m"


def _sonic(intent: SwitchIntent, watchdog: Optional[Watchdog], place: str) -> None:
    if watchdog is not None:
        _within(watchdog.detection_ms, SONIC_DETECTION, f"{place}.switch.pfc_watchdog.detection_ms", intent)
        _within(watchdog.restoration_ms, SONIC_RESTORATION, f"{place}.switch.pfc_watchdog.restoration_ms", intent)
    longest = max(port.cable_length_m for port in intent.ports)
    if intent.pfc and intent.entry.buffer_model == "traditional" and longest > SONIC_CABLES[-1]:
        raise SpecError(
            f"{intent.name} runs SONiC with the traditional buffer model, which has headroom for 300 m at most",
            f"{place}.cable_length or switch.uplink_cable_length",
            f"{longest}m",
            "Use shorter cables, or set switch_buffer_model: dynamic where the switch runs it",
        )


def _cumulus(intent: SwitchIntent, watchdog: Optional[Watchdog], place: str) -> None:
    if len(intent.pfc) > 1:
        raise SpecError(
            f"{intent.name} runs Cumulus Linux, which has one lossless priority in RoCE mode",
            f"{place}.pfc",
            ", ".join(map(str, intent.pfc)),
            "Keep the data's priority only",
        )
    if watchdog is None:
        return
    _drops(watchdog, place, intent)
    if watchdog.detection_ms % watchdog.restoration_ms:
        raise SpecError(
            f"{intent.name} runs Cumulus Linux, which detects after several polling intervals and restores after one",
            f"{place}.switch.pfc_watchdog.detection_ms",
            str(watchdog.detection_ms),
            "Use a multiple of restoration_ms",
        )
    _within(watchdog.restoration_ms, CUMULUS_POLL, f"{place}.switch.pfc_watchdog.restoration_ms", intent)
    if not CUMULUS_TIMES[0] <= watchdog.detection_ms // watchdog.restoration_ms <= CUMULUS_TIMES[1]:
        raise SpecError(
            f"{intent.name} runs Cumulus Linux, which detects after {CUMULUS_TIMES[1]} polling intervals at most",
            f"{place}.switch.pfc_watchdog.detection_ms",
            str(watchdog.detection_ms),
            "Use a longer restoration_ms, or a shorter detection_ms",
        )


def _eos(intent: SwitchIntent, watchdog: Optional[Watchdog], place: str) -> None:
    for priority in (*intent.pfc, *(p for p in (7,) if intent.tsa[intent.priority_queue[7]] == "strict")):
        if intent.priority_queue[priority] != priority:
            raise SpecError(
                f"{intent.name} runs EOS, where pause frames of a priority, and priority 7 as a whole, belong to the "
                "transmit queue of the same number",
                f"{place}.traffic_classes",
                f"priority {priority} in class {intent.priority_queue[priority]}",
                f"Give priority {priority} the class {priority}",
            )
    if watchdog is not None:
        _drops(watchdog, place, intent)
        for key, value in (("detection_ms", watchdog.detection_ms), ("restoration_ms", watchdog.restoration_ms)):
            _within(value, EOS_TIMES, f"{place}.switch.pfc_watchdog.{key}", intent)
            if value % EOS_STEP:
                raise SpecError(
                    f"{intent.name} runs EOS, which takes steps of {EOS_STEP} ms",
                    f"{place}.switch.pfc_watchdog.{key}",
                    str(value),
                )


def _drops(watchdog: Watchdog, place: str, intent: SwitchIntent) -> None:
    """Neither Cumulus Linux nor EOS can go on sending into a paused queue."""
    if watchdog.action != "drop":
        raise SpecError(
            f"{intent.name} runs {intent.os}, whose watchdog drops",
            f"{place}.switch.pfc_watchdog.action",
            watchdog.action,
            "Use drop",
        )


def _within(value: int, limits: tuple[int, int], place: str, intent: SwitchIntent) -> None:
    if not limits[0] <= value <= limits[1]:
        raise SpecError(f"{intent.name} runs {intent.os}, which takes {limits[0]} to {limits[1]} ms", place, str(value))
