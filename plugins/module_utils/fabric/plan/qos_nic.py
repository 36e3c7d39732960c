# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps of one NIC port: trust, DSCP map, traffic classes, PFC, cable length and buffers."""

from __future__ import annotations

from typing import Optional

from ..errors import RefusedError
from ..model.plan import Step
from ..model.words import spans
from ..resolve.buffers import kept, without_room
from .qos_providers import DcbProvider, RailPort

# mlx5 toggles the link for a changed mask, and not for the same one (kernel mlx5/core/en_dcbnl.c,
# mlx5e_dcbnl_ieee_setpfc()); ice resets its traffic classes (drivers/net/ethernet/intel/ice/ice_dcb_lib.c).
FLAP = "the link flaps"
RECLASS = "the driver stops traffic while it changes its classes"
# bnxt_dcbnl_ieee_setets() closes the NIC and opens it when the count of classes changes (kernel bnxt/bnxt_dcb.c).
_RECLASSED = ("ice", "bnxt_en")


def nic_steps(port: RailPort, dcb: DcbProvider) -> list[Step]:
    """Steps in their order: what PFC needs comes before it, buffers, which it has the driver resize, after it."""
    return [*_map(port, dcb), *_others(port, dcb), *_classes(port, dcb), *_pfc(port, dcb), *_buffers(port, dcb)]


def _map(port: RailPort, dcb: DcbProvider) -> list[Step]:
    state, netdev, found = port.state, port.netdev.name, []
    pairs = state.dscp_prio or ()
    distrusted = state.trust == "pcp"
    by_map = False
    if distrusted:
        # OFED lists the map whether it is trusted or not.
        mapped = bool(pairs) and "qos_sysfs" not in state.offers
        actions = dcb.trust(netdev, "dscp", mapped)
        by_map = not actions
        undo = () if by_map else dcb.trust(netdev, "pcp", mapped)
        found.append(Step(port.rail, f"trust{port.of}", "pcp", "dscp", actions, undo=undo))
    for dscp, priority in port.qos.dscp_prio:
        have = tuple(number for code, number in pairs if code == dscp)
        if have == (priority,) and not by_map:
            continue
        before = " and ".join(f"priority {number}" for number in have)
        undo = dcb.dscp(netdev, dscp, have) if have and not by_map else dcb.unmap(netdev, dscp, priority)
        actions = dcb.dscp(netdev, dscp, (priority,))
        if have != (priority,):
            found.append(Step(port.rail, f"DSCP {dscp}{port.of}", before, f"priority {priority}", actions, undo=undo))
        else:
            found.append(Step(port.rail, f"DSCP {dscp}{port.of}", f"{before}, not trusted", before, actions, undo=undo))
    return found


def _others(port: RailPort, dcb: DcbProvider) -> list[Step]:
    """DSCPs of others that lead among the data or the CNPs, as they do by default, go to priority 0.

    That is after those of the data: trust turns back with the last DSCP in the table.
    """
    netdev, mine, found = port.netdev.name, dict(port.qos.dscp_prio), []
    for priority in port.qos.reserved:
        codes = [code for code, to in port.state.dscp_prio or () if to == priority and code not in mine]
        if not codes:
            continue
        # Where the driver lists a map whether it is trusted or not, there may be no entry to take away.
        listed = "qos_sysfs" in port.state.offers
        away = (dcb.dscp(netdev, code, (0,)) if listed else dcb.unmap(netdev, code, priority) for code in codes)
        actions = tuple(action for some in away for action in some)
        undo = tuple(action for code in codes for action in dcb.dscp(netdev, code, (priority,)))
        setting = f"other DSCPs of priority {priority}{port.of}"
        found.append(Step(port.rail, setting, spans(codes), "", actions, undo=undo))
    return found


def reclass(port: RailPort) -> Optional[str]:
    """What a change of the traffic classes interrupts."""
    return RECLASS if port.netdev.driver in _RECLASSED else None


def _classes(port: RailPort, dcb: DcbProvider) -> list[Step]:
    state, qos, netdev = port.state, port.qos, port.netdev.name
    have_tc, have_tsa, have_share = state.prio_tc or (), state.tsa or (), state.share or ()
    count = state.tcs
    if count is not None and 0 < count <= max(qos.prio_tc):
        raise RefusedError(
            f"{netdev} has {count} traffic classes, and class {max(qos.prio_tc)} is wanted",
            f"rail {port.rail}",
            remedy=f"Write traffic_classes with the numbers 0 to {count - 1} into the fabric's qos",
        )
    settings: list[tuple[str, str, str]] = []
    if have_tc != qos.prio_tc:
        settings.append(("traffic class by priority", _numbers(have_tc), _numbers(qos.prio_tc)))
    # A class that has no priority sends nothing, but its share counts among the hundred percent.
    named = {entry.tc for entry in qos.traffic_classes}
    named |= {tc for tc, name in enumerate(have_tsa) if name == "ets" and have_share[tc]}
    before, after = (_words(named, *scheduler) for scheduler in ((have_tsa, have_share), (qos.tsa, qos.share)))
    if before != after:
        settings.append(("ETS", before, after))
    willing = bool(state.willing) and dcb.sets_willing
    if willing:
        settings.append(("adopts the peer's ETS (willing)", "yes", "no"))
    if not settings:
        return []
    actions = dcb.ets(netdev, qos.prio_tc, qos.tsa, qos.share, willing)
    undo = dcb.ets(netdev, have_tc, have_tsa, have_share, False)
    # One call sets them all.
    return [
        Step(
            port.rail,
            f"{name}{port.of}",
            old,
            new,
            () if number else actions,
            reclass(port),
            undo=() if number else undo,
        )
        for number, (name, old, new) in enumerate(settings)
    ]


def _words(classes: set[int], tsa: tuple[str, ...], share: tuple[int, ...]) -> str:
    """``TC 0 50 %, TC 3 50 %, TC 6 strict``."""
    return ", ".join(
        f"TC {tc} {f'{share[tc]} %' if tsa[tc] == 'ets' else tsa[tc]}" for tc in sorted(classes) if tc < len(tsa)
    )


def _pfc(port: RailPort, dcb: DcbProvider) -> list[Step]:
    state, qos, netdev = port.state, port.qos, port.netdev.name
    have = state.pfc or ()
    limit = state.pfc_classes
    if have != qos.pfc and limit is not None and limit < len(qos.pfc):
        raise RefusedError(
            f"{netdev} can keep {limit or 'no'} priorities lossless, and {len(qos.pfc)} are wanted",
            f"rail {port.rail}",
            _numbers(qos.pfc),
            "Name fewer in the fabric's qos.pfc",
        )
    known = state.cable_length_m
    cable = qos.cable_length_m if qos.pfc and known is not None else None
    longer = cable is not None and cable != known
    actions = dcb.pfc(netdev, qos.pfc, cable)
    undo = dcb.pfc(netdev, have, known if cable is not None else None)
    found = []
    if have != qos.pfc:
        found.append(Step(port.rail, f"PFC{port.of}", priorities(have), priorities(qos.pfc), actions, FLAP, undo=undo))
    if longer:
        alone = () if found else actions
        found.append(
            Step(port.rail, f"cable length{port.of}", f"{known} m", f"{cable} m", alone, undo=() if found else undo)
        )
    return found


def _buffers(port: RailPort, dcb: DcbProvider) -> list[Step]:
    state, qos, netdev = port.state, port.qos, port.netdev.name
    if not qos.buffer_size and not qos.prio_buffer:
        return []
    if state.buffer_size is None or state.prio_buffer is None:
        raise RefusedError(
            f"{netdev} has no receive buffers that could be set",
            f"rail {port.rail}",
            remedy="Take buffers out of the fabric's qos: the driver sizes them",
        )
    size = None if not qos.buffer_size or kept(qos.buffer_size, state.buffer_size) else qos.buffer_size
    owner = None if qos.prio_buffer in ((), state.prio_buffer) else qos.prio_buffer
    if size is not None and state.buffer_total is not None and sum(size) > state.buffer_total:
        raise RefusedError(
            f"{netdev} has {state.buffer_total} bytes of receive buffers, and {sum(size)} are wanted",
            f"rail {port.rail}",
            _numbers(size),
            "Write smaller buffers into the fabric's qos",
        )
    _check_room(port, size or state.buffer_size, owner or state.prio_buffer)
    if size is None and owner is None:
        return []
    actions = dcb.buffers(netdev, size, owner)
    undo = dcb.buffers(netdev, state.buffer_size, state.prio_buffer)
    settings = [
        (name, _numbers(old), _numbers(new))
        for name, old, new in (
            ("receive buffers", state.buffer_size, size),
            ("receive buffer by priority", state.prio_buffer, owner),
        )
        if new is not None
    ]
    return [
        Step(port.rail, f"{name}{port.of}", old, new, () if number else actions, undo=() if number else undo)
        for number, (name, old, new) in enumerate(settings)
    ]


def _check_room(port: RailPort, size: tuple[int, ...], owner: tuple[int, ...]) -> None:
    """Nothing, when each priority has room with these two, either of which the spec may leave as it is.

    What it leaves is not known yet while PFC is to change: the driver shares the buffers anew then.

    :raises RefusedError: naming the priorities without.
    """
    qos, netdev = port.qos, port.netdev.name
    if not (qos.buffer_size and qos.prio_buffer) and port.state.pfc != qos.pfc:
        return
    lacking = without_room(size, owner)
    if lacking:
        raise RefusedError(
            f"{netdev} would have no room for {priorities(tuple(lacking))}: the receive buffers would be "
            f"{_numbers(size)}, and those of the priorities {_numbers(owner)}",
            f"rail {port.rail}",
            remedy="Write both size and priority into buffers of the fabric's qos, with room for each priority",
        )


def _numbers(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


def priorities(numbers: tuple[int, ...]) -> str:
    """``none``, ``priority 3``, ``priorities 3 and 4``."""
    if not numbers:
        return "none"
    return f"{'priority' if len(numbers) == 1 else 'priorities'} {' and '.join(map(str, numbers))}"
