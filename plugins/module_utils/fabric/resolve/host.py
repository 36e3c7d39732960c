# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A host's groups and variables to a :class:`Host`: its unit, its number, its hardware with overrides applied."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from ..errors import SpecError
from ..model.codec import decode
from ..model.intent import DeviceMatch
from ..model.spec import FabricSpec, HardwareProfile, Host, RailHardware
from ..records import replace
from .bind import describe

MATCH_KEYS = ("pci", "slot", "path", "mac", "guid")
HARDWARE_PREFIX = "hw_"

# The variables that a host may set; whoever gathers them for the resolver reads these and no others.
VARIABLES = ("fabric_profile", "fabric_devices", "fabric_node_id", "fabric_unit", "fabric_addresses")


def load(spec: FabricSpec, name: str, groups: Iterable[str], variables: Mapping[str, Any]) -> Host:
    """One host of the inventory.

    :param groups: names of the groups that the host is in.
    :param variables: its ``VARIABLES``, plain data; a missing one is absent or ``None``.
    :raises SpecError: naming host, variable, value and remedy.
    """
    memberships = sorted(groups)
    unit = _unit(spec, name, memberships, variables.get("fabric_unit"))
    node_id = variables.get("fabric_node_id")
    if node_id is not None and (not isinstance(node_id, int) or isinstance(node_id, bool) or node_id < 0):
        raise SpecError("a whole number is expected", f"{name}: fabric_node_id", repr(node_id))
    raw_addresses = variables.get("fabric_addresses") or {}
    return Host(
        name=name,
        unit=unit,
        profile=_profile(spec, name, memberships, variables),
        node_id=node_id,
        addresses=_addresses(spec, raw_addresses, f"{name}: fabric_addresses"),
    )


def _unit(spec: FabricSpec, name: str, groups: list[str], stated: Optional[Any]) -> str:
    known = ", ".join(spec.units)
    if stated is not None:
        if stated not in spec.units:
            raise SpecError("there is no such unit", f"{name}: fabric_unit", str(stated), f"Units are {known}")
        return str(stated)
    units = [group for group in groups if group in spec.units]
    if not units:
        raise SpecError(
            "the host is in no unit",
            name,
            remedy=f"Put it into one group named like a unit ({known}), or set fabric_unit",
        )
    if len(units) > 1:
        raise SpecError(
            "the host is in two units", name, ", ".join(units), "Leave it in one of these groups, or set fabric_unit"
        )
    return units[0]


def _profile(spec: FabricSpec, name: str, groups: list[str], variables: Mapping[str, Any]) -> HardwareProfile:
    models = [group for group in groups if group.startswith(HARDWARE_PREFIX)]
    if len(models) != 1:
        found = ", ".join(models) or "none"
        raise SpecError(
            "a host is in exactly one group of its hardware", name, found, "Put it into one group hw_<model>"
        )
    raw = variables.get("fabric_profile")
    if raw is None:
        raise SpecError(
            "the hardware profile is not defined",
            f"{name}: fabric_profile",
            remedy=f"Write it to group_vars/{models[0]}.yml; playbooks/discover.yml makes one from a live node",
        )
    profile = decode(HardwareProfile, _with_rails(raw), f"{models[0]}: fabric_profile", SpecError)
    devices = variables.get("fabric_devices") or {}
    place = f"{name}: fabric_devices"
    if not isinstance(devices, Mapping):
        raise SpecError("a mapping of rails is expected", place, repr(devices))
    _check_rails(spec, devices, place)
    rails = dict(profile.rails)
    for rail, entry in devices.items():
        override = decode(RailHardware, _with_ports(entry), f"{place}.{rail}", SpecError)
        rails[rail] = _overridden(rails.get(rail), override)
    for rail, hardware in rails.items():
        where = f"{place}.{rail}" if rail in devices else f"{models[0]}: fabric_profile.rails.{rail}"
        _check_ports(hardware, where)
    _check_distinct(rails, place if devices else f"{models[0]}: fabric_profile")
    return HardwareProfile(profile.model, rails, profile.soft_roce)


def _with_rails(raw: Any) -> Any:
    """A profile in the shape of the model: each port has its list of alternatives."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("rails"), Mapping):
        return raw
    return {**raw, "rails": {rail: _with_ports(entry) for rail, entry in raw["rails"].items()}}


def _with_ports(raw: Any) -> Any:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("ports"), (list, tuple)):
        return raw
    return {**raw, "ports": [_with_match(port) for port in raw["ports"]]}


def _with_match(raw: Any) -> Any:
    """A port whose match may be written out at its top: ``{pci: …}`` is ``{match: [{pci: …}]}``."""
    if not isinstance(raw, Mapping):
        return raw
    match = {key: value for key, value in raw.items() if key in MATCH_KEYS}
    rest = {key: value for key, value in raw.items() if key not in MATCH_KEYS}
    # With both, the keys at the top hold for every alternative.
    alternatives = rest.get("match", [{}])
    if isinstance(alternatives, (list, tuple)):
        alternatives = [{**match, **entry} if isinstance(entry, Mapping) else entry for entry in alternatives]
    return {**rest, "match": alternatives}


def _overridden(profile: Optional[RailHardware], host: RailHardware) -> RailHardware:
    """The host's ports; what else the profile says of the rail (GPU, NUMA node …) stays, unless the host says more."""
    if profile is None:
        return host
    said = {key: value for key, value in vars(host).items() if value is not None}
    merged: RailHardware = replace(profile, **said)
    return merged


def _check_ports(hardware: RailHardware, place: str) -> None:
    if not hardware.ports:
        raise SpecError("a rail has at least one port", f"{place}.ports")
    for number, port in enumerate(hardware.ports):
        if not port.match or any(match == DeviceMatch() for match in port.match):
            raise SpecError(
                "the port does not say which NIC it is",
                f"{place}.ports[{number}]",
                remedy=f"Give one of {', '.join(MATCH_KEYS)}",
            )


def _check_distinct(rails: Mapping[str, RailHardware], place: str) -> None:
    """No two ports are one and the same."""
    owner: dict[tuple[DeviceMatch, int], str] = {}
    for rail, hardware in rails.items():
        for port in hardware.ports:
            for match in port.match:
                key = (match, port.rdma_port)
                if key in owner:
                    raise SpecError(
                        f"{owner[key]} and {rail} name the same port",
                        place,
                        describe(match),
                        "Give each rail a NIC or a port of its own",
                    )
                owner[key] = rail


def _check_rails(spec: FabricSpec, named: Iterable[str], place: str) -> None:
    rails = [rail.name for rail in spec.rails]
    for rail in named:
        if rail not in rails:
            raise SpecError("there is no such rail", place, str(rail), f"Rails are {', '.join(rails)}")


def _addresses(spec: FabricSpec, raw: Any, place: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(raw, Mapping):
        raise SpecError("a mapping of rails to lists of addresses is expected", place, repr(raw))
    _check_rails(spec, raw, place)
    for rail, values in raw.items():
        if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
            raise SpecError("a list of addresses is expected", f"{place}.{rail}", repr(values))
    return {str(rail): tuple(values) for rail, values in raw.items()}
