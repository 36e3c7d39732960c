# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``nft -j -t list ruleset``: chains that packets pass when they come in, with their rules (libnftables-json(5))."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from .filters import (
    ACCEPT,
    DESTINATION,
    DROP,
    FAMILY,
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
from .text import parse_json, wrong

TOOL = "nft"
HOOKS = ("ingress", "prerouting", "input")
# All that nft(8) has; a word that is none of them is damage, and what it belongs to could be anything.
_WORDS = {
    "family": ("ip", "ip6", "inet", "arp", "bridge", "netdev"),
    "hook": ("", *HOOKS, "forward", "output", "postrouting", "egress"),
    "type": ("filter", "nat", "route"),
    "policy": ("accept", "drop"),
}
_VERDICTS = {"accept": ACCEPT, "drop": DROP, "reject": DROP, "return": RETURN, "jump": JUMP, "goto": GOTO}
# Statements that leave a packet where it is. What is in neither list makes a rule one that may not match.
_IDLE = ("counter", "log", "comment", "mangle", "notrack", "ct helper", "ct timeout", "meter", "set", "map")
_META = {"iifname": NETDEV, "iif": NETDEV, "l4proto": PROTOCOL, "nfproto": FAMILY, "protocol": FAMILY}
_FIELDS = {"dport": PORT, "saddr": SOURCE, "daddr": DESTINATION, "protocol": PROTOCOL, "nexthdr": PROTOCOL}
_EXTENSION = "an extension of iptables"
_IDLE_EXTENSIONS = ("comment", "LOG", "NFLOG", "MARK", "CONNMARK", "CT", "TRACE")


def parse(text: str) -> tuple[Chain, ...]:
    """All chains of the families that see IP packets; only those with a hook of :data:`HOOKS` have one here."""
    data = parse_json(TOOL, text)
    entries = data.get("nftables") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise wrong(TOOL, 1, text, "no object with a list 'nftables'")
    chains: dict[tuple[str, str, str], dict[str, Any]] = {}
    rules: dict[tuple[str, str, str], list[FilterRule]] = {}
    for number, entry in enumerate(entries, 1):
        for kind, value in entry.items() if isinstance(entry, dict) else ():
            if kind not in ("chain", "rule"):
                continue
            place = _place(value, "name" if kind == "chain" else "chain", number)
            if kind == "chain":
                chains[place] = value
            else:
                rules.setdefault(place, []).extend(_rules(place, value, number))
    for place in rules:
        if place not in chains:
            raise wrong(TOOL, 1, " ".join(place), "a rule of a chain that is not there")
    return tuple(_chain(place, value, rules.get(place, [])) for place, value in chains.items())


def _place(value: Any, name: str, number: int) -> tuple[str, str, str]:
    names = [value.get(key) if isinstance(value, dict) else None for key in ("family", "table", name)]
    if not all(isinstance(word, str) for word in names):
        raise wrong(TOOL, number, str(value), f"no family, table and {name}")
    for key, words in _WORDS.items():
        if key in value and value[key] not in words:
            raise wrong(TOOL, number, str(value[key]), f"no {key} that nft has")
    return str(names[0]), str(names[1]), str(names[2])


def is_extended(chain: Chain) -> bool:
    """Whether iptables wrote rules of this chain that nft cannot show: iptables-save tells what they are."""
    return any(
        condition.kind == MAYBE and _EXTENSION in condition.values
        for rule in chain.rules
        for condition in rule.conditions
    )


def _chain(place: tuple[str, str, str], value: dict[str, Any], rules: list[FilterRule]) -> Chain:
    hook = value.get("hook", "")
    concerned = hook in HOOKS and value.get("type", "filter") == "filter"
    devices = value.get("dev", ())
    if not isinstance(devices, list):
        devices = (devices,) if isinstance(devices, str) else ()
    return Chain(
        *place,
        hook=hook if concerned else "",
        policy=DROP if value.get("policy") == "drop" else ACCEPT,
        rules=tuple(rules),
        netdevs=tuple(str(name) for name in devices),
    )


def _rules(place: tuple[str, str, str], rule: dict[str, Any], number: int) -> Iterator[FilterRule]:
    """A rule with a verdict map is one rule an entry of the map."""
    words = f"{' '.join(place)}, handle {rule.get('handle', '?')}"
    expressions = rule.get("expr", [])
    if not isinstance(expressions, list) or not all(isinstance(item, dict) for item in expressions):
        raise wrong(TOOL, number, str(rule), "'expr' is no list of mappings")
    conditions: list[Condition] = []
    for expression in expressions:
        for name, value in expression.items():
            if name == "match":
                conditions += _match(value)
            elif name in _VERDICTS:
                target = value.get("target", "") if isinstance(value, dict) else ""
                yield FilterRule(words, _VERDICTS[name], tuple(conditions), str(target))
                return
            elif name == "vmap":
                yield from _mapped(words, value, tuple(conditions))
            elif name == "xt":
                yield from _extension(words, value, conditions)
            elif name == "queue":
                yield FilterRule(words, UNKNOWN, tuple(conditions))
                return
            elif name not in _IDLE:
                conditions.append(Condition(MAYBE, (name,)))


def _extension(words: str, value: Any, conditions: list[Condition]) -> Iterator[FilterRule]:
    kind, name = (value.get("type"), value.get("name")) if isinstance(value, dict) else (None, None)
    if name in _IDLE_EXTENSIONS:
        return
    if kind == "target" and name == "REJECT":
        yield FilterRule(words, DROP, tuple(conditions))
    elif kind == "target":
        yield FilterRule(words, UNKNOWN, (*conditions, Condition(MAYBE, (_EXTENSION, str(name)))))
    else:
        conditions.append(Condition(MAYBE, (_EXTENSION, str(name))))


def _mapped(words: str, value: Any, conditions: tuple[Condition, ...]) -> Iterator[FilterRule]:
    data = value.get("data") if isinstance(value, dict) else None
    pairs = data.get("set") if isinstance(data, dict) else None
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        yield FilterRule(words, UNKNOWN, (*conditions, Condition(MAYBE, ("a named map",))))
        return
    for key, verdict in pairs:
        name = next(iter(verdict), "") if isinstance(verdict, dict) else ""
        found = _match({"op": "==", "left": value.get("key"), "right": key})
        target = verdict[name].get("target", "") if name and isinstance(verdict[name], dict) else ""
        if name in _VERDICTS:
            yield FilterRule(words, _VERDICTS[name], (*conditions, *found), str(target))


def _match(match: Any) -> list[Condition]:
    left = match.get("left") if isinstance(match, dict) else None
    name = next(iter(left), "") if isinstance(left, dict) else ""
    what = left[name] if isinstance(left, dict) and isinstance(left.get(name), dict) else {}
    negated = match.get("op") == "!=" if isinstance(match, dict) else False
    values = _values(match.get("right")) if isinstance(match, dict) else None
    if values is None:
        return [*_implied(name, what), Condition(MAYBE, (f"a named set or an expression of {name}",))]
    kind = _kind(name, what)
    if kind == PORT:
        values = tuple(_port(value) for value in values)
    return [*_implied(name, what), Condition(kind, values, negated)]


def _port(value: Value) -> Value:
    return (int(value), int(value)) if isinstance(value, str) and value.isdecimal() else value


def _kind(name: str, what: dict[str, Any]) -> str:
    key = what.get("key")
    if name == "meta":
        return _META.get(str(key), MAYBE)
    if name == "ct" and key == "state":
        return STATE
    if name == "fib" and what.get("result") == "type" and what.get("flags") in ("daddr", ["daddr"]):
        return TARGET_TYPE
    if name == "payload":
        return _FIELDS.get(str(what.get("field")), MAYBE)
    return MAYBE


def _implied(name: str, what: dict[str, Any]) -> list[Condition]:
    """A field of a protocol is there only in packets of that protocol."""
    protocol = what.get("protocol") if name == "payload" else None
    if protocol in ("ip", "ip6"):
        return [Condition(FAMILY, (str(protocol),))]
    if isinstance(protocol, str) and protocol != "th":
        return [Condition(PROTOCOL, (protocol,))]
    return []


def _values(right: Any) -> Optional[tuple[Value, ...]]:
    """What a field is compared with; ``None`` for what is not written out in the rule."""
    if isinstance(right, dict) and "set" in right:
        right = right["set"]
    found: list[Value] = []
    for item in right if isinstance(right, list) else [right]:
        value = item["elem"].get("val") if isinstance(item, dict) and isinstance(item.get("elem"), dict) else item
        if isinstance(value, dict) and isinstance(value.get("prefix"), dict):
            found.append(f"{value['prefix'].get('addr')}/{value['prefix'].get('len')}")
        elif isinstance(value, dict) and _is_range(value.get("range")):
            found.append((value["range"][0], value["range"][1]))
        elif isinstance(value, (str, int)) and not str(value).startswith("@"):
            found.append({"ipv4": "ip", "ipv6": "ip6"}.get(str(value), str(value)))
        else:
            return None
    return tuple(found)


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(end) is int for end in value)
