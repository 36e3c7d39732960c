# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Who probes whom. Work stays linear: all pairs up to 32 nodes, beyond that a cover whose share is stated.

- Full-size probes go from every node to every other one, or to 31 of them that lie evenly spread around a ring of all
  nodes: each node sends and receives 31 probes a rail, however many nodes there are.
- Bandwidth goes around the same ring: each node is client once and server once on every rail.
- A rail talks to the same rail of its peers. Two nodes are a pair on it when they share a subnet, or when both have a
  gateway; elsewhere there is no path by design, and nothing is sent.
"""

from __future__ import annotations

import ipaddress
from typing import Mapping, Sequence, Union

from ..model.finding import PairResult
from ..model.intent import NodeIntent, RailIntent
from ..records import dataclass, field
from ..resolve.derive import FIRST_TEST_PORT
from .work import GRACE_S, MtuProbe, NodeWork, Target, Test

ALL_PAIRS_UP_TO = 32
# A soft RoCE test is longer: what a lost packet costs (perf.py has the timeout) must not fill the whole of it.
SECONDS, SOFT_SECONDS = 4, 6
# The second test of a rail with a traffic class, by RDMA-CM: it only has to show where its packets go.
# perftest wants more than its two margins of a second.
CM_SECONDS = 3
START_S = 40  # for the controller's calls between the start of the servers and the first client
# Message size, depth and queue pairs. Several queue pairs of large messages fill a fast port (four are the default of
# NVIDIA's ngc_multinode_perf). Soft RoCE has no hardware to retransmit in time: what is in flight must pass the link
# within a QP timeout.
HARD, SOFT = (1048576, 128, 4), (16384, 8, 1)


@dataclass(frozen=True)
class Cover:
    """The whole plan. ``pairs`` of ``possible`` ordered pairs are probed; ``notes`` say what is left out and why."""

    nodes: dict[str, NodeWork]
    pairs: int
    possible: int
    notes: tuple[str, ...] = ()

    @property
    def coverage(self) -> str:
        """The share in words."""
        if not self.possible:
            return "no pairs"
        share = f"{self.pairs} of {self.possible} pairs and rails"
        if self.pairs == self.possible:
            return f"all {share}"
        return f"{share} ({100 * self.pairs / self.possible:.3g} %); every node and every rail in both directions"


def plan_proof(intents: Mapping[str, NodeIntent], unreached: Sequence[str] = (), forks: int = 50) -> Cover:
    """Everybody's part of a proof.

    :param intents: of the nodes that can take part, by inventory name.
    :param unreached: nodes that were not reached, or failed before: pairs with them are reported, not probed.
    :param forks: how many nodes the controller drives at once; servers must live until the last client came.
    """
    # Units stay together on the ring: its links run inside one leaf mostly, and cross units where they must.
    order = sorted(intents, key=lambda host: (intents[host].unit, intents[host].node_id or 0, host))
    members: dict[str, list[_Member]] = {}
    for host in order:
        for rail in intents[host].rails:
            members.setdefault(rail.name, []).append(_Member(host, rail))
    parts = {host: _Part() for host in order}
    pairs = possible = 0
    notes: list[str] = []
    for index, (name, everyone) in enumerate(members.items()):
        bare = [member.host for member in everyone if not member.addresses]
        if bare:
            notes.append(f"{name}: the spec gives {_some(bare)} no address, so nothing is sent there")
        groups = _groups([member for member in everyone if member.addresses])
        if len(groups) > 1:
            notes.append(f"{name}: {len(groups)} groups of nodes without a path between them (no gateway in the spec)")
        for group in groups:
            possible += len(group) * (len(group) - 1)
            for member, peer in _spread(group):
                pairs += 1
                parts[member.host].probes.append(_probe(member, peer))
            for member, peer in _ring(group):
                test = _test(intents[member.host], member, peer, FIRST_TEST_PORT + index)
                parts[member.host].measure.append(test)
                parts[peer.host].serve.append(test)
            for member in group:
                parts[member.host].skipped += [
                    _unreached(member.host, peer, name) for peer in unreached[: ALL_PAIRS_UP_TO - 1]
                ]
    batches = -(-max(len(order), 1) // max(forks, 1))
    second = CM_SECONDS + GRACE_S if any(rail.qos for intent in intents.values() for rail in intent.rails) else 0
    # A rail on which nothing passes holds up the next one for as long as its test is given.
    lifetime = START_S + batches * len(members) * (SOFT_SECONDS + GRACE_S + second)
    nodes = {
        host: NodeWork(host, tuple(part.probes), tuple(part.serve), tuple(part.measure), tuple(part.skipped), lifetime)
        for host, part in parts.items()
    }
    return Cover(nodes, pairs, possible, tuple(notes))


_Interface = Union[ipaddress.IPv4Interface, ipaddress.IPv6Interface]


class _Member:
    """One node on one rail, its addresses parsed once; by family, the first one of each."""

    def __init__(self, host: str, rail: RailIntent) -> None:
        self.host = host
        self.rail = rail
        self.addresses: dict[int, _Interface] = {}
        for text in rail.addresses:
            held = ipaddress.ip_interface(text)
            self.addresses.setdefault(held.version, held)
        self.routed = {ipaddress.ip_address(hop).version for hop in rail.gateways}

    def reach(self) -> tuple[str, ...]:
        """What a peer must share, by family: the subnet, or a gateway of its own."""
        return tuple(
            f"routed {version}" if version in self.routed else str(held.network)
            for version, held in sorted(self.addresses.items())
        )

    def targets(self, peer: _Member) -> tuple[Target, ...]:
        """One target a family, IPv4 first."""
        both = sorted(self.addresses.keys() & peer.addresses.keys())
        return tuple(Target(str(self.addresses[family].ip), str(peer.addresses[family].ip)) for family in both)


@dataclass
class _Part:
    """One node's lists while they grow."""

    probes: list[MtuProbe] = field(default_factory=list)
    serve: list[Test] = field(default_factory=list)
    measure: list[Test] = field(default_factory=list)
    skipped: list[PairResult] = field(default_factory=list)


def _groups(members: Sequence[_Member]) -> list[list[_Member]]:
    """Members that reach each other by design, in ring order."""
    groups: dict[tuple[str, ...], list[_Member]] = {}
    for member in members:
        groups.setdefault(member.reach(), []).append(member)
    return list(groups.values())


def _spread(members: Sequence[_Member]) -> list[tuple[_Member, _Member]]:
    """Ordered pairs: every other member, or ``ALL_PAIRS_UP_TO - 1`` of them evenly spread around the ring."""
    count = len(members)
    steps = list(range(1, count))
    if count > ALL_PAIRS_UP_TO:
        share = ALL_PAIRS_UP_TO - 1
        steps = [1 + at * (count - 1) // share for at in range(share)]
    return [(members[at], members[(at + step) % count]) for at in range(count) for step in steps]


def _ring(members: Sequence[_Member]) -> list[tuple[_Member, _Member]]:
    """Everybody to the next one."""
    count = len(members)
    return [(members[at], members[(at + 1) % count]) for at in range(count)] if count > 1 else []


def _probe(member: _Member, peer: _Member) -> MtuProbe:
    mtu = min(end.rail.host_mtu or end.rail.path_mtu for end in (member, peer))
    return MtuProbe(peer.host, member.rail.name, peer.rail.name, mtu, member.targets(peer))


def _test(intent: NodeIntent, member: _Member, peer: _Member, port: int) -> Test:
    rail, bound = member.rail, intent.acceptance.bandwidth
    expected = bound if bound > 1 else bound * rail.speed_gbps if rail.speed_gbps else None
    size, depth, queue_pairs = SOFT if rail.soft_roce else HARD
    target, qos = member.targets(peer)[0], rail.qos
    return Test(
        client=member.host,
        server=peer.host,
        rail=rail.name,
        peer_rail=peer.rail.name,
        target=target,
        port=port,
        seconds=SOFT_SECONDS if rail.soft_roce else SECONDS,
        size=size,
        depth=depth,
        queue_pairs=queue_pairs,
        expected=expected,
        traffic_class=qos.tos if qos is not None else None,
        priority=qos.data_priority if qos is not None else None,
        lossless=qos is not None and qos.data_priority in qos.pfc,
        # perftest resolves addresses for RDMA-CM as IPv4 (src/perftest_communication.c, rdma_cm_get_rdma_address()).
        cm_seconds=CM_SECONDS if qos is not None and ":" not in target.peer else 0,
    )


def _unreached(host: str, peer: str, rail: str) -> PairResult:
    error = f"{peer} takes no part: it was not reached, or failed before; nothing was sent to it"
    return PairResult("mtu", host, peer, rail, rail, error=error, reason="not_run")


def _some(hosts: Sequence[str]) -> str:
    return ", ".join(hosts[:4]) + (f" and {len(hosts) - 4} more" if len(hosts) > 4 else "")
