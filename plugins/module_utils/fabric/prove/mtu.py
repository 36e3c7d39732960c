# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Full-size packets that must not be fragmented, to every peer on every rail."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Mapping, Optional

from ..errors import ParseError, ReadError
from ..model.finding import PairResult
from ..parse.ping import Ping, parse_ping
from ..ports import Port
from ..resolve.bind import BoundRail
from .route import Obstacle, find_obstacle
from .work import MtuProbe, NodeWork, Target

AT_ONCE = 16
BOUND_S = 150.0
SMALL = 84  # ping's own default: 56 bytes of payload
# MTUs that switches and hosts are commonly left at: jumbo, RoCE's 4096 with headers, IPoIB datagram, Ethernet.
LADDER = (9000, 4200, 2044, 1500)
# RFC 791 and RFC 8200: the fixed headers; ICMP echo has eight bytes in both families (RFC 792, RFC 4443).
_HEADERS = {4: 20 + 8, 6: 40 + 8}


def probe_mtu(port: Port, rails: Mapping[str, BoundRail], work: NodeWork, bound_s: float = BOUND_S) -> list[PairResult]:
    """All probes of this node, several at once; those that the bound of time leaves out are reported as not run."""
    deadline = time.monotonic() + bound_s

    def one(probe: MtuProbe) -> PairResult:
        if time.monotonic() > deadline:
            late = Obstacle("not_run", f"the bound of {bound_s:g} s for all probes was over")
            return _result(work.host, probe, None, late)
        return _probe(port, work.host, rails.get(probe.rail), probe)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, work.probes))


def _probe(port: Port, host: str, rail: Optional[BoundRail], probe: MtuProbe) -> PairResult:
    """Every family must pass; the first that does not is the result."""
    for target in probe.targets:
        obstacle = find_obstacle(port, rail, target)
        if obstacle is None and rail is not None and rail.netdev is not None:
            obstacle = _send(port, rail.netdev.name, rail.netdev.mtu, target, probe.mtu)
        if obstacle is not None:
            return _result(host, probe, rail, obstacle)
    return _result(host, probe, rail, None)


def _result(host: str, probe: MtuProbe, rail: Optional[BoundRail], obstacle: Optional[Obstacle]) -> PairResult:
    netdev = rail.netdev.name if rail is not None and rail.netdev is not None else None
    if obstacle is None:
        return PairResult("mtu", host, probe.peer, probe.rail, probe.peer_rail, probe.mtu, probe.mtu, netdev=netdev)
    return PairResult(
        "mtu",
        host,
        probe.peer,
        probe.rail,
        probe.peer_rail,
        expected=probe.mtu,
        value=obstacle.value,
        netdev=obstacle.netdev or netdev,
        error=obstacle.error,
        reason=obstacle.reason,
    )


def _send(port: Port, netdev: str, own_mtu: Optional[int], target: Target, mtu: int) -> Optional[Obstacle]:
    """The full size first; smaller ones only to tell why it failed."""
    try:
        full = _ping(port, netdev, target, mtu, 3)
        known = _judge(full, own_mtu, mtu)
        if full.ok or known is not None:
            return known
        if not _ping(port, netdev, target, SMALL, 2).received:
            return Obstacle("unreachable", full.unreachable or full.send_error or f"{target.peer} does not answer")
        passed = next((size for size in LADDER if size < mtu and _ping(port, netdev, target, size, 1).received), SMALL)
    except (ReadError, ParseError) as error:
        return Obstacle("tool", str(error))
    return Obstacle("size_lost", f"packets of {mtu} bytes are lost, {passed} pass", value=passed)


def _judge(full: Ping, own_mtu: Optional[int], mtu: int) -> Optional[Obstacle]:
    """What the full-size run alone says; ``None`` when it passed, or when only smaller packets can tell."""
    if full.fatal:
        return Obstacle("tool", f"ping did not start: {full.fatal}")
    if full.path_mtu is not None:
        router = full.path_mtu_from or "a router"
        return Obstacle("too_big", f"{router} passes {full.path_mtu} bytes, not {mtu}", value=full.path_mtu)
    if full.local_mtu is not None:
        # The kernel remembers for ten minutes what a router told it (net.ipv4.route.mtu_expires).
        if own_mtu is not None and own_mtu >= mtu:
            return Obstacle("too_big", f"a router passed only {full.local_mtu} bytes before", value=full.local_mtu)
        return Obstacle(
            "local_mtu", f"this node's own MTU is {full.local_mtu or own_mtu}", value=full.local_mtu or own_mtu
        )
    if 0 < full.received < full.sent or full.corrupted:
        return Obstacle("lossy", f"{full.sent - full.received} of {full.sent} packets lost, {full.corrupted} corrupted")
    return None


def _ping(port: Port, netdev: str, target: Target, size: int, count: int) -> Ping:
    """One run of ping with ``size`` bytes on the wire. Bound to device and address: it cannot leave by another."""
    payload = size - _HEADERS[6 if ":" in target.peer else 4]
    argv = ["ping", "-n", "-M", "do", "-s", str(payload), "-c", str(count), "-i", "0.2", "-W", "1"]
    done = port.run([*argv, "-I", netdev, "-I", target.source, target.peer], timeout=8.0)
    return parse_ping(done.out, done.err)
