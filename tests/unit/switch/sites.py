# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The 8-rail example's leaf and spine on each operating system, as the tests of switches want them."""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Optional

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import NodeIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.spec import FabricSpec
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.switch import SwitchIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.render import render
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import fabric, host, spec, switch_entry
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.switches import resolve_switches

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SYSTEMS = ("sonic", "cumulus", "eos")
# The second port of a breakout, the way each system writes it, and an uplink.
PORTS = {
    "sonic": ("Ethernet0", "Ethernet8", "Ethernet248"),
    "cumulus": ("swp1s0", "swp1s1", "swp32"),
    "eos": ("Ethernet1/1", "Ethernet1/5", "Ethernet32/1"),
}


def site(qos: Optional[dict[str, Any]] = None, drivers: tuple[str, ...] = ()) -> tuple[FabricSpec, list[NodeIntent]]:
    """The example's spec with two of its nodes; ``qos`` changes keys of its section, None removes one."""
    return _site(json.dumps(qos or {}), drivers)


@lru_cache(maxsize=None)
def _site(qos: str, drivers: tuple[str, ...]) -> tuple[FabricSpec, list[NodeIntent]]:
    data = json.loads((FIXTURES / "intent/roce-8rail/input.json").read_text(encoding="utf-8"))
    section = data["spec"]["fabrics"]["compute"]["qos"]
    for key, value in json.loads(qos).items():
        section[key] = value
        if value is None:
            del section[key]
    wanted = spec.load(data["spec"])
    hosts = []
    for number, name in enumerate(("gpu001", "gpu002")):
        variables = copy.deepcopy(data["hosts"]["gpu001"]["variables"])
        variables["fabric_node_id"] = 11 + number
        if drivers:
            for rail in variables["fabric_profile"]["rails"].values():
                rail["driver"] = drivers[number]
        hosts.append(host.load(wanted, name, data["hosts"]["gpu001"]["groups"], variables))
    return wanted, list(fabric.resolve_all(wanted, hosts))


def variables(system: str, role: str = "leaf", **more: Any) -> dict[str, Any]:
    """What the inventory says of a leaf of rail 0 or of a spine above it."""
    first, second, third = PORTS[system]
    if role == "spine":
        return {
            "switch_os": system,
            "switch_uplinks": {first: {"switch": "su1-leaf0"}, second: {"switch": "su2-leaf0"}},
            **more,
        }
    return {
        "switch_os": system,
        "switch_ports": {first: {"host": "gpu001", "rail": "rail0"}, second: {"host": "gpu002", "rail": "rail0"}},
        "switch_uplinks": {third: {"switch": "spine0"}},
        **more,
    }


def intent(
    system: str, role: str = "leaf", qos: Optional[dict[str, Any]] = None, facts: Any = None, **more: Any
) -> SwitchIntent:
    """The intent of one switch of that site."""
    wanted, nodes = site(qos)
    name = "su1-leaf0" if role == "leaf" else "spine0"
    entry = switch_entry.load(name, role, variables(system, role, **more))
    return resolve_switches(wanted, nodes, [entry], facts or {})[0]


def dump(wanted: SwitchIntent) -> str:
    """What the switch would print, had it this configuration and nothing else."""
    if wanted.os == "cumulus":
        from ansible_collections.railwright.fabric.plugins.module_utils.fabric.render import cumulus

        return json.dumps([{"header": {"version": "5.14"}}, {"set": cumulus.document(wanted)}])
    if wanted.os == "sonic":
        return json.dumps(sonic_tables(wanted))
    return render(wanted) + "end\n"


def sonic_tables(wanted: SwitchIntent) -> dict[str, Any]:
    """The database of a SONiC with this configuration; its buffer model, and that its ports are up, are the site's."""
    from ansible_collections.railwright.fabric.plugins.module_utils.fabric.render import sonic

    tables = ports_up(sonic.document(wanted))
    tables["DEVICE_METADATA"] = {"localhost": {"hostname": wanted.name, "buffer_model": wanted.entry.buffer_model}}
    return tables


def ports_up(tables: dict[str, Any]) -> dict[str, Any]:
    """The same tables, with every port of them up."""
    for row in tables["PORT"].values():
        row["admin_status"] = "up"
    return tables
