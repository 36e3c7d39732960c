# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The ``qos`` section of a RoCE fabric: defaults, what must hold within it, and what one rail gets of it."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ..errors import SpecError
from ..model.codec import decode
from ..model.intent import Qos, TrafficClass
from ..model.spec import Marking, QosSpec
from ..records import replace
from .dcqcn import PARAMETERS
from .derive import metres, traffic_byte
from .drivers import CONTIGUOUS, ICE_CLASSES, NETDEV_DRIVER
from .switch_limits import check_spec

PRIORITIES = range(8)  # IEEE 802.1Q: three bits

# NVIDIA's recommendation for lossless RoCE ("Recommended Network Configuration Examples for RoCE Deployment"): data
# DSCP 26 on priority 3, CNPs DSCP 48 on priority 6. Broadcom's NICs send CNPs on priority 7 by default (Juniper
# Validated Design "AI Data Center Network with AMD Compute": Thor2, RoCE DSCP 26 priority 3, CNP DSCP 48 priority 7).
DATA = {"dscp": 26, "priority": 3}
CNP_DSCP = 48
CNP_PRIORITY = {"bnxt_en": 7}
NVIDIA_CNP_PRIORITY = 6

# mlx5 leaves a delay of 1000 and more alone (kernel mlx5/core/en_dcbnl.c, MLX5E_MAX_CABLE_LENGTH).
LONGEST_CABLE_M = 999
# The reach of LR optics, 10 km (IEEE 802.3-2022 clause 88, 100GBASE-LR4): farther ones join sites, not switches.
LONGEST_UPLINK_M = 10000
# Beyond any switch's packet memory, and the most that 32 bits hold.
MOST_BYTES = 0xFFFFFFFF
# mlx5 rounds a receive buffer down to whole cells, whose size only the device knows (register SBCAM, 128 bytes without
# it: kernel mlx5/core/en_dcbnl.c, port_buff_cell_sz). What is no multiple of this fits none.
BUFFER_UNIT = 16


def load(raw: Any, place: str) -> QosSpec:
    """The section with its defaults.

    :raises SpecError: for what contradicts itself, whatever NICs there are.
    """
    if not isinstance(raw, Mapping):
        raise SpecError("a mapping is expected", place, repr(raw))
    section = {"data": DATA, **{key: value for key, value in raw.items() if value is not None}}
    if "traffic_classes" in section:
        section["traffic_classes"] = _expand_rest(section["traffic_classes"], f"{place}.traffic_classes")
    spec = decode(QosSpec, section, place, SpecError)
    _check_profile(spec, place)
    _check_marking(spec.data, "data", place)
    _check_cable(spec.cable_length, f"{place}.cable_length", LONGEST_CABLE_M)
    if not spec.pfc and spec.profile.startswith("pfc"):
        spec = replace(spec, pfc=(spec.data.priority,))
    spec = replace(spec, pfc=tuple(sorted(set(spec.pfc))))
    _check_pfc(spec, place)
    if spec.cnp is not None:
        _check_cnp(spec, spec.cnp, place)
    if spec.traffic_classes:
        _check_classes(spec, f"{place}.traffic_classes")
    _check_dcqcn(spec, f"{place}.dcqcn")
    _check_buffers(spec, f"{place}.buffers")
    check_spec(spec.switch, f"{place}.switch")
    _check_cable(spec.switch.uplink_cable_length, f"{place}.switch.uplink_cable_length", LONGEST_UPLINK_M)
    if spec.switch.ecn is not None and spec.switch.ecn.max_bytes > MOST_BYTES:
        raise SpecError(
            f"no queue holds that much: at most {MOST_BYTES} bytes are expected",
            f"{place}.switch.ecn.max_bytes",
            str(spec.switch.ecn.max_bytes),
        )
    return spec


def qos(spec: QosSpec, driver: Optional[str] = None, place: str = "qos", whose: str = "") -> Qos:
    """What a rail gets of the section.

    :param driver: of the rail's NICs, or of their RDMA devices; without it they are taken for NVIDIA's.
    :param whose: the rail and its host, for messages.
    :raises SpecError: when the spec does not suit that NIC.
    """
    driver = NETDEV_DRIVER.get(driver or "", driver)
    cnp = cnp_marking(spec, driver)
    if cnp is not None:
        _check_cnp(spec, cnp, place)
    classes = spec.traffic_classes or default_classes(spec, cnp, driver)
    if driver == "ice":
        _check_ice(spec, classes, place, whose)
    if spec.dcqcn and driver in CONTIGUOUS:
        raise SpecError(
            f"these are parameters of NVIDIA's NICs, and {whose or 'this one'} has driver {driver}",
            f"{place}.dcqcn",
            ", ".join(spec.dcqcn),
            "Remove them, or give these hosts a fabric of their own",
        )
    return Qos(
        profile=spec.profile,
        pfc=spec.pfc,
        ecn=(spec.data.priority,) if cnp is not None else (),
        data_dscp=spec.data.dscp,
        data_priority=spec.data.priority,
        cnp_dscp=cnp.dscp if cnp else None,
        cnp_priority=cnp.priority if cnp else None,
        tos=traffic_byte(spec.data.dscp, cnp is not None),
        traffic_classes=classes,
        cable_length_m=metres(spec.cable_length),
        dcqcn=spec.dcqcn,
        buffer_size=spec.buffers.size,
        prio_buffer=spec.buffers.priority,
        provider=spec.host.provider,
        lldpad=spec.host.lldpad,
        firmware_dcbx=spec.host.firmware_dcbx,
        lockdown=spec.host.lockdown,
    )


def cnp_marking(spec: QosSpec, driver: Optional[str]) -> Optional[Marking]:
    """The marking of CNPs: the spec's, or the one that the NIC's maker uses; ``None`` without DCQCN."""
    if spec.cnp is not None or not spec.with_dcqcn:
        return spec.cnp
    return Marking(CNP_DSCP, CNP_PRIORITY.get(driver or "", NVIDIA_CNP_PRIORITY))


def default_classes(spec: QosSpec, cnp: Optional[Marking], driver: Optional[str] = None) -> tuple[TrafficClass, ...]:
    """Equal shares for data and the rest, and CNPs strictly first: they are few, and late ones are useless.

    Each lossless priority has a class of its own. A class has the number of its priority, where the NIC lets it.
    """
    own = tuple(dict.fromkeys((spec.data.priority, *spec.pfc)))
    strict = (cnp.priority,) if cnp is not None else ()
    rest = tuple(priority for priority in PRIORITIES if priority not in (*own, *strict))
    if driver in CONTIGUOUS:
        number = {priority: tc for tc, priority in enumerate((*own, *strict), 1)}
        free = 0
    else:
        number = {priority: priority for priority in (*own, *strict)}
        free = next(tc for tc in PRIORITIES if tc not in number)
    share = 100 // (len(own) + 1)
    return (
        *(TrafficClass(number[priority], (priority,), "ets", share) for priority in own),
        *(TrafficClass(number[priority], (priority,), "strict") for priority in strict),
        TrafficClass(free, rest, "ets", 100 - share * len(own)),
    )


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


def _check_profile(spec: QosSpec, place: str) -> None:
    """No key of a mechanism that the profile does not have."""
    for key, word, there in (
        ("cnp", "dcqcn", spec.cnp is not None),
        ("dcqcn", "dcqcn", bool(spec.dcqcn)),
        ("pfc", "pfc", bool(spec.pfc)),
    ):
        if there and word not in spec.profile:
            raise SpecError(
                f"{key} belongs to {word.upper()}, which profile {spec.profile} does not have",
                f"{place}.{key}",
                remedy=f"Remove {key}, or use a profile with {word}",
            )


def _check_pfc(spec: QosSpec, place: str) -> None:
    wrong = [priority for priority in spec.pfc if priority not in PRIORITIES]
    if wrong:
        raise SpecError("priorities are 0 to 7", f"{place}.pfc", str(wrong[0]))
    if 0 in spec.pfc:
        raise SpecError(
            "priority 0 is that of all traffic without a mark, which must not be lossless",
            f"{place}.pfc",
            str(list(spec.pfc)),
            "Name priorities from 1 to 7",
        )
    if spec.pfc and spec.data.priority not in spec.pfc:
        raise SpecError(
            f"the data's priority {spec.data.priority} is not among the lossless ones",
            f"{place}.pfc",
            str(list(spec.pfc)),
            "Add it, or leave pfc out",
        )


def _check_marking(marking: Marking, key: str, place: str) -> None:
    """Neither is what traffic without a mark has: that would come into the same class."""
    for word, number, most in (("dscp", marking.dscp, 63), ("priority", marking.priority, 7)):
        if not 1 <= number <= most:
            raise SpecError(
                f"a value from 1 to {most} is expected; 0 is that of all traffic without a mark",
                f"{place}.{key}.{word}",
                str(number),
            )


def _check_cable(length: Optional[str], place: str, longest: int) -> None:
    if length is None:
        return
    number = length[:-1]
    # More digits than those of the longest are not worth a number.
    plain = number.isascii() and number.isdigit() and len(number) <= len(str(longest))
    if not plain or length[-1] != "m" or number[0] == "0" or int(number) > longest:
        raise SpecError(f"a length from 1m to {longest}m is expected", place, length)


def _check_cnp(spec: QosSpec, cnp: Marking, place: str) -> None:
    _check_marking(cnp, "cnp", place)
    stated = "" if spec.cnp is not None else " (the default of its NIC)"
    wrong = "share the priority of the data that they slow down" if cnp.priority == spec.data.priority else ""
    wrong = wrong or ("be in a lossless class" if cnp.priority in spec.pfc else "")
    if wrong:
        raise SpecError(
            f"CNPs must not {wrong}{stated}",
            f"{place}.cnp.priority",
            str(cnp.priority),
            "Write cnp with another priority, 6 for NVIDIA and 7 for Broadcom NICs",
        )
    if cnp.dscp == spec.data.dscp:
        raise SpecError(f"data and CNPs cannot have the same DSCP{stated}", f"{place}.cnp.dscp", str(cnp.dscp))


def _check_classes(spec: QosSpec, place: str) -> None:
    owner: dict[int, int] = {}
    seen: set[int] = set()
    for number, entry in enumerate(spec.traffic_classes):
        where = f"{place}[{number}]"
        if entry.tc in seen:
            raise SpecError("this traffic class is there twice", f"{where}.tc", str(entry.tc))
        seen.add(entry.tc)
        _check_class(entry, where)
        for priority in entry.priorities:
            if priority in owner:
                raise SpecError(
                    f"priority {priority} is in traffic classes {owner[priority]} and {entry.tc}", f"{where}.priorities"
                )
            owner[priority] = entry.tc
        lossless = [priority for priority in entry.priorities if priority in spec.pfc]
        if lossless and len(lossless) != len(entry.priorities):
            lossy = next(priority for priority in entry.priorities if priority not in spec.pfc)
            raise SpecError(
                f"lossless priority {lossless[0]} shares its traffic class with lossy priority {lossy}: what pauses "
                "the one holds up the other",
                f"{where}.priorities",
                str(list(entry.priorities)),
                "Give lossless priorities classes of their own",
            )
    missing = [str(priority) for priority in PRIORITIES if priority not in owner]
    if missing:
        raise SpecError(
            f"no traffic class has priority {', '.join(missing)}", place, remedy="Give one class `priorities: rest`"
        )
    shares = [entry.share for entry in spec.traffic_classes if entry.share is not None]
    # IEEE 802.1Qaz: the bandwidth percentages of the ETS classes add up to 100.
    if shares and sum(shares) != 100:
        raise SpecError("the shares of the ets classes must add up to 100", place, str(sum(shares)))


def _check_class(entry: TrafficClass, where: str) -> None:
    if entry.tc not in PRIORITIES:
        raise SpecError("traffic classes are 0 to 7", f"{where}.tc", str(entry.tc))
    if not entry.priorities:
        raise SpecError(
            "no priority is left for this traffic class",
            f"{where}.priorities",
            remedy="Remove the class, or name fewer priorities in the others",
        )
    wrong = [priority for priority in entry.priorities if priority not in PRIORITIES]
    if wrong:
        raise SpecError("priorities are 0 to 7", f"{where}.priorities", str(wrong[0]))
    if entry.share is not None and not 1 <= entry.share <= 100:
        raise SpecError("a percentage of 1 to 100 is expected", f"{where}.share", str(entry.share))
    if (entry.share is not None) != (entry.tsa == "ets"):
        need = "needs a share" if entry.tsa == "ets" else "has no share: it takes what it needs"
        raise SpecError(f"a traffic class with tsa {entry.tsa} {need}", where)


def _check_ice(spec: QosSpec, classes: tuple[TrafficClass, ...], place: str, whose: str) -> None:
    nic = f"{whose or 'this NIC'} is an Intel E810 (driver ice), which has"
    remedy = "Leave traffic_classes out, or give these hosts a fabric of their own"
    if len(spec.pfc) > 1:
        raise SpecError(f"{nic} one lossless class at most", f"{place}.pfc", str(list(spec.pfc)), "Name one priority")
    numbers = sorted(entry.tc for entry in classes)
    if numbers != list(range(len(numbers))):
        raise SpecError(f"{nic} traffic classes without gaps, from 0", f"{place}.traffic_classes", str(numbers), remedy)
    if len(numbers) > ICE_CLASSES:
        raise SpecError(
            f"{nic} {ICE_CLASSES} traffic classes at most", f"{place}.traffic_classes", str(len(numbers)), remedy
        )


def _check_dcqcn(spec: QosSpec, place: str) -> None:
    for name, number in spec.dcqcn.items():
        known = PARAMETERS.get(name)
        if known is None:
            raise SpecError("there is no such parameter", place, name, f"Known are {', '.join(PARAMETERS)}")
        if not known.least <= number <= known.most:
            raise SpecError(f"a value from {known.least} to {known.most} is expected", f"{place}.{name}", str(number))
    least, most = spec.dcqcn.get("rp_min_rate", 0), spec.dcqcn.get("rp_max_rate", 0)
    # 0 is the line rate (mstflint, mlxconfig: RPG_MAX_RATE).
    if 0 < most < least:
        raise SpecError(
            f"the least rate {least} is above the greatest", f"{place}.rp_max_rate", str(most), "Swap or correct them"
        )


def _check_buffers(spec: QosSpec, place: str) -> None:
    size, priority = spec.buffers.size, spec.buffers.priority
    for key, values in (("size", size), ("priority", priority)):
        if values and len(values) != len(PRIORITIES):
            raise SpecError("eight numbers are expected", f"{place}.{key}", str(list(values)))
    if size and not any(size):
        raise SpecError("no buffer has any room", f"{place}.size", str(list(size)))
    odd = [number for number in size if number < 0 or number % BUFFER_UNIT or number > MOST_BYTES]
    if odd:
        raise SpecError(
            f"bytes in multiples of {BUFFER_UNIT} are expected: the NIC rounds others down to its cells, "
            "and would never have what is written",
            f"{place}.size",
            str(odd[0]),
            "Write whole cells of the NIC, for instance multiples of 128",
        )
    wrong = [buffer for buffer in priority if buffer not in PRIORITIES]
    if wrong:
        raise SpecError("buffers are 0 to 7", f"{place}.priority", str(wrong[0]))
    lossless = {priority[number] for number in spec.pfc} if priority else set()
    for number, buffer in enumerate(priority):
        if number not in spec.pfc and buffer in lossless:
            raise SpecError(
                f"lossy priority {number} shares receive buffer {buffer} with a lossless one", f"{place}.priority"
            )
        if size and not size[buffer]:
            raise SpecError(f"priority {number} goes to buffer {buffer}, which has no room", f"{place}.size")
