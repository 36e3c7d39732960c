# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A fragment of SONiC's config_db, for ``config load``, which leaves all other tables and fields as they are.

Tables and fields: sonic-net/sonic-buildimage:files/build_templates/qos_config.j2 (maps, PORT_QOS_MAP, WRED_PROFILE,
SCHEDULER, QUEUE) and buffers_config.j2 (CABLE_LENGTH, BUFFER_PG, BUFFER_QUEUE); PFC_WD from
src/sonic-yang-models/yang-models/sonic-pfcwd.yang; PORT from sonic-port.yang; ``config load`` from
sonic-net/sonic-utilities:doc/Command-Reference.md.
"""

from __future__ import annotations

import json
from typing import Any, Optional

from ..model.switch import Ecn, SwitchIntent
from ..resolve.switch_limits import sonic_cable, sonic_poll_ms
from ..resolve.switch_settings import LOSSLESS_PROFILE, PFC_TO_PG_ASICS, priority_group

# Maps and profiles have a name of their own: those of the image stay what they are for all other ports.
NAME = "RAILWRIGHT"

# The one instance of this table that every image has, and the only one that its command line changes
# (sonic-net/sonic-utilities:config/main.py, cable_length).
CABLES = "AZURE"


def render(intent: SwitchIntent) -> str:
    """JSON, tables in the order of the traffic's way through the switch."""
    return json.dumps(document(intent), indent=2) + "\n"


def document(intent: SwitchIntent) -> dict[str, Any]:
    """The tables; all values are text, as in the database."""
    ports = [port.name for port in intent.ports]
    tables: dict[str, Any] = {
        "PORT": {port.name: {"mtu": str(intent.mtu), "description": port.description} for port in intent.ports},
        "DSCP_TO_TC_MAP": {NAME: {str(dscp): str(to) for dscp, to in enumerate(intent.dscp_priority)}},
        "TC_TO_PRIORITY_GROUP_MAP": {NAME: {str(p): str(priority_group(intent, p)) for p in range(8)}},
        "TC_TO_QUEUE_MAP": {NAME: {str(p): str(queue) for p, queue in enumerate(intent.priority_queue)}},
    }
    if intent.pfc:
        tables["MAP_PFC_PRIORITY_TO_QUEUE"] = {
            NAME: {str(priority): str(queue) for priority, queue in enumerate(intent.priority_queue)}
        }
        if intent.entry.asic in PFC_TO_PG_ASICS:
            tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {NAME: {str(p): str(p) for p in intent.pfc}}
    tables["PORT_QOS_MAP"] = {port: _port_qos(intent) for port in ports}
    tables["SCHEDULER"] = {f"{NAME}.{queue}": _scheduler(intent, queue) for queue in intent.queues}
    tables["WRED_PROFILE"] = {NAME: _wred(intent.ecn)}
    tables["QUEUE"] = {f"{port}|{queue}": _queue(intent, queue) for port in ports for queue in intent.queues}
    if intent.pfc:
        tables.update(_buffers(intent))
    if intent.watchdog is not None:
        watchdog = intent.watchdog
        entry = {
            "action": watchdog.action,
            "detection_time": str(watchdog.detection_ms),
            "restoration_time": str(watchdog.restoration_ms),
        }
        poll = {"POLL_INTERVAL": str(sonic_poll_ms(watchdog))}
        tables["PFC_WD"] = {"GLOBAL": poll, **{port: dict(entry) for port in ports}}
    return tables


def _port_qos(intent: SwitchIntent) -> dict[str, str]:
    """Without PFC the lists of priorities are empty: ``config load`` takes no field away."""
    maps = {"dscp_to_tc_map": NAME, "tc_to_queue_map": NAME, "tc_to_pg_map": NAME}
    maps["pfc_enable"] = maps["pfcwd_sw_enable"] = ",".join(map(str, intent.pfc))
    if intent.pfc:
        maps["pfc_to_queue_map"] = NAME
        if intent.entry.asic in PFC_TO_PG_ASICS:
            maps["pfc_to_pg_map"] = NAME
    return maps


def _scheduler(intent: SwitchIntent, queue: int) -> dict[str, str]:
    if intent.tsa[queue] == "strict":
        return {"type": "STRICT"}
    return {"type": "DWRR", "weight": str(intent.share[queue])}


def _wred(ecn: Optional[Ecn]) -> dict[str, str]:
    """Marks all colours alike: what is not metered is green, and no colour may be dropped where others are marked."""
    if ecn is None:
        return {"ecn": "ecn_none", **{f"wred_{colour}_enable": "false" for colour in ("green", "yellow", "red")}}
    profile = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        profile[f"wred_{colour}_enable"] = "true"
        profile[f"{colour}_min_threshold"] = str(ecn.min_bytes)
        profile[f"{colour}_max_threshold"] = str(ecn.max_bytes)
        profile[f"{colour}_drop_probability"] = str(ecn.probability)
    return profile


def _queue(intent: SwitchIntent, queue: int) -> dict[str, str]:
    entry = {"scheduler": f"{NAME}.{queue}"}
    if queue in intent.ecn_queues:
        entry["wred_profile"] = NAME
    return entry


def _buffers(intent: SwitchIntent) -> dict[str, Any]:
    """Cable lengths, from which the switch sizes its headroom, and lossless buffers.

    In the dynamic model a priority group asks for it by the profile NULL, in the traditional one the switch makes the
    groups from pfc_enable (src/sonic-yang-models/doc/Configuration.md, "BUFFER_PG"; sonic-swss:cfgmgr/buffermgr.cpp).
    """
    tables: dict[str, Any] = {
        "CABLE_LENGTH": {CABLES: {port.name: sonic_cable(intent, port.cable_length_m) for port in intent.ports}}
    }
    if intent.entry.buffer_model == "dynamic":
        tables["BUFFER_PG"] = {
            f"{port.name}|{priority}": {"profile": "NULL"} for port in intent.ports for priority in intent.pfc
        }
    queues = sorted({intent.priority_queue[priority] for priority in intent.pfc})
    tables["BUFFER_QUEUE"] = {
        f"{port.name}|{queue}": {"profile": LOSSLESS_PROFILE} for port in intent.ports for queue in queues
    }
    return tables
