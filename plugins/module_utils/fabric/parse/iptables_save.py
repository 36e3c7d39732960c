# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``iptables-save`` and ``ip6tables-save``: chains that packets pass when they come in, with their rules."""

from __future__ import annotations

import shlex
from typing import Iterator, Optional, Sequence

from .filters import (
    ACCEPT,
    DESTINATION,
    DROP,
    GOTO,
    JUMP,
    MAYBE,
    NETDEV,
    PORT,
    PROTOCOL,
    RETURN,
    SOURCE,
    STATE,
    TARGET_TYPE,
    UNKNOWN,
    Chain,
    Condition,
    FilterRule,
    Value,
)
from .text import numbered, wrong

TOOL = "iptables-save"
_TABLES = ("filter", "nat", "mangle", "raw", "security")
_BUILT_IN = ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")
_POLICIES = ("ACCEPT", "DROP", "QUEUE", "-")
# Where packets to this machine pass; nat only translates.
_HOOKS = {"PREROUTING": "prerouting", "INPUT": "input"}
_VERDICTS = {"ACCEPT": ACCEPT, "DROP": DROP, "REJECT": DROP, "RETURN": RETURN, "QUEUE": UNKNOWN, "NFQUEUE": UNKNOWN}
_IDLE = ("LOG", "NFLOG", "ULOG", "MARK", "CONNMARK", "CT", "NOTRACK", "TRACE", "TCPMSS", "DSCP", "TOS", "CLASSIFY")
_OPTIONS = {
    "-i": NETDEV,
    "-p": PROTOCOL,
    "-s": SOURCE,
    "-d": DESTINATION,
    "--dport": PORT,
    "--dports": PORT,
    "--ctstate": STATE,
    "--state": STATE,
    "--dst-type": TARGET_TYPE,
}
# Matches that are nothing without their options, and those that say nothing about the packet.
_MODULES = ("tcp", "udp", "multiport", "conntrack", "state", "addrtype", "comment")


def parse(text: str, family: str = "ip") -> tuple[Chain, ...]:
    """All chains but those of ``nat``. ``family`` is ``ip`` or ``ip6``, which the text does not tell."""
    table = ""
    heads: dict[tuple[str, str], str] = {}
    rules: dict[tuple[str, str], list[FilterRule]] = {}
    for number, line in numbered(text):
        if line.startswith("#") or line == "COMMIT":
            continue
        if line.startswith("*"):
            table = line[1:]
            if table not in _TABLES:
                raise wrong(TOOL, number, line, "no table that iptables has")
        elif not table:
            raise wrong(TOOL, number, line, "a line before the first table")
        elif line.startswith(":") and len(line.split()) > 1:
            name, policy = line[1:].split()[:2]
            if policy not in _POLICIES or (policy != "-" and name not in _BUILT_IN):
                raise wrong(TOOL, number, line, "no chain with a policy that iptables has")
            heads[table, name] = policy
        elif line.startswith(("-A ", "[")):
            rule, chain = _rule(line, number, family, table, {name for place, name in heads if place == table})
            if (table, chain) not in heads:
                raise wrong(TOOL, number, line, f"a rule of chain {chain}, which is not there")
            if rule is not None:
                rules.setdefault((table, chain), []).append(rule)
        else:
            raise wrong(TOOL, number, line, "neither a table nor a chain nor a rule")
    return tuple(
        Chain(
            family,
            table,
            name,
            _HOOKS.get(name, "") if policy != "-" and table != "nat" else "",
            DROP if policy == "DROP" else ACCEPT,
            tuple(rules.get((table, name), ())),
        )
        for (table, name), policy in heads.items()
    )


def _rule(line: str, number: int, family: str, table: str, chains: set[str]) -> tuple[Optional[FilterRule], str]:
    try:
        words = shlex.split(line[line.index("-A ") :])
    except ValueError:
        raise wrong(TOOL, number, line, "no rule of the form '-A CHAIN …'") from None
    if len(words) < 2:
        raise wrong(TOOL, number, line, "a rule without a chain")
    verdict, target = "", ""
    conditions: list[Condition] = []
    for option, negated, values in _options(words[2:]):
        if option in ("-j", "-g") and values:
            target = values[0]
            verdict = (GOTO if option == "-g" else JUMP) if target in chains else _VERDICTS.get(target, UNKNOWN)
            if target in _IDLE:
                verdict = ""
            break  # what follows are the target's own options
        conditions += _condition(option, values, negated)
    place = f"{family} {table} {words[1]}: {line[line.index('-A ') :]}"[:200]
    return (FilterRule(place, verdict, tuple(conditions), target) if verdict else None), words[1]


def _options(words: Sequence[str]) -> Iterator[tuple[str, bool, list[str]]]:
    """Options with their values, and whether a ``!`` stands before them."""
    negated, option = False, ""
    values: list[str] = []
    for word in words:
        if word == "!" or word.startswith("-"):
            if option:
                yield option, negated, values
                negated, option = False, ""
            if word == "!":
                negated = True
            else:
                option, values = word, []
        else:
            values.append(word)
    if option:
        yield option, negated, values


def _condition(option: str, values: list[str], negated: bool) -> list[Condition]:
    if (option == "-m" and values and values[0] in _MODULES) or option == "--comment":
        return []
    kind = _OPTIONS.get(option)
    if kind is None or len(values) != 1:
        return [Condition(MAYBE, (" ".join((option, *values)),))]
    found: list[Value] = []
    for value in values[0].split(","):
        if kind == PORT:
            first, colon, last = value.partition(":")
            if not first.isdecimal() or (colon and not last.isdecimal()):
                return [Condition(MAYBE, (f"{option} {value}",))]
            found.append((int(first), int(last or first)))
        else:
            word = value.lower() if kind in (STATE, TARGET_TYPE) else value
            found.append(word[:-1] + "*" if kind == NETDEV and word.endswith("+") else word)
    return [Condition(kind, tuple(found), negated)]
