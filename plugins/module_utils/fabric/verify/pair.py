# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about pairs of nodes: what ``prove`` measured, against the spec and against the path it should have taken."""

from __future__ import annotations

from typing import Iterable, Mapping, Optional

from ..model.finding import Finding, PairResult
from ..model.intent import Acceptance, RailIntent
from ..resolve.bind import BoundRail, bind
from .address import gid_of
from .node import NodeResult
from .roots import ends
from .rule import Rule, severity_rank

REACH = Rule(
    "pair.reach",
    "The peer answers on the rail",
    "fail",
    "pair",
    "Each rail is a network of its own: a pair that is cut there stalls the collective.",
    "Look at the leaf ports, VLAN and routes between the two; ping -I NETDEV ADDRESS shows it by hand.",
    "ping(8) with the rail's own address and device",
)
FULL_MTU = Rule(
    "pair.mtu",
    "A full-size packet passes the rail unfragmented",
    "fail",
    "pair",
    "Small packets pass and connections come up, then bulk data vanishes: the worst fault to find in a running job.",
    "Set the MTU of the leaf ports, and of whatever is between them, to the spec's host_mtu or more; 9216 suits all.",
    "RFC 1191: the Don't Fragment bit shows the path MTU",
)
PATH = Rule(
    "pair.path",
    "The traffic took the rail's own device, GID and network device",
    "fail",
    "pair",
    "A result over another path says nothing about the rail, however good it is.",
    "Check the rail's routes and rules (ip route get … from …), arp_ignore/arp_announce, and the GID index.",
    "kernel Documentation/networking/ip-sysctl.rst: without source routing the first fitting route wins",
)
BANDWIDTH = Rule(
    "pair.bandwidth",
    "The pair reaches the bandwidth of the acceptance",
    "fail",
    "pair",
    "Training runs at the speed of its slowest pair.",
    "Compare with other pairs of the rail: one slow node points to PCIe or NUMA, one slow leaf to its uplinks.",
    "fabric_spec.acceptance.bandwidth; perftest ib_write_bw",
)

SLOW = "the pair is slower than accepted"
LOSSY = "packets are lost on the way: a bad cable or transceiver, or an overrun queue"
# Reasons of a PairResult (model/finding.py) under which nothing was sent or nothing is known.
NOT_MEASURED = ("no_device", "no_address", "no_gid", "no_counters", "in_use", "not_run", "tool")
SIZE = ("size_lost", "too_big", "local_mtu")
WRONG_WAY = ("wrong_egress", "wrong_path")


def check_pairs(results: Iterable[PairResult], nodes: Mapping[str, NodeResult]) -> tuple[Finding, ...]:
    """One finding a pair and rule, the worst where several results speak about one; classes apart. Not linked."""
    bound = {
        (node.host, rail.intent.name): rail
        for node in nodes.values()
        if node.intent is not None and node.facts is not None
        for rail in bind(node.intent, node.facts)
    }
    accept = {node.host: node.intent.acceptance for node in nodes.values() if node.intent is not None}
    wanted = {place: _wanted(rail) for place, rail in bound.items()}
    found: dict[tuple[Optional[str], ...], Finding] = {}
    for result in results:
        place = (result.host, result.rail)
        rail = bound.get(place)
        judge = _JUDGES.get(result.kind)
        if judge is None:
            continue
        for finding in (*judge(result, rail, accept.get(result.host)), _path(result, wanted.get(place))):
            if finding is None:
                continue
            key = (finding.rule, finding.host, finding.rail, finding.peer)
            known = found.setdefault(key, finding)
            if known is not finding and severity_rank(finding.state) > severity_rank(known.state):
                found[key] = finding
    return tuple(found.values())


def accepted(rail: Optional[RailIntent], acceptance: Optional[Acceptance]) -> Optional[float]:
    """The least bandwidth in Gbit/s, or nothing where the spec names no speed (soft RoCE has none)."""
    if acceptance is None:
        return None
    if acceptance.bandwidth > 1:
        return acceptance.bandwidth
    return acceptance.bandwidth * rail.speed_gbps if rail is not None and rail.speed_gbps else None


def peer_name(result: PairResult) -> str:
    """The peer as findings name it: with its rail where that is another one."""
    same = result.peer_rail in ("", result.rail)
    return result.peer if same else f"{result.peer}/{result.peer_rail}"


def _broken(rule: Rule, result: PairResult, expected: str, cause: str, found: str = "") -> Finding:
    found = found or result.error or "no answer"
    return rule.broken(result.host, result.rail, expected=expected, found=found, cause=cause, peer=peer_name(result))


def _packets(
    result: PairResult, _rail: Optional[BoundRail], _acceptance: Optional[Acceptance]
) -> tuple[Optional[Finding], ...]:
    host, rail, peer, reason = result.host, result.rail, peer_name(result), result.reason
    size = f"{result.expected:g} bytes unfragmented" if result.expected else "a full-size packet"
    if result.error is None and (result.value is None or result.expected is None or result.value >= result.expected):
        return REACH.passed(host, rail, peer=peer), FULL_MTU.passed(host, rail, found=size, peer=peer)
    if reason in WRONG_WAY:
        return ()
    if reason in NOT_MEASURED:
        found = result.error or "not measured"
        return (
            REACH.unknown(host, rail, expected="an answer", found=found, peer=peer),
            FULL_MTU.unknown(host, rail, expected=size, found=found, peer=peer),
        )
    if reason in SIZE or (result.error is None and result.value):
        return REACH.passed(host, rail, peer=peer), _too_small(result, size)
    blind = FULL_MTU.unknown(host, rail, expected=size, found="no answer to any size", peer=peer)
    if reason == "lossy":
        cause = LOSSY
    elif reason == "no_route":
        cause = f"{host} has no route to the peer on this rail"
    else:
        cause = "the two do not see each other on this rail although both links are up"
    return _broken(REACH, result, "an answer", cause), blind


def _too_small(result: PairResult, size: str) -> Finding:
    passed = f"; up to {result.value:g} bytes pass" if result.value else ""
    if result.reason == "local_mtu":
        cause = f"{result.host} itself refuses the size: its MTU is smaller"
    elif result.reason == "too_big":
        cause = "a router on the way has a smaller MTU"
    else:
        cause = "small packets pass, full-size ones vanish: a switch port on the way has a smaller MTU"
    return _broken(FULL_MTU, result, size, cause, f"{result.error or 'lost'}{passed}")


def _bandwidth(
    result: PairResult, rail: Optional[BoundRail], acceptance: Optional[Acceptance]
) -> tuple[Optional[Finding], ...]:
    host, name, peer = result.host, result.rail, peer_name(result)
    bound = result.expected if result.expected is not None else accepted(rail.intent if rail else None, acceptance)
    expected = f"at least {bound:g} Gbit/s" if bound is not None else "a result"
    if result.reason in WRONG_WAY:
        found = f"{result.value:.4g} Gbit/s over another path" if result.value is not None else str(result.error)
        return (BANDWIDTH.unknown(host, name, expected=expected, found=found, peer=peer),)
    if result.reason in NOT_MEASURED or (result.error is None and result.value is None):
        return (BANDWIDTH.unknown(host, name, expected=expected, found=result.error or "not measured", peer=peer),)
    if result.error is not None or result.value is None:
        return (_broken(BANDWIDTH, result, expected, "the RDMA test failed"),)
    found = f"{result.value:.4g} Gbit/s"
    if bound is not None and result.value < bound:
        return (_broken(BANDWIDTH, result, expected, SLOW, found),)
    return (BANDWIDTH.passed(host, name, found=found, peer=peer),)


_JUDGES = {"mtu": _packets, "bandwidth": _bandwidth}


def _path(result: PairResult, known: Optional[Mapping[str, tuple[str, ...]]]) -> Optional[Finding]:
    """Compare what was really used with the rail; a probe that states nothing about its path gives no finding."""
    used = [(word, value) for word, value in _used(result) if value]
    if result.reason not in WRONG_WAY and (result.error is not None or not used or known is None):
        return None
    wanted = known or {}
    expected = ", ".join(f"{word} {' or '.join(values)}" for word, values in wanted.items() if values)
    found = ", ".join(f"{word} {value}" for word, value in used) or str(result.error)
    off = [word for word, value in used if wanted.get(word) and value not in wanted[word]]
    if not off and result.reason not in WRONG_WAY:
        return PATH.passed(result.host, result.rail, found=found, peer=peer_name(result))
    what = " and ".join(off) or "path"
    cause = f"the {what} in use {'is' if len(off) < 2 else 'are'} not the rail's: another route or GID won"
    return _broken(PATH, result, expected, cause, found)


def _used(result: PairResult) -> tuple[tuple[str, Optional[str]], ...]:
    gid = result.gid.lower() if result.gid else None
    return ("device", result.device), ("GID", gid), ("netdev", result.netdev)


def _wanted(rail: BoundRail) -> dict[str, tuple[str, ...]]:
    held = rail.intent.addresses or (rail.netdev.addresses if rail.netdev else ())
    gids = tuple(gid_of(address) for address in held) if rail.intent.transport == "roce" else ()
    return {
        "device": (rail.rdma.name,) if rail.rdma else (),
        "GID": gids,
        "netdev": (rail.netdev_name,) if rail.netdev_name else (),
    }


def pair_of(finding: Finding) -> frozenset[tuple[Optional[str], Optional[str]]]:
    """Both ends of a pair finding, whichever way it was measured."""
    return frozenset(ends(finding))
