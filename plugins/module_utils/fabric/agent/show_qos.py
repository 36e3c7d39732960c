# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless settings of a node as rows of a table; a dash is what a driver lacks, or nobody could read."""

from __future__ import annotations

from typing import Iterable, Mapping, Optional, Sequence

from ..model.facts import NodeFacts, QosState, RdmaPort

HEADINGS = ("rail", "netdev", "DCBX", "trust", "DSCP", "PFC", "classes", "pause", "ECN", "CNP", "ToS")
Row = tuple[str, ...]
_NONE = "-"


def qos_rows(facts: NodeFacts, rails: Mapping[str, str]) -> list[Row]:
    """One row a netdev that has any such setting.

    :param rails: names of rails by netdev, and all netdevs to show.
    """
    ports = {port.netdev: port for device in facts.rdma or () for port in device.ports}
    return [
        (rails[state.netdev], state.netdev, *_settings(state), _tos(ports.get(state.netdev)))
        for state in facts.qos or ()
        if state.netdev in rails and state != QosState(state.netdev)
    ]


def _settings(state: QosState) -> Row:
    dcbx = _NONE if state.dcbx is None else "firmware" if state.firmware_owned else " ".join(state.dcbx)
    if state.willing:
        dcbx += " willing"
    cnp = (state.cnp_dscp, state.cnp_priority)
    return (
        dcbx,
        state.trust or _NONE,
        _dscps(state.dscp_prio),
        _priorities(state.pfc),
        _classes(state),
        _pause(state),
        _ecn(state),
        _NONE if cnp == (None, None) else ":".join(_NONE if value is None else str(value) for value in cnp),
    )


def _dscps(pairs: Optional[Sequence[tuple[int, int]]]) -> str:
    """``24-31:3 48:6``."""
    if pairs is None:
        return _NONE
    ranges: list[tuple[int, int, int]] = []
    for dscp, priority in pairs:
        if ranges and ranges[-1][1:] == (dscp - 1, priority):
            ranges[-1] = (ranges[-1][0], dscp, priority)
        else:
            ranges.append((dscp, dscp, priority))
    words = (f"{first}:{to}" if first == last else f"{first}-{last}:{to}" for first, last, to in ranges)
    return " ".join(words) or "none"


def _priorities(found: Optional[Iterable[int]]) -> str:
    return _NONE if found is None else ",".join(map(str, found)) or "none"


def _classes(state: QosState) -> str:
    """Classes with priorities: ``0:ets 50% 3:ets 50% 6:strict``."""
    if state.prio_tc is None or state.tsa is None or state.share is None:
        return _NONE
    words = []
    for tc in sorted(set(state.prio_tc)):
        if tc < len(state.tsa):
            share = f" {state.share[tc]}%" if state.tsa[tc] == "ets" else ""
            words.append(f"{tc}:{state.tsa[tc]}{share}")
    return " ".join(words)


def _pause(state: QosState) -> str:
    if state.pause_rx is None or state.pause_tx is None:
        return _NONE
    return " ".join(word for word, on in (("rx", state.pause_rx), ("tx", state.pause_tx)) if on) or "off"


def _ecn(state: QosState) -> str:
    """Priorities; of the notification and the reaction point each, where they differ."""
    if state.ecn_np == state.ecn_rp:
        return _priorities(state.ecn_np)
    return f"np {_priorities(state.ecn_np)} rp {_priorities(state.ecn_rp)}"


def _tos(port: Optional[RdmaPort]) -> str:
    return _NONE if port is None or port.cm_tos is None else str(port.cm_tos)
