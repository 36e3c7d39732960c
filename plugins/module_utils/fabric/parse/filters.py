# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Packet filters, whoever wrote them: chains of rules, and what they do to a packet that comes in.

A condition holds, does not hold, or cannot be told; then both ways are followed. So an answer is certain, or it is
"unknown", and never a guess.
"""

from __future__ import annotations

from typing import Optional, Sequence, Union

from ..records import dataclass

ACCEPT, DROP, RETURN, JUMP, GOTO, UNKNOWN = "accept", "drop", "return", "jump", "goto", "unknown"
OPEN, CLOSED = "open", "closed"
# Kinds of conditions; the values of MAYBE are words about what cannot be told.
NETDEV, PROTOCOL, PORT, FAMILY, STATE, SOURCE, DESTINATION, TARGET_TYPE, MAYBE = (
    "netdev",
    "protocol",
    "port",
    "family",
    "state",
    "source",
    "destination",
    "type",
    "maybe",
)
_DEEP = 32  # the kernel allows 16 jumps: NFT_JUMP_STACK_SIZE, linux/netfilter/nf_tables.h

Value = Union[str, tuple[int, int]]


@dataclass(frozen=True)
class Packet:
    """The first packet to ``port`` that comes in on ``netdev``, from the subnet of ``address`` (CIDR) to it."""

    netdev: str
    protocol: str  # udp | tcp
    port: int
    address: str


@dataclass(frozen=True)
class Condition:
    """It holds when one of ``values`` fits, or none of them when ``negated``. Values of a port are (first, last)."""

    kind: str
    values: tuple[Value, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class FilterRule:
    """What is done with a packet for which all conditions hold; ``place`` is where a person finds the rule."""

    place: str
    verdict: str
    conditions: tuple[Condition, ...] = ()
    target: str = ""  # of a jump or goto: a chain of the same table


@dataclass(frozen=True)
class Chain:
    """``hook`` is empty for one that is only jumped to; ``family`` is that of nftables: ip, ip6, inet, netdev."""

    family: str
    table: str
    name: str
    hook: str = ""
    policy: str = ACCEPT
    rules: tuple[FilterRule, ...] = ()
    netdevs: tuple[str, ...] = ()  # of a chain that sits on some of them only

    @property
    def place(self) -> str:
        """As in ``nft list chain``."""
        return f"{self.family} {self.table} {self.name}"


def judge(chains: Sequence[Chain], packet: Packet) -> tuple[str, str]:
    """What becomes of a packet, and by which rule: ``open``, ``closed`` or ``unknown``.

    It has to pass every chain on its way: one that accepts ends only itself (nft(8), base chains).
    """
    doubt = ""
    known = {(chain.family, chain.table, chain.name): chain for chain in chains}
    for chain in chains:
        if not chain.hook or not _concerns(chain, packet):
            continue
        ends = _ends(chain, packet, known, {}, 0)
        ends = {chain.policy if end == RETURN else end: place or _policy(chain) for end, place in ends.items()}
        if set(ends) == {DROP}:
            return CLOSED, ends[DROP]
        doubt = doubt or ends.get(UNKNOWN) or ends.get(DROP, "")
    return (UNKNOWN, doubt) if doubt else (OPEN, "")


def _policy(chain: Chain) -> str:
    return f"policy of {chain.place}"


def _concerns(chain: Chain, packet: Packet) -> bool:
    family = "ip6" if ":" in packet.address else "ip"
    return chain.family in ("inet", "netdev", family) and (not chain.netdevs or packet.netdev in chain.netdevs)


def _ends(
    chain: Chain,
    packet: Packet,
    known: dict[tuple[str, str, str], Chain],
    seen: dict[str, dict[str, str]],
    depth: int,
) -> dict[str, str]:
    """How a chain can end for the packet, each with a rule that does it; RETURN when it comes to the end."""
    if chain.name in seen:
        return seen[chain.name]
    ends: dict[str, str] = {}
    for rule in chain.rules:
        holds = _all_hold(rule.conditions, packet)
        if holds is False:
            continue
        if rule.verdict in (JUMP, GOTO):
            target = known.get((chain.family, chain.table, rule.target))
            below = {UNKNOWN: rule.place}
            if target is not None and depth < _DEEP:
                below = dict(_ends(target, packet, known, seen, depth + 1))
            if RETURN in below and rule.verdict == JUMP:
                del below[RETURN]
                holds = None
        else:
            below = {rule.verdict: rule.place if rule.verdict != RETURN else ""}
        for end, place in below.items():
            ends.setdefault(end, place)
        if holds:
            break
    else:
        ends.setdefault(RETURN, "")
    seen[chain.name] = ends
    return ends


def _all_hold(conditions: Sequence[Condition], packet: Packet) -> Optional[bool]:
    answers = [_holds(condition, packet) for condition in conditions]
    if False in answers:
        return False
    return None if None in answers else True


def _holds(condition: Condition, packet: Packet) -> Optional[bool]:
    answers = [_fits(condition.kind, value, packet) for value in condition.values]
    answer = True if True in answers else None if None in answers else False
    return answer if answer is None or not condition.negated else not answer


def _fits(kind: str, value: Value, packet: Packet) -> Optional[bool]:
    if isinstance(value, tuple):
        return value[0] <= packet.port <= value[1] if kind == PORT else None
    if kind == NETDEV:
        return packet.netdev.startswith(value[:-1]) if value.endswith("*") else packet.netdev == value
    if kind == PROTOCOL:
        return value == packet.protocol
    if kind == FAMILY:
        return value == ("ip6" if ":" in packet.address else "ip")
    if kind == STATE:
        return value == "new"  # of the first packet
    if kind == TARGET_TYPE:
        return value in ("local", "unicast")
    if kind in (SOURCE, DESTINATION):
        return _within(value, packet.address, whole=kind == SOURCE)
    return None


def _within(prefix: str, address: str, whole: bool) -> Optional[bool]:
    """Whether an address, or its ``whole`` subnet, lies in a prefix; ``None`` when only a part does, or for IPv6."""
    if ":" in prefix or ":" in address:
        return None if ":" in prefix and ":" in address else False
    try:
        base, length = _number(prefix)
        own, own_length = _number(address)
    except ValueError:
        return None
    if not whole:
        own_length = 32
    short = min(length, own_length)
    if base >> (32 - short) != own >> (32 - short):
        return False
    return True if length <= own_length else None


def _number(prefix: str) -> tuple[int, int]:
    address, _slash, length = prefix.partition("/")
    octets = bytes(int(octet) for octet in address.split("."))
    if len(octets) != 4 or not 0 <= int(length or 32) <= 32:
        raise ValueError(prefix)
    return int.from_bytes(octets, "big"), int(length or 32)
