# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The ``qos`` section of a RoCE fabric: defaults, what must hold within it, and what one rail gets of it."""

from __future__ import annotations

from typing import Any, Mapping

from ..errors import SpecError
from ..model.codec import decode
from ..model.intent import Qos
from ..model.spec import QosSpec
from .derive import metres, traffic_byte

PRIORITIES = range(8)  # IEEE 802.1Q: three bits

# NVIDIA's recommendation for lossless RoCE ("Recommended Network Configuration Examples for RoCE Deployment"): data
# DSCP 26 on priority 3, CNPs DSCP 48 on priority 6. Broadcom Thor2 maps CNPs to priority 7: a site sets cnp there.
DATA = {"dscp": 26, "priority": 3}
CNP = {"dscp": 48, "priority": 6}


def load(raw: Any, place: str) -> QosSpec:
    """The section with its defaults.

    :raises SpecError: for what contradicts itself.
    """
    if not isinstance(raw, Mapping):
        raise SpecError("a mapping is expected", place, repr(raw))
    section = {"data": DATA, **raw}
    with_dcqcn = "dcqcn" in str(raw.get("profile"))
    if with_dcqcn:
        section.setdefault("cnp", CNP)
    elif raw.get("cnp") is not None:
        raise SpecError(
            f"cnp belongs to DCQCN, which profile {raw.get('profile')} does not have",
            f"{place}.cnp",
            remedy="Remove cnp, or use a profile with dcqcn",
        )
    if raw.get("traffic_classes") is None:
        section["traffic_classes"] = _default_classes(section)
    section["traffic_classes"] = _expand_rest(section["traffic_classes"], f"{place}.traffic_classes")
    spec = decode(QosSpec, section, place, SpecError)
    _check_markings(spec, place)
    _check_classes(spec, f"{place}.traffic_classes")
    return spec


def qos(spec: QosSpec) -> Qos:
    """What a rail gets of the section."""
    data = spec.data.priority
    return Qos(
        profile=spec.profile,
        pfc=(data,) if spec.profile.startswith("pfc") else (),
        ecn=(data,) if spec.cnp is not None else (),
        data_dscp=spec.data.dscp,
        data_priority=data,
        cnp_dscp=spec.cnp.dscp if spec.cnp else None,
        cnp_priority=spec.cnp.priority if spec.cnp else None,
        tos=traffic_byte(spec.data.dscp, spec.cnp is not None),
        traffic_classes=spec.traffic_classes,
        cable_length_m=metres(spec.cable_length),
    )


def _default_classes(section: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Half for data, half for the rest, and CNPs strictly first: they are few, and late ones are useless."""
    data, cnp = (_priority(section.get(key)) for key in ("data", "cnp"))
    classes: list[dict[str, Any]] = []
    if data is not None:
        classes.append({"tc": data, "priorities": [data], "tsa": "ets", "share": 50})
    if cnp is not None and cnp != data:
        classes.append({"tc": cnp, "priorities": [cnp], "tsa": "strict"})
    free = next(tc for tc in PRIORITIES if tc not in (data, cnp))
    classes.append({"tc": free, "priorities": "rest", "tsa": "ets", "share": 50})
    return classes


def _priority(marking: Any) -> Any:
    return marking.get("priority") if isinstance(marking, Mapping) else None


def _expand_rest(classes: Any, place: str) -> list[Any]:
    """Traffic classes with the word ``rest`` replaced by the priorities that no other class names."""
    if not isinstance(classes, (list, tuple)) or not all(isinstance(entry, Mapping) for entry in classes):
        raise SpecError("a list of mappings is expected", place, repr(classes))
    lists = [entry.get("priorities") for entry in classes]
    named = {priority for entry in lists if isinstance(entry, (list, tuple)) for priority in entry}
    if lists.count("rest") > 1:
        raise SpecError("only one traffic class can have the rest of the priorities", place)
    rest = [priority for priority in PRIORITIES if priority not in named]
    return [{**entry, "priorities": rest} if entry.get("priorities") == "rest" else dict(entry) for entry in classes]


def _check_markings(spec: QosSpec, place: str) -> None:
    if spec.cnp is None:
        return
    if spec.cnp.priority == spec.data.priority:
        raise SpecError(
            "CNPs must not share the priority of the data that they slow down",
            f"{place}.cnp.priority",
            str(spec.cnp.priority),
            "Use another priority, 6 for NVIDIA and 7 for Broadcom NICs",
        )
    if spec.cnp.dscp == spec.data.dscp:
        raise SpecError("data and CNPs cannot have the same DSCP", f"{place}.cnp.dscp", str(spec.cnp.dscp))


def _check_classes(spec: QosSpec, place: str) -> None:
    owner: dict[int, int] = {}
    seen: set[int] = set()
    for number, entry in enumerate(spec.traffic_classes):
        where = f"{place}[{number}]"
        if entry.tc in seen:
            raise SpecError("this traffic class is there twice", f"{where}.tc", str(entry.tc))
        seen.add(entry.tc)
        if (entry.share is not None) != (entry.tsa == "ets"):
            need = "needs a share" if entry.tsa == "ets" else "has no share: it takes what it needs"
            raise SpecError(f"a traffic class with tsa {entry.tsa} {need}", where)
        for priority in entry.priorities:
            if priority in owner:
                raise SpecError(
                    f"priority {priority} is in traffic classes {owner[priority]} and {entry.tc}", f"{where}.priorities"
                )
            owner[priority] = entry.tc
    missing = [str(priority) for priority in PRIORITIES if priority not in owner]
    if missing:
        raise SpecError(
            f"no traffic class has priority {', '.join(missing)}", place, remedy="Give one class `priorities: rest`"
        )
    shares = [entry.share for entry in spec.traffic_classes if entry.share is not None]
    # IEEE 802.1Qaz: the bandwidth percentages of the ETS classes add up to 100.
    if shares and sum(shares) != 100:
        raise SpecError("the shares of the ets classes must add up to 100", place, str(sum(shares)))
