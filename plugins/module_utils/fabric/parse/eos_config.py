# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Arista EOS' ``show running-config all``, as text or as ``| json``.

Lines as in render/eos.py. Default map of code points: Arista EOS user manual, "Quality of Service", DSCP to traffic
class (0-7 to 1, 8-15 to 0, then by eights); default trust: DSCP on routed ports, CoS on switched ones.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, Optional

from ..errors import ParseError
from ..model.switch import Key, SwitchState
from . import ranges
from .text import numbered, parse_json

TOOL = "show running-config"
DEFAULT_CLASSES = (1, 0, 2, 3, 4, 5, 6, 7)
UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}

_DSCP = re.compile(r"qos map dscp ([0-9 ,-]+) to traffic-class ([0-7])( drop-precedence [0-9])?")
_CLASS = re.compile(r"qos map traffic-class ([0-9 ,-]+) to tx-queue ([0-7])")
_QUEUE = re.compile(r"(?:uc-)?tx-queue ([0-7])")
_ECN = re.compile(
    r"random-detect ecn minimum-threshold ([0-9]{1,12}) (\w+) maximum-threshold ([0-9]{1,12}) (\w+)"
    r"(?: max-mark-probability ([0-9]+))?(?: weight [0-9]+)?"
)
_NO_ECN = ("no random-detect ecn", "default random-detect ecn")
_NO_DROP = re.compile(r"priority-flow-control priority ([0-7]) no-drop")
_PFC_ON = ("priority-flow-control on", "priority-flow-control mode on")
_WATCHDOG = "priority-flow-control pause watchdog"
# Negations that override the profile, or state the default that does not: the dump alone does not tell which.
_NO_PFC = re.compile(r"(?:no|default) priority-flow-control(?: mode| on)?")
_NO_PFC_PRIORITY = re.compile(r"(?:no|default) priority-flow-control priority ([0-7])(?: no-drop)?")
_PFC_OFF = ("priority-flow-control off", "priority-flow-control mode off")
_PAGER = re.compile(r"[<-]-* ?more ?-*[->]", re.IGNORECASE)
_ONCE = ("hostname ", "interface ", "qos profile ")
_TIMER = re.compile(_WATCHDOG + r" port timer timeout (\S+) polling-interval \S+ recovery-time (\S+)(?: forced)?")

Settings = dict[Key, Optional[str]]


class Block:
    """A line of the configuration with those below it."""

    def __init__(self, line: str = "") -> None:
        self.line = line
        self.below: list[Block] = []

    def lines(self) -> list[str]:
        """Text of the lines right below."""
        return [block.line for block in self.below]

    def last(self, pattern: str) -> Optional[str]:
        """The one group of the last line below that fits: a later line overrides an earlier one."""
        found = [match[1] for match in (re.fullmatch(pattern, line) for line in self.lines()) if match]
        return found[-1] if found else None


def parse(text: str) -> SwitchState:
    """The settings of every Ethernet interface.

    :raises ParseError: for what is no running configuration, or does not reach its end.
    """
    top = _from_json(text) if text.lstrip().startswith("{") else _from_text(text)
    blocks = {block.line: block for block in top.below}
    profiles = {line[len("qos profile ") :]: block for line, block in blocks.items() if line.startswith("qos profile ")}
    shared = _shared(top)
    ports = {}
    for line, block in blocks.items():
        if line.startswith("interface Ethernet"):
            ports[line[len("interface ") :]] = {**shared, **_port(top, block, profiles)}
    return SwitchState("eos", ports, top.last(r"hostname (\S+)"))


def _from_text(text: str) -> Block:
    """The tree by indentation; the last line is ``end``, without which some of it is missing."""
    top = Block()
    open_blocks = [(-1, top)]
    last, once = "", set()
    for number, line in numbered(text):
        if last == "end":
            raise ParseError("lines follow its line 'end': this is more than one dump", f"{TOOL}:{number}", line[:80])
        last = line.strip()
        if last.startswith("!"):
            continue
        if _PAGER.fullmatch(last):
            raise ParseError("a pager's prompt is in it: use 'terminal length 0'", f"{TOOL}:{number}", last[:80])
        if last in once:
            raise ParseError("this is there twice, so two dumps are mixed", f"{TOOL}:{number}", last[:80])
        if line.startswith(_ONCE):
            once.add(last)
        depth = len(line) - len(line.lstrip(" "))
        while depth <= open_blocks[-1][0]:
            open_blocks.pop()
        block = Block(last)
        open_blocks[-1][1].below.append(block)
        open_blocks.append((depth, block))
    if last != "end":
        raise ParseError("the configuration does not reach its line 'end'", f"{TOOL}:1", last[:80])
    return top


def _from_json(text: str) -> Block:
    data = parse_json(TOOL, text)
    if "cmds" not in data:
        raise ParseError("no object 'cmds'", f"{TOOL}:1", text.strip()[:80])
    top = Block()
    _below(top, data["cmds"])
    return top


def _below(block: Block, commands: Any) -> None:
    if not isinstance(commands, dict):
        raise ParseError("'cmds' is no mapping", f"{TOOL}:1", str(commands)[:80])
    for line, entry in commands.items():
        child = Block(line)
        block.below.append(child)
        if isinstance(entry, dict) and entry.get("cmds"):
            _below(child, entry["cmds"])


def _shared(top: Block) -> Settings:
    """What holds for all ports: the maps, and the watchdog's times."""
    found: Settings = {("dscp", dscp): str(DEFAULT_CLASSES[dscp >> 3]) for dscp in range(64)}
    for line in top.lines():
        match = _DSCP.fullmatch(line) or _CLASS.fullmatch(line)
        if match is None:
            continue
        setting = "dscp" if line.startswith("qos map dscp") else "priority"
        for number in ranges.numbers(",".join(match[1].replace(",", " ").split())) or ():
            found[setting, number] = match[2]
    found["watchdog_detection_ms", None] = _ms(top.last(_WATCHDOG + r" default timeout (\S+)"))
    found["watchdog_restoration_ms", None] = _ms(top.last(_WATCHDOG + r" default recovery-time (\S+)"))
    return found


def _ms(seconds: Optional[str]) -> Optional[str]:
    if seconds is None or not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", seconds):
        return None
    return str(round(float(seconds) * 1000))


def _port(top: Block, interface: Block, profiles: dict[str, Block]) -> Settings:
    name = interface.last(r"service-profile (\S+)")
    if name is not None and name not in profiles:
        # What the profile would say is unknown, and so is what it would override.
        return {**_own(top, interface), **_unknown()}
    both = Block()
    both.below = [*(profiles[name].below if name is not None else ()), *interface.below]
    found: Settings = {
        **_own(top, interface),
        ("trust", None): _trust(both, interface),
        ("shaper", None): both.last(r"shape rate (.+)") or "none",
        ("pfc", None): "none" if "priority-flow-control all off" in top.lines() else _pfc(both, interface),
    }
    found.update(_watchdog(top, both, interface))
    for queue in range(8):
        found["ecn", queue], found["shaper", queue] = "off", "none"
    for queue, block in _queues(both):
        found["schedule", queue] = _schedule(block)
        found["shaper", queue] = block.last(r"shape rate (.+)") or "none"
        _ecn(found, queue, block)
    return found


def _own(top: Block, interface: Block) -> Settings:
    """What no profile has."""
    return {
        ("link", None): "down" if interface.last(r"((?:no )?shutdown)") == "shutdown" else "up",
        ("mtu", None): interface.last(r"mtu ([0-9]+)"),
        ("pause", None): _pause(interface),
        ("remark", None): "on" if top.last(r"((?:no )?qos rewrite dscp)") == "qos rewrite dscp" else "off",
    }


def _unknown() -> Settings:
    return {("watchdog_detection_ms", None): None, ("watchdog_restoration_ms", None): None}


def _pause(interface: Block) -> str:
    return "off" if interface.last(r"(flowcontrol (?:send|receive) (?:on|desired))") is None else "on"


def _trust(both: Block, interface: Block) -> Optional[str]:
    word = both.last(r"(no qos trust|qos trust .*)")
    if word is None:
        return "dscp" if "no switchport" in interface.lines() else "pcp"
    return {"qos trust dscp": "dscp", "qos trust cos": "pcp", "no qos trust": "none"}.get(word)


def _pfc(both: Block, interface: Block) -> Optional[str]:
    on, lossless = False, set()
    for line in both.lines():
        if line in _PFC_ON:
            on = True
        elif line in _PFC_OFF or _NO_PFC.fullmatch(line):
            on = False
        match = _NO_DROP.fullmatch(line)
        if match:
            lossless.add(match[1])
        elif re.fullmatch(r"priority-flow-control priority [0-7] drop", line) or _NO_PFC_PRIORITY.fullmatch(line):
            lossless.discard(re.sub(r"\D", "", line))
    if any(_NO_PFC.fullmatch(line) or _NO_PFC_PRIORITY.fullmatch(line) for line in interface.lines()):
        return None
    return (",".join(sorted(lossless)) if on else "") or "none"


def _watchdog(top: Block, both: Block, interface: Block) -> Settings:
    """The port's own times and action, where it has them, override those of all ports; errdisable is the default."""
    word = both.last(f"((?:(?:no|default) )?{_WATCHDOG})")
    on = None if f"no {_WATCHDOG}" in interface.lines() else "on" if word == _WATCHDOG else "off"
    found: Settings = {("watchdog", None): on}
    for line in both.lines():
        match = _TIMER.fullmatch(line)
        if match:
            found["watchdog_detection_ms", None] = _ms(match[1])
            found["watchdog_restoration_ms", None] = _ms(match[2])
    action = both.last(_WATCHDOG + r" port action (\S+)") or top.last(_WATCHDOG + r" action (\S+)") or "errdisable"
    overridden = f"{_WATCHDOG} override action drop" in top.lines()
    found["watchdog_action", None] = "drop" if overridden else action
    return found


def _queues(both: Block) -> Iterator[tuple[int, Block]]:
    """Queues with the lines of profile and port together."""
    merged: dict[int, Block] = {}
    for block in both.below:
        match = _QUEUE.fullmatch(block.line)
        if match:
            merged.setdefault(int(match[1]), Block(block.line)).below.extend(block.below)
    return iter(sorted(merged.items()))


def _schedule(block: Block) -> str:
    """A queue is strict unless it says otherwise."""
    share = str(block.last(r"(bandwidth percent [0-9]+|no bandwidth percent)"))
    weighted = share.startswith("bandwidth") and block.last(r"(no priority|priority strict)") == "no priority"
    return f"ets {share.rsplit(maxsplit=1)[-1]}" if weighted else "strict"


def _ecn(found: Settings, queue: int, block: Block) -> None:
    lines = [line for line in block.lines() if _ECN.fullmatch(line) or line in _NO_ECN]
    match = _ECN.fullmatch(lines[-1]) if lines else None
    if match is None:
        return
    found["ecn", queue] = "on"
    for setting, value, unit in (("ecn_min_bytes", match[1], match[2]), ("ecn_max_bytes", match[3], match[4])):
        # Segments and milliseconds depend on the platform and the link's speed.
        found[setting, queue] = str(int(value) * UNITS[unit]) if unit in UNITS else None
    found["ecn_probability", queue] = match[5]
