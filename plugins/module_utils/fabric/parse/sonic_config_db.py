# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC's config_db as JSON: /etc/sonic/config_db.json, or ``sonic-cfggen -d --print-data``.

Tables and fields as in render/sonic.py; keys may name several ports and a range of queues
(sonic-net/sonic-buildimage:src/sonic-yang-models/doc/Configuration.md, "Buffer queue"), references may be written
``[TABLE|name]`` (the same document before database version 2).
"""

from __future__ import annotations

from typing import Any, Optional

from ..errors import ParseError
from ..model.switch import Key, SwitchState
from . import ranges
from .text import parse_json

TOOL = "config_db"
QUEUES = range(8)
COLOURS = ("green", "yellow", "red")

Row = Optional[dict[str, Any]]
Settings = dict[Key, Optional[str]]


def parse(text: str) -> SwitchState:
    """The settings of every port of table PORT.

    :raises ParseError: for what is no config_db.
    """
    data = parse_json(TOOL, text)
    if not isinstance(data, dict) or not isinstance(data.get("PORT"), dict):
        raise ParseError("no table PORT", f"{TOOL}:1", text.strip()[:80])
    tables = _Tables(data)
    host = tables.row("DEVICE_METADATA", "localhost") or {}
    model = str(host.get("buffer_model", "traditional"))
    name = host.get("hostname")
    ports = {port: _port(tables, port, model) for port in data["PORT"]}
    return SwitchState("sonic", ports, name if isinstance(name, str) else None)


class _Tables:
    """The database, with rows looked up by port and queue."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.indexed: dict[str, dict[tuple[str, int], list[dict[str, Any]]]] = {}

    def table(self, name: str) -> dict[str, Any]:
        """A table; an empty one where it is missing."""
        table = self.data.get(name, {})
        if not isinstance(table, dict):
            raise ParseError(f"table {name} is no mapping", f"{TOOL}:1", str(table)[:80])
        return table

    def row(self, table: str, key: str) -> Row:
        """One row, or ``None``."""
        return self._checked(table, self.table(table).get(key))

    def named(self, table: str, reference: Any) -> Row:
        """The row that a field refers to."""
        if not isinstance(reference, str):
            return None
        return self.row(table, reference.strip("[]").replace(":", "|").rpartition("|")[2])

    def at(self, table: str, port: str, number: int) -> Optional[list[dict[str, Any]]]:
        """Rows whose key covers this port and this queue or group."""
        if table not in self.indexed:
            index: dict[tuple[str, int], list[dict[str, Any]]] = {}
            for key, row in self.table(table).items():
                ports, _bar, numbers = key.rpartition("|")
                for name in ports.split(","):
                    for queue in ranges.numbers(numbers) or ():
                        index.setdefault((name, queue), []).append(self._checked(table, row) or {})
            self.indexed[table] = index
        return self.indexed[table].get((port, number))

    def field(self, table: str, port: str, number: int, name: str, missing: Optional[str]) -> Optional[str]:
        """A field of all rows that cover this place: ``missing`` where none has it, ``None`` where they disagree."""
        values = [row[name] for row in self.at(table, port, number) or () if name in row]
        if not values:
            return missing
        return values[0] if isinstance(values[0], str) and all(value == values[0] for value in values) else None

    @staticmethod
    def _checked(table: str, row: Any) -> Row:
        if row is not None and not isinstance(row, dict):
            raise ParseError(f"a row of {table} is no mapping", f"{TOOL}:1", str(row)[:80])
        return row


def _port(tables: _Tables, port: str, model: str) -> Settings:
    own = tables.row("PORT", port) or {}
    maps = tables.row("PORT_QOS_MAP", port) or {}
    found: Settings = {
        # Down by default (sonic-port.yang, admin_status).
        ("link", None): "up" if own.get("admin_status") == "up" else "down",
        ("mtu", None): ranges.whole(own.get("mtu")),
        ("remark", None): "on" if "tc_to_dscp_map" in maps else "off",
        ("shaper", None): _shaper(tables.named("SCHEDULER", maps.get("scheduler"))),
        ("buffer_model", None): model,
        ("asymmetric_pfc", None): str(own.get("pfc_asym", "off")),
        ("trust", None): _trust(maps),
        ("pfc", None): _list(maps.get("pfc_enable")),
        ("watchdog_priorities", None): _list(maps.get("pfcwd_sw_enable")),
        ("cable_length", None): _cable(tables, port),
    }
    _map(found, "dscp", tables.named("DSCP_TO_TC_MAP", maps.get("dscp_to_tc_map")))
    _map(found, "priority", tables.named("TC_TO_QUEUE_MAP", maps.get("tc_to_queue_map")))
    _map(found, "priority_group", tables.named("TC_TO_PRIORITY_GROUP_MAP", maps.get("tc_to_pg_map")))
    _map(found, "pause_group", tables.named("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", maps.get("pfc_to_pg_map")))
    _map(found, "pause_queue", tables.named("MAP_PFC_PRIORITY_TO_QUEUE", maps.get("pfc_to_queue_map")))
    for queue in QUEUES:
        _queue(tables, port, queue, found)
        found["lossless_buffer", queue] = _reference(tables.field("BUFFER_QUEUE", port, queue, "profile", "none"))
        group = _reference(tables.field("BUFFER_PG", port, queue, "profile", "none"))
        found["headroom", queue] = group and _headroom(group, model, own, found["cable_length", None])
    _watchdog(tables, port, maps, found)
    return found


def _headroom(group: str, model: str, port: dict[str, Any], cable: Optional[str]) -> str:
    """Whether a priority group has headroom for this port's speed and cable.

    The dynamic model asks for it by the profile NULL, the traditional one makes profiles by itself and names them after
    speed and cable (Configuration.md, "BUFFER_PG"; sonic-net/sonic-swss:cfgmgr/buffermgr.cpp).
    """
    if group == "none":
        return "off" if model == "dynamic" else "on"
    if group == "NULL":
        return "on"
    if not group.startswith("pg_lossless_"):
        return "off"
    speed, _line, length = group[len("pg_lossless_") :].partition("_")
    fits = speed == port.get("speed", speed) and cable in (None, length.partition("_")[0])
    return "on" if fits else group


def _shaper(scheduler: Row) -> str:
    """What bounds the rate, beside the share."""
    bounds = ((key, (scheduler or {}).get(key)) for key in ("cir", "pir"))
    return ", ".join(f"{key} {rate}" for key, rate in bounds if rate not in (None, "0")) or "none"


def _trust(maps: dict[str, Any]) -> str:
    """A port with neither map takes all traffic for one class."""
    dscp, pcp = "dscp_to_tc_map" in maps, "dot1p_to_tc_map" in maps
    return "both" if dscp and pcp else "dscp" if dscp else "pcp" if pcp else "none"


def _list(value: Any) -> Optional[str]:
    """``3,4`` sorted; a field that is not there switches nothing on."""
    if value is None or value == "":
        return "none"
    numbers = ranges.numbers(value) if isinstance(value, str) else None
    return ",".join(map(str, sorted(numbers))) if numbers is not None else None


def _map(found: Settings, setting: str, row: Row) -> None:
    for key, value in (row or {}).items():
        number = ranges.whole(key)
        if number is not None:
            found[setting, int(number)] = ranges.whole(value)


def _cable(tables: _Tables, port: str) -> Optional[str]:
    lengths = [
        table[port] for table in tables.table("CABLE_LENGTH").values() if isinstance(table, dict) and port in table
    ]
    if not lengths:
        return "none"
    return str(lengths[0]) if len(set(map(str, lengths))) == 1 else None


def _reference(value: Optional[str]) -> Optional[str]:
    return value if value is None else value.strip("[]").replace(":", "|").rpartition("|")[2]


def _queue(tables: _Tables, port: str, queue: int, found: Settings) -> None:
    scheduler = tables.named("SCHEDULER", tables.field("QUEUE", port, queue, "scheduler", None))
    found["schedule", queue], found["shaper", queue] = _schedule(scheduler), _shaper(scheduler)
    reference = tables.field("QUEUE", port, queue, "wred_profile", "")
    profile = tables.named("WRED_PROFILE", reference)
    if reference == "":
        found["ecn", queue] = "off"
    elif profile is None:
        found["ecn", queue] = None
    else:
        _ecn(found, queue, profile)


def _schedule(row: Row) -> Optional[str]:
    if row is None:
        return None
    if row.get("type") == "STRICT":
        return "strict"
    weight = ranges.whole(row.get("weight"))
    return f"ets {weight}" if row.get("type") in ("DWRR", "WRR") and weight else None


def _ecn(found: Settings, queue: int, profile: dict[str, Any]) -> None:
    """Green is what is not metered; other colours count where they are marked, too."""
    mode = profile.get("ecn", "ecn_none")
    marked = COLOURS if mode == "ecn_all" else tuple(colour for colour in COLOURS if colour in str(mode))
    enabled = [profile.get(f"wred_{colour}_enable") for colour in marked]
    if "green" not in marked or enabled[0] != "true":
        found["ecn", queue] = "off"
        return
    found["ecn", queue] = "on" if set(enabled) == {"true"} else None
    for setting, field in (
        ("ecn_min_bytes", "min_threshold"),
        ("ecn_max_bytes", "max_threshold"),
        ("ecn_probability", "drop_probability"),
    ):
        values = {ranges.whole(profile.get(f"{colour}_{field}")) for colour in marked}
        found[setting, queue] = values.pop() if len(values) == 1 else None


def _watchdog(tables: _Tables, port: str, maps: dict[str, Any], found: Settings) -> None:
    row = tables.row("PFC_WD", port)
    # A row cannot be taken away by a push, but nothing is watched where the port names no priority.
    found["watchdog", None] = "off" if row is None or maps.get("pfcwd_sw_enable") == "" else "on"
    if row is None:
        return
    action = row.get("action")
    found["watchdog_action", None] = action if isinstance(action, str) else None
    found["watchdog_detection_ms", None] = ranges.whole(row.get("detection_time"))
    found["watchdog_restoration_ms", None] = ranges.whole(row.get("restoration_time"))
    found["watchdog_poll_ms", None] = ranges.whole((tables.row("PFC_WD", "GLOBAL") or {}).get("POLL_INTERVAL"))
