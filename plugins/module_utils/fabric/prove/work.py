# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What one node has to do in a proof, and what it brings back; both travel as plain data."""

from __future__ import annotations

from typing import Optional

from ..model.finding import PairResult
from ..records import dataclass

GRACE_S = 15  # for a test's handshake and end, beside its seconds: one that takes longer is given up


@dataclass(frozen=True)
class Target:
    """The addresses of one probe, one family: from this node's rail address to the peer's, without prefix lengths."""

    source: str
    peer: str


@dataclass(frozen=True)
class MtuProbe:
    """A full-size packet of ``mtu`` bytes (IP header included) to a peer, once for every address family."""

    peer: str
    rail: str
    peer_rail: str
    mtu: int
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Test:
    """One bandwidth test, the same for both sides.

    ``port`` is the TCP port of the handshake, ``expected`` the least accepted Gbit/s. ``size`` is in bytes, ``depth``
    the messages in flight on each of ``queue_pairs``, ``traffic_class`` the byte that the fabric's data carries. Its
    packets must be in ``priority``, which drops nothing when it is ``lossless``. The same holds for ``cm_seconds`` of a
    second test, whose connection RDMA-CM makes and that asks for no traffic class (0: no such test).
    """

    client: str
    server: str
    rail: str
    peer_rail: str
    target: Target  # as the client sees it
    port: int
    seconds: int
    size: int
    depth: int
    queue_pairs: int
    expected: Optional[float] = None
    traffic_class: Optional[int] = None
    priority: Optional[int] = None
    lossless: bool = False
    cm_seconds: int = 0


@dataclass(frozen=True)
class NodeWork:
    """One node's part: ``skipped`` are pairs that cannot be probed, with their reason.

    Test servers end by themselves after ``lifetime_s`` seconds.
    """

    host: str
    probes: tuple[MtuProbe, ...] = ()
    serve: tuple[Test, ...] = ()
    measure: tuple[Test, ...] = ()
    skipped: tuple[PairResult, ...] = ()
    lifetime_s: int = 60


@dataclass(frozen=True)
class Served:
    """A test server on this node: ``error`` is empty when it listens."""

    client: str
    rail: str
    port: int
    error: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a node brings back from one phase. ``refused`` says why it did not take part at all."""

    pairs: tuple[PairResult, ...] = ()
    served: tuple[Served, ...] = ()
    refused: str = ""


def announce(work: NodeWork, phase: str) -> list[str]:
    """What a phase would do, one line each."""
    if phase == "mtu":
        return [
            f"{probe.rail}: {probe.mtu} bytes from {target.source} to {probe.peer} ({target.peer})"
            for probe in work.probes
            for target in probe.targets
        ]
    if phase == "serve":
        return [f"{test.peer_rail}: a test server for {test.client} on TCP port {test.port}" for test in work.serve]
    return [
        f"{test.rail}: {test.seconds} s of bandwidth from {test.target.source} to {test.server} ({test.target.peer})"
        + (f", then {test.cm_seconds} s by RDMA-CM" if test.cm_seconds else "")
        for test in work.measure
    ]


def unsent(work: NodeWork, phase: str, reason: str, error: str) -> tuple[PairResult, ...]:
    """The results of a phase in which this node sent nothing at all."""
    if phase == "mtu":
        return tuple(
            PairResult(phase, work.host, probe.peer, probe.rail, probe.peer_rail, probe.mtu, error=error, reason=reason)
            for probe in work.probes
        )
    from .classes import unproved  # noqa: PLC0415 - it needs what is defined here

    return tuple(
        result
        for test in work.measure
        for result in (
            PairResult(
                "bandwidth",
                work.host,
                test.server,
                test.rail,
                test.peer_rail,
                test.expected,
                error=error,
                reason=reason,
            ),
            *unproved(test, reason, error),
        )
    )
