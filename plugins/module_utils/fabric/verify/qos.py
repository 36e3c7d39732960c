# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a rail's lossless settings on its NICs: who owns them, DSCP, priority, traffic class, PFC, buffers.

What cannot be read is told once, by ``qos.readable``; the check of that setting then says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterator, Optional, Union

from ..model.facts import QosState
from ..model.finding import Finding
from ..model.intent import Qos
from ..model.words import spans
from ..resolve.bind import BoundRail
from ..resolve.buffers import kept, without_room
from . import qos_rules as rules
from .rule import Rule
from .view import View

# Kernel lockdown closes debugfs files that only root may read (fs/debugfs/file.c, debugfs_locked_down()).
_LOCKED = ("integrity", "confidentiality")
_NEEDED = {
    "trust": "trust",
    "dscp_prio": "DSCP map",
    "prio_tc": "priority to traffic class",
    "tsa": "transmission selection",
    "share": "ETS shares",
    "pfc": "PFC",
}
_DCQCN = {"ecn_np": "ECN as receiver", "ecn_rp": "ECN as sender"}
# A driver may lack these for good; only a failed read is worth a word.
_OPTIONAL = {
    "dcbx": "DCBX mode",
    "willing": "willing bit",
    "cable_length_m": "cable length",
    "buffer_size": "receive buffers",
    "pause_rx": "global pause",
    **_DCQCN,
}


class Trouble:
    """What does not hold on one netdev: what was expected, what was found, and why; ``warn`` makes light of it."""

    def __init__(self, expected: str, found: str, cause: str, *, remedy: str = "", warn: bool = False) -> None:
        self.expected, self.found, self.cause = expected, found, cause
        self.remedy, self.warn = remedy, warn


if TYPE_CHECKING:
    # None: nothing to judge; words: it holds.
    Answer = Union[None, str, Trouble]
    Look = Callable[[Qos, QosState], Answer]
    Check = Callable[[View, BoundRail], Optional[Finding]]


def states(view: View, rail: BoundRail) -> Iterator[tuple[str, Optional[QosState]]]:
    """The netdevs of the rail's ports with their settings; ``None`` for one that was not probed."""
    known = {state.netdev: state for state in view.facts.qos or ()}
    for port in rail.ports:
        if port.netdev is not None:
            yield port.netdev.name, known.get(port.netdev.name)


def over_ports(rule: Rule, look: Look) -> Check:
    """The check of a rail that asks ``look`` about each of its ports; the first trouble is the finding."""

    def check(view: View, rail: BoundRail) -> Optional[Finding]:
        qos = rail.intent.qos
        if qos is None:
            return None
        host, name = view.host, rail.intent.name
        held = []
        for netdev, state in states(view, rail):
            answer = look(qos, state) if state is not None else None
            if isinstance(answer, Trouble):
                return rule.broken(
                    host,
                    name,
                    expected=answer.expected,
                    found=f"{netdev} {answer.found}",
                    cause=answer.cause,
                    remedy=(answer.remedy or rule.remedy).replace("NETDEV", netdev),
                    warn=answer.warn,
                    device=netdev,
                )
            if answer is not None:
                held.append(f"{netdev} {answer}")
        return rule.passed(host, name, found=", ".join(held)) if held else None

    return check


def readable(view: View, rail: BoundRail) -> Optional[Finding]:
    """Whether all is there to judge by; one finding says all that is not."""
    qos = rail.intent.qos
    if qos is None:
        return None
    host, name = view.host, rail.intent.name
    seen = list(states(view, rail))
    if not seen:
        return rules.READABLE.unknown(host, name, found="the rail has no network device")
    troubles = [f"{netdev}: {why}" for netdev, state in seen if (why := _blind(view, qos, netdev, state))]
    if troubles:
        return rules.READABLE.unknown(
            host, name, expected="the whole chain of settings", found="; ".join(troubles), device=seen[0][0]
        )
    return rules.READABLE.passed(host, name, found=", ".join(netdev for netdev, _state in seen))


def _blind(view: View, qos: Qos, netdev: str, state: Optional[QosState]) -> str:
    if state is None:
        return view.missing("its lossless settings", "qos", netdev)
    why = view.unread(netdev)
    if qos.profile == "lossy" and not state.offers and not why:
        # A lossy rail on a NIC without traffic classes has nothing to set.
        return ""
    needed = {**_NEEDED, **_DCQCN} if qos.ecn and "ecn_sysfs" in state.offers else _NEEDED
    lacks = [word for field, word in needed.items() if getattr(state, field) is None]
    if why:
        lacks += [word for field, word in _OPTIONAL.items() if field not in needed and getattr(state, field) is None]
    words = [f"{', '.join(lacks)} could not be read ({why})" if why else f"its driver has no {', '.join(lacks)}"]
    words = words if lacks else []
    if qos.cnp_dscp is not None and (state.cnp_dscp is None or state.cnp_priority is None):
        words += _no_cnp(view, qos, state, why)
    return "; ".join(words)


def _no_cnp(view: View, qos: Qos, state: QosState, why: str) -> list[str]:
    """Why DCQCN's settings are not known; nothing where the spec leaves them to the firmware of a locked kernel."""
    locked = view.facts.system.lockdown
    if locked not in _LOCKED or "ecn_sysfs" in state.offers:
        return [f"DCQCN and CNP settings could not be read ({why or 'the driver shows none'})"]
    if qos.lockdown == "firmware":
        return []
    return [
        f"DCQCN and CNP settings cannot be read: kernel lockdown ({locked}) closes /sys/kernel/debug/mlx5; "
        "use the OFED driver, or set them in the NIC's own configuration (qos.host.lockdown: firmware)"
    ]


def _dcbx(_qos: Qos, state: QosState) -> Answer:
    if state.dcbx is None:
        return None
    if state.firmware_owned:
        willing = " and adopts what the switch says (willing)" if state.willing else ""
        return Trouble(
            "owned by the host", "is firmware-owned", f"DCBX of the NIC's firmware owns the settings{willing}"
        )
    if state.willing:
        return Trouble(
            "not willing",
            "is willing",
            "an agent that speaks DCBX would take over the peer's ETS and PFC",
            remedy="dcb ets set dev NETDEV willing off",
            warn=True,
        )
    return " ".join(state.dcbx)


def _trust(qos: Qos, state: QosState) -> Answer:
    if state.trust is None:
        return None
    if state.trust == "dscp":
        return "dscp"
    return Trouble("dscp", state.trust, f"the NIC looks at VLAN tags, not at DSCP {qos.data_dscp}")


def _dscp_map(qos: Qos, state: QosState) -> Answer:
    """The wanted DSCPs lead to their priorities, and no other one leads there; none is mapped twice."""
    if state.dscp_prio is None:
        return None
    found: dict[int, list[int]] = {}
    for dscp, priority in state.dscp_prio:
        found.setdefault(dscp, []).append(priority)
    mapped = qos.dscp_prio
    expected = ", ".join(f"DSCP {dscp} to priority {priority}" for dscp, priority in mapped)
    for dscp, priority in mapped:
        have = found.get(dscp, [])
        if have == [priority]:
            continue
        what = "CNPs" if dscp == qos.cnp_dscp else "data"
        if not have:
            near = [near for near in (dscp - 1, dscp + 1) if found.get(near) == [priority]]
            beside = f"; DSCP {near[0]} is, so the map may be off by one" if near else ""
            return Trouble(expected, f"DSCP {dscp} is not mapped", f"{what} have priority 0{beside}")
        words = " and ".join(str(number) for number in have)
        if len(have) > 1:
            return Trouble(
                expected,
                f"DSCP {dscp} to priorities {words}",
                f"DSCP {dscp} is mapped twice, and the driver takes one of them",
                remedy=f"dcb app replace dev NETDEV dscp-prio {dscp}:{priority}, or: {rules.ROLE}",
            )
        lossless = " of the lossless class" if have[0] in qos.pfc and what == "CNPs" else ""
        return Trouble(expected, f"DSCP {dscp} to priority {words}", f"{what} get priority {words}{lossless}")
    twice = [dscp for dscp, have in found.items() if len(have) > 1]
    if twice:
        words = ", ".join(map(str, twice))
        return Trouble("each DSCP once", f"maps DSCP {words} twice", "dcb app add was used where replace was meant")
    for priority in qos.reserved:
        others = spans(dscp for dscp, have in found.items() if priority in have and (dscp, priority) not in mapped)
        if others:
            whose = "the data" if priority == qos.data_priority else "CNPs"
            cause = f"traffic of others is in the class of {whose}, where the leaves have none of it"
            return Trouble(f"{expected}, and no other", f"DSCP {others} to priority {priority} too", cause)
    return expected


def _prio_tc(qos: Qos, state: QosState) -> Answer:
    if state.prio_tc is None:
        return None
    want, have = qos.prio_tc, state.prio_tc
    if have == want:
        return "priorities to classes " + " ".join(map(str, have))
    off = [f"priority {n} in class {have[n]}, not {want[n]}" for n in range(min(8, len(have))) if have[n] != want[n]]
    cause = "the classes were changed on the node, or never set"
    data = have[qos.data_priority] if len(have) > qos.data_priority else None
    shared = [
        n for n in range(len(have)) if have[n] == data and n not in qos.pfc and want[n] != want[qos.data_priority]
    ]
    if qos.pfc and shared:
        others = ", ".join(f"{n} (CNPs)" if n == qos.cnp_priority else str(n) for n in shared)
        cause = f"priority {others} is in the lossless class"
    return Trouble(" ".join(map(str, want)), ", ".join(off) or f"{len(have)} priorities", cause)


def _ets(qos: Qos, state: QosState) -> Answer:
    if state.tsa is None or state.share is None:
        return None
    count = min(state.tcs or 8, len(state.tsa), len(state.share))
    used = sorted(set(qos.prio_tc))
    want = {tc: _class(qos.tsa[tc], qos.share[tc]) for tc in used}
    have = {tc: _class(state.tsa[tc], state.share[tc]) if tc < count else "absent" for tc in used}
    expected = ", ".join(f"class {tc} {words}" for tc, words in want.items())
    total = sum(share for tsa, share in zip(state.tsa, state.share) if tsa == "ets")
    off = [f"class {tc} {words}" for tc, words in have.items() if words != want[tc]]
    if total not in (0, 100):
        return Trouble(expected, ", ".join(off) or f"{total} %", f"the shares add up to {total} %, not to 100")
    if off:
        lacking = [tc for tc in used if tc >= count]
        cause = (
            f"the NIC has {count} traffic classes" if lacking else "the shares were changed on the node, or never set"
        )
        return Trouble(expected, ", ".join(off), cause)
    return expected


def _class(tsa: str, share: int) -> str:
    return f"{tsa} {share} %" if tsa == "ets" else tsa


def _pfc(qos: Qos, state: QosState) -> Answer:
    if state.pfc is None:
        return None
    have, want = tuple(state.pfc), tuple(qos.pfc)
    expected, found = _on(want), _on(have)
    if have == want:
        return found
    if not want:
        cause = f"profile {qos.profile} has no lossless priority"
    elif not have:
        full = state.pfc_classes is not None and state.pfc_classes < len(want)
        cause = "the NIC has no PFC" if full else f"PFC is off: priority {_list(want)} is lossy"
    elif set(have) & set(want):
        missing = set(want) - set(have)
        cause = (
            f"priority {_list(missing)} is lossy"
            if missing
            else f"PFC is on for priority {_list(set(have) - set(want))} too"
        )
    else:
        cause = f"PFC is on the wrong priority: {_list(want)} is lossy"
    return Trouble(expected, found, cause)


def _on(priorities: tuple[int, ...]) -> str:
    return f"PFC on {_list(priorities)}" if priorities else "PFC off"


def _list(numbers: object) -> str:
    return ", ".join(str(number) for number in sorted(numbers))  # type: ignore[call-overload]


def _pause(_qos: Qos, state: QosState) -> Answer:
    if state.pause_rx is None and state.pause_tx is None:
        return None
    on = [word for word, value in (("rx", state.pause_rx), ("tx", state.pause_tx)) if value]
    if on:
        return Trouble("pause off", f"global pause on ({' and '.join(on)})", "global pause was not switched off")
    return "pause off"


def _cable(qos: Qos, state: QosState) -> Answer:
    want, have = qos.cable_length_m, state.cable_length_m
    if want is None or have is None or not qos.pfc:
        return None
    if have == want:
        return f"{have} m"
    cause = "the headroom is too small for the cable" if have < want else "the headroom is larger than the cable needs"
    return Trouble(f"{want} m", f"{have} m", cause)


def _buffers(qos: Qos, state: QosState) -> Answer:
    """Sizes and assignment where the spec sets them, and in any case some room for each priority, lossless or not."""
    size, owner = state.buffer_size, state.prio_buffer
    if size is None or owner is None:
        return None
    found = f"buffers {_sizes(size)}, priorities in {_sizes(owner)}"
    if qos.prio_buffer and owner != qos.prio_buffer:
        return Trouble(f"priorities in {_sizes(qos.prio_buffer)}", found, "priorities are in other buffers than set")
    if qos.buffer_size and not kept(qos.buffer_size, size):
        return Trouble(
            f"buffers {_sizes(qos.buffer_size)}", found, "the buffers were resized, by hand or by the driver"
        )
    lacking = without_room(size, owner)
    if lacking:
        first = next((priority for priority in qos.pfc if priority in lacking), lacking[0])
        others = [priority for priority in lacking if priority != first]
        more = f", and {_list(others)} have none either" if others else ""
        cause = f"priority {first} is in buffer {owner[first]}, which has no room{more}"
        return Trouble(f"room for priority {_list(lacking)}", found, cause)
    if state.buffer_total is not None and sum(size) > state.buffer_total:
        return Trouble(f"at most {state.buffer_total} bytes", found, "the buffers are larger than the NIC's memory")
    return found


def _sizes(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


CHECKS: tuple[Check, ...] = (
    readable,
    over_ports(rules.DCBX, _dcbx),
    over_ports(rules.TRUST, _trust),
    over_ports(rules.DSCP_MAP, _dscp_map),
    over_ports(rules.PRIO_TC, _prio_tc),
    over_ports(rules.ETS, _ets),
    over_ports(rules.PFC, _pfc),
    over_ports(rules.PAUSE, _pause),
    over_ports(rules.CABLE, _cable),
    over_ports(rules.BUFFERS, _buffers),
)
