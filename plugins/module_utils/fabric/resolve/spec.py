# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``fabric_spec`` as plain data to a :class:`FabricSpec`, with the checks that a schema cannot express."""

from __future__ import annotations

import datetime as dt
from typing import Any, Mapping

from ..errors import SpecError
from ..model.codec import decode, encode
from ..model.spec import SCHEMA, Addressing, Fabric, FabricSpec, Rail
from . import derive, networks, qos

PLACE = "fabric_spec"
HOST_MTU = 9000  # bytes: the common MTU of jumbo fabrics
# The loopback device, and folders of net.ipv4.conf (kernel Documentation/networking/ip-sysctl.rst).
RESERVED = ("all", "default", "lo")
UNIT_LISTS = ("subnet", "gateway", "aggregate", "leaf")


def check_version(raw: Any) -> None:
    """Refuse a spec of a schema that this core does not know, before its keys are judged by the wrong rules.

    :raises SpecError: also when the spec is missing.
    """
    if raw is None:
        raise SpecError(
            "the fabric spec is not defined", PLACE, remedy="Write it to group_vars/all/fabric.yml of the inventory"
        )
    if isinstance(raw, Mapping) and "schema" in raw and (raw["schema"] != SCHEMA or isinstance(raw["schema"], bool)):
        raise SpecError(
            f"this version of Railwright knows schema {SCHEMA} only",
            f"{PLACE}.schema",
            str(raw["schema"]),
            "Use the version of Railwright that the spec was written for",
        )


def load(raw: Any) -> FabricSpec:
    """The spec of its plain data (dict, list, str, int, float, bool).

    :raises SpecError: naming path, value and remedy of the first thing that is wrong.
    """
    check_version(raw)
    spec = decode(FabricSpec, _normal(raw), PLACE, SpecError)
    _check_addressing(spec.addressing, f"{PLACE}.addressing")
    for name, fabric in spec.fabrics.items():
        _check_fabric(spec, fabric, f"{PLACE}.fabrics.{name}")
    _check_rails(spec)
    networks.check_units(spec)
    _check_waivers(spec)
    return spec


def _normal(raw: Any) -> Any:
    """The spec in the shape of the model: one becomes a list of one, and defaults that depend on others are set."""
    if not isinstance(raw, Mapping):
        raise SpecError("a mapping is expected", PLACE, repr(raw))
    fabrics, units = raw.get("fabrics"), raw.get("units")
    spec = dict(raw)
    if isinstance(fabrics, Mapping):
        spec["fabrics"] = {name: _normal_fabric(entry, f"{PLACE}.fabrics.{name}") for name, entry in fabrics.items()}
    if isinstance(units, Mapping):
        spec["units"] = {
            unit: {rail: _normal_unit_rail(entry) for rail, entry in rails.items()}
            if isinstance(rails, Mapping)
            else rails
            for unit, rails in units.items()
        }
    return spec


def _normal_fabric(raw: Any, place: str) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    fabric = dict(raw)
    if raw.get("qos") is not None:
        # The codec takes plain data: the section, checked and with its defaults, joins the rest of the spec again.
        fabric["qos"] = encode(qos.load(raw["qos"], f"{place}.qos"))
    link = raw.get("link") or {}
    if raw.get("transport") == "roce" and isinstance(link, Mapping):
        fabric["link"] = {"host_mtu": HOST_MTU, **link}
    return fabric


def _normal_unit_rail(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    return {key: [value] if key in UNIT_LISTS and isinstance(value, str) else value for key, value in raw.items()}


def _check_addressing(addressing: Addressing, place: str) -> None:
    if addressing.mode == "unnumbered":
        raise SpecError("unnumbered rails are reserved, not yet there", f"{place}.mode", "unnumbered", "Use p2p31")
    if addressing.families not in ((4,), (6,), (4, 6)):
        raise SpecError("families are [4], [6] or [4, 6]", f"{place}.families", str(list(addressing.families)))


def _check_fabric(spec: FabricSpec, fabric: Fabric, place: str) -> None:
    if fabric.addressing is not None:
        _check_addressing(fabric.addressing, f"{place}.addressing")
    if fabric.transport == "infiniband":
        if fabric.infiniband is None:
            raise SpecError(
                "an InfiniBand fabric needs its section infiniband",
                place,
                remedy="Say who runs the subnet manager: infiniband: {subnet_managers: …}",
            )
        if fabric.qos is not None:
            raise SpecError("qos is for RoCE; InfiniBand is lossless by itself", f"{place}.qos", remedy="Remove qos")
        if fabric.link.host_mtu is not None:
            raise SpecError(
                "the MTU of IP over InfiniBand follows from infiniband.mtu",
                f"{place}.link.host_mtu",
                str(fabric.link.host_mtu),
                "Remove host_mtu",
            )
        return
    if fabric.infiniband is not None:
        raise SpecError("a RoCE fabric has no section infiniband", f"{place}.infiniband", remedy="Remove it")
    host_mtu = fabric.link.host_mtu or HOST_MTU
    derive.path_mtu(host_mtu, f"{place}.link.host_mtu")
    if 6 in (fabric.addressing or spec.addressing).families and host_mtu < derive.IPV6_LEAST_MTU:
        raise SpecError(
            f"IPv6 needs an MTU of at least {derive.IPV6_LEAST_MTU} bytes", f"{place}.link.host_mtu", str(host_mtu)
        )


def _check_rails(spec: FabricSpec) -> None:
    if len(spec.rails) > derive.RAILS:
        raise SpecError(
            f"each rail may need a routing table, and there are {derive.RAILS} numbers for them",
            f"{PLACE}.rails",
            str(len(spec.rails)),
        )
    seen: set[str] = set()
    for number, rail in enumerate(spec.rails):
        place = f"{PLACE}.rails[{number}]"
        if rail.name in RESERVED:
            raise SpecError(
                "bonds and VLANs are named after their rail, and this name has a meaning of its own",
                f"{place}.name",
                rail.name,
                "Rename the rail",
            )
        if rail.name in seen:
            raise SpecError("this rail is there twice", f"{place}.name", rail.name, "Rename or remove one of the two")
        seen.add(rail.name)
        if rail.fabric not in spec.fabrics:
            raise SpecError(
                "there is no such fabric", f"{place}.fabric", rail.fabric, f"Fabrics are {', '.join(spec.fabrics)}"
            )
        if spec.fabrics[rail.fabric].transport == "infiniband":
            _check_infiniband_rail(rail, place)


def _check_infiniband_rail(rail: Rail, place: str) -> None:
    if rail.vlan is not None:
        raise SpecError("InfiniBand has partitions, not VLANs", f"{place}.vlan", remedy="Use infiniband.partitions")
    # kernel Documentation/networking/bonding.rst: IP over InfiniBand bonds in active-backup mode only
    if rail.bond is not None and rail.bond.mode != "active-backup":
        raise SpecError("InfiniBand ports bond in mode active-backup only", f"{place}.bond.mode", rail.bond.mode)


def _check_waivers(spec: FabricSpec) -> None:
    if not spec.waivers:
        return
    import difflib  # noqa: PLC0415 - few specs have waivers

    from ..verify.catalogue import RULES  # noqa: PLC0415 - verification builds on resolution: a circle at the start

    rails = [rail.name for rail in spec.rails]
    for number, waiver in enumerate(spec.waivers):
        place = f"{PLACE}.waivers[{number}]"
        if waiver.rule not in RULES:
            near = difflib.get_close_matches(waiver.rule, RULES, 3, 0.4) or sorted(RULES)
            raise SpecError("there is no such rule", f"{place}.rule", waiver.rule, f"Near ones are {', '.join(near)}")
        if waiver.rail is not None and waiver.rail not in rails:
            raise SpecError("there is no such rail", f"{place}.rail", waiver.rail, f"Rails are {', '.join(rails)}")
        try:
            dt.date.fromisoformat(waiver.until)
        except ValueError:
            raise SpecError("this is no date", f"{place}.until", waiver.until, "Write it like 2027-03-31") from None
