# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch's variables in the inventory to a :class:`SwitchEntry`."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional

from ..errors import SpecError
from ..model.switch import SwitchEntry

VARIABLES = (
    "switch_os",
    "switch_ports",
    "switch_uplinks",
    "switch_os_version",
    "switch_buffer_model",
    "switch_asic",
    "switch_tx_queue",
)

# Names of front-panel ports: sonic-net/sonic-buildimage:src/sonic-yang-models/yang-models/sonic-port.yang (leaf name),
# Cumulus Linux user guide "Switch Port Attributes" (swp1, swp1s0), Arista EOS user manual "Ethernet Ports".
PORT_NAMES = {
    "sonic": re.compile(r"Ethernet(0|[1-9][0-9]{0,3})"),
    "cumulus": re.compile(r"swp[1-9][0-9]{0,2}(s[0-7])?"),
    "eos": re.compile(r"Ethernet[1-9][0-9]{0,2}(/[1-9][0-9]?){0,2}"),
}
EXAMPLES = {"sonic": "Ethernet0", "cumulus": "swp1 or swp1s0", "eos": "Ethernet1 or Ethernet1/1"}
CHOICES = {"switch_buffer_model": ("traditional", "dynamic"), "switch_tx_queue": ("tx-queue", "uc-tx-queue")}


def load(name: str, role: str, variables: Mapping[str, Any]) -> SwitchEntry:
    """The entry of one switch.

    :param role: leaf or spine, after the switch's group.
    :raises SpecError: for a variable that is missing, of the wrong shape, or not of this operating system.
    """
    system = variables.get("switch_os")
    if system not in PORT_NAMES:
        raise SpecError(
            "the switch's operating system is missing" if system is None else "this operating system is not known",
            f"{name}: switch_os",
            None if system is None else str(system),
            f"Use {', '.join(PORT_NAMES)}",
        )
    for key, choices in CHOICES.items():
        if variables.get(key, choices[0]) not in choices:
            raise SpecError(f"allowed are {', '.join(choices)}", f"{name}: {key}", str(variables[key]))
    ports, uplinks = _ports(name, system, variables), _uplinks(name, system, variables)
    if ports and role == "spine":
        raise SpecError(
            "a spine has no hosts", f"{name}: switch_ports", remedy="List its ports to other switches in switch_uplinks"
        )
    both = sorted({port for port, _host, _rail in ports or ()} & {port for port, _switch in uplinks})
    if both:
        raise SpecError("this port leads to a host, too", f"{name}: switch_uplinks.{both[0]}", remedy="Name it once")
    return SwitchEntry(
        name,
        role,
        str(system),
        ports,
        uplinks,
        _version(name, variables.get("switch_os_version")),
        str(variables.get("switch_buffer_model", "traditional")),
        str(variables.get("switch_asic", "")),
        str(variables.get("switch_tx_queue", "tx-queue")),
    )


def check_port(system: str, port: str, place: str, remedy: str = "") -> None:
    """Refuse a name that no port of this operating system has.

    :raises SpecError: naming the form that is expected.
    """
    if not PORT_NAMES[system].fullmatch(port):
        raise SpecError(
            f"no port of {system} has such a name", place, port, remedy or f"Write it like {EXAMPLES[system]}"
        )


def natural(name: str) -> list[tuple[int, str]]:
    """Key that sorts Ethernet2 before Ethernet10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]


def _table(name: str, system: str, variables: Mapping[str, Any], key: str) -> Optional[Mapping[str, Any]]:
    table = variables.get(key)
    if table is None:
        return None
    if not isinstance(table, Mapping) or not all(isinstance(entry, Mapping) for entry in table.values()):
        raise SpecError("a mapping of ports to mappings is expected", f"{name}: {key}", repr(table)[:80])
    for port in table:
        check_port(system, str(port), f"{name}: {key}")
    return table


def _ports(name: str, system: str, variables: Mapping[str, Any]) -> Optional[tuple[tuple[str, str, str], ...]]:
    table = _table(name, system, variables, "switch_ports")
    if table is None:
        return None
    found = []
    for port in sorted(table, key=natural):
        entry = table[port]
        if set(entry) != {"host", "rail"}:
            raise SpecError(
                "a port has the keys host and rail", f"{name}: switch_ports.{port}", ", ".join(map(str, entry))
            )
        found.append((port, str(entry["host"]), str(entry["rail"])))
    return tuple(found)


def _uplinks(name: str, system: str, variables: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    table = _table(name, system, variables, "switch_uplinks") or {}
    found = []
    for port in sorted(table, key=natural):
        if set(table[port]) != {"switch"}:
            raise SpecError(
                "an uplink has the key switch", f"{name}: switch_uplinks.{port}", ", ".join(map(str, table[port]))
            )
        found.append((port, str(table[port]["switch"])))
    return tuple(found)


def _version(name: str, version: Any) -> tuple[int, ...]:
    if version is None:
        return ()
    if not isinstance(version, str) or not re.fullmatch(r"[0-9]+(\.[0-9]+)*", version):
        raise SpecError("a version is expected", f"{name}: switch_os_version", str(version), 'Quote it, like "5.14"')
    return tuple(int(part) for part in version.split("."))
