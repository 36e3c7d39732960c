# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``nv config show -o json`` of Cumulus Linux: what was set, above the defaults of the mode that is on.

Objects as in render/cumulus.py. Defaults: CumulusNetworks/docs, content/cumulus-linux-514/Layer-1-and-Switch-Ports/
Quality-of-Service/RDMA-over-Converged-Ethernet-RoCE.md ("Default RoCE Configuration" and "nv show qos roce") and
_index.md ("Classification", "Egress Scheduler", "Egress Queues", "Congestion Control (ECN)", "PFC Watchdog").
"""

from __future__ import annotations

import re
from typing import Any, Iterable, Optional

from ..errors import ParseError
from ..model.switch import Key, SwitchState
from . import ranges
from .text import parse_json

TOOL = "nv config show"
PROFILE = "default-global"
OLDEST = 5  # RoCE mode as an object of NVUE: Cumulus Linux 5.0, release notes
ON = ("on", "enable", "enabled")
CABLE_M, MTU, POLL_MS, ROBUSTNESS = 100, 9216, 100, 3
TRUST = {"l3": "dscp", "l2": "pcp", "port": "port", "both": "dscp"}  # with both, IP packets go by their DSCP

Settings = dict[Key, Optional[str]]
Tree = dict[str, Any]


def parse(text: str) -> SwitchState:
    """The settings of every interface that the configuration names.

    :raises ParseError: for what is no such configuration.
    """
    tree = _tree(parse_json(TOOL, text), text)
    qos = _Qos(_mapping(tree, "qos"))
    ports: dict[str, Tree] = {}
    for key, entry in _mapping(tree, "interface").items():
        for name in ranges.names(key):
            ports[name] = _merged(ports.get(name, {}), _checked(entry, key))
    found = {port: qos.port(entry) for port, entry in ports.items()}
    host = _mapping(tree, "system").get("hostname")
    return SwitchState("cumulus", found, host if isinstance(host, str) else None)


def _tree(data: Any, text: str) -> Tree:
    """The tree below ``set``, in a list beside a header, or by itself."""
    parts = data if isinstance(data, list) else [data]
    if not all(isinstance(part, dict) for part in parts):
        raise ParseError("a mapping is expected", f"{TOOL}:1", text.strip()[:80])
    sets = [part["set"] for part in parts if "set" in part]
    # One configuration has one set; several, or what takes away from it, are a history whose end is not told here.
    if len(sets) > 1 or any("unset" in part for part in parts):
        raise ParseError(
            "more than one set, or an unset: this is no whole configuration", f"{TOOL}:1", text.strip()[:80]
        )
    for version in (str(_mapping(part, "header").get("version", "")) for part in parts):
        major = re.search(r"([0-9]{1,3})\.[0-9]", version)
        if major is not None and int(major[1]) < OLDEST:
            raise ParseError(f"the objects read here are those of version {OLDEST}", f"{TOOL}:1", version[:80])
    found = sets[0] if sets else next((part for part in parts if "interface" in part), None)
    if not isinstance(found, dict) or "interface" not in found:
        raise ParseError("no interfaces: this is no whole configuration", f"{TOOL}:1", text.strip()[:80])
    return found


def _checked(value: Any, place: str) -> Tree:
    if not isinstance(value, dict):
        raise ParseError(f"{place} is no mapping", f"{TOOL}:1", str(value)[:80])
    return value


def _mapping(tree: Tree, *path: str) -> Tree:
    """The mapping at a path; an empty one where it is not there."""
    for step in path:
        tree = _checked(tree.get(step, {}), step)
    return tree


def _merged(first: Tree, second: Tree) -> Tree:
    """Keys of an interface and of a range that it is in, together."""
    both = dict(first)
    for key, value in second.items():
        old = both.get(key)
        both[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both


def _words(value: Any) -> tuple[str, ...]:
    """A value, or the keys of a mapping, as releases write one and the same thing."""
    return tuple(value) if isinstance(value, dict) else (str(value),)


def _rows(table: Tree, limit: int) -> Iterable[tuple[int, Tree]]:
    """Entries by number; a key may be a list or a range."""
    for key, entry in table.items():
        for number in ranges.numbers(key) or ():
            if number < limit:
                yield number, _checked(entry, key)


class _Qos:
    """The switch's QoS tree, read for one port after the other."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        roce = _mapping(tree, "roce")
        on = "roce" in tree and str(roce.get("state", roce.get("enable", "on"))) in ON
        mode = str(roce.get("mode", "lossless")) if on else "off"
        self.roce = on
        self.mode = "lossless" if mode == "lossless-single-ipool" else mode
        self.cable = ranges.whole(roce.get("cable-length", CABLE_M))

    def port(self, interface: Tree) -> Settings:
        """What holds for one port: its profiles, or those of all ports."""
        own = _mapping(interface, "qos")
        found: Settings = {
            ("link", None): "down" if "down" in _words(_mapping(interface, "link").get("state", "up")) else "up",
            ("remark", None): "on" if (self._profile(own, "remark") or {}).get("rewrite") in ("l3", "both") else "off",
            ("shaper", None): "on" if self._profile(own, "egress-shaper") != {} else "none",
            ("mtu", None): ranges.whole(_mapping(interface, "link").get("mtu", MTU)),
            ("pause", None): "on" if "link-pause" in own else "off",
            ("roce_mode", None): self.mode,
            ("lossless_percent", None): ranges.whole(
                _mapping(self.tree, "traffic-pool", "roce-lossless").get("memory-percent")
            ),
        }
        self._map(found, self._profile(own, "mapping"))
        for priority in range(8):
            default = (priority if priority in (3, 6) else 0) if self.roce else priority
            found["priority", priority] = str(default)
        queues = _mapping(self.tree, "egress-queue-mapping", PROFILE, "switch-priority")
        for priority, entry in _rows(queues, 8):
            found["priority", priority] = ranges.whole(entry.get("traffic-class"))
        self._schedule(found, self._profile(own, "egress-scheduler"))
        self._ecn(found, self._profile(own, "congestion-control"))
        self._pfc(found, self._profile(own, "pfc"))
        self._watchdog(found, own)
        return found

    def _profile(self, own: Tree, kind: str) -> Optional[Tree]:
        """The profile that the port names, or the one of all ports; ``None`` for one that is nowhere."""
        name = str(_mapping(own, kind).get("profile", PROFILE))
        table = _mapping(self.tree, kind)
        return _checked(table[name], name) if name in table else {} if name == PROFILE else None

    def _map(self, found: Settings, profile: Optional[Tree]) -> None:
        if profile is None:
            return
        trust = profile.get("trust", "both" if self.roce else "l2")
        found["trust", None] = TRUST.get(str(trust))
        for dscp in range(64):
            found["dscp", dscp] = str(dscp >> 3)
        for dscp, entry in _rows(_mapping(profile, "dscp"), 64):
            found["dscp", dscp] = ranges.whole(entry.get("switch-priority"))

    def _schedule(self, found: Settings, profile: Optional[Tree]) -> None:
        if profile is None:
            return
        if self.roce:
            found.update({("schedule", 0): "ets 50", ("schedule", 3): "ets 50", ("schedule", 6): "strict"})
        else:
            found.update({("schedule", queue): f"ets {12 + queue % 2}" for queue in range(8)})
        for queue, entry in _rows(_mapping(profile, "traffic-class"), 8):
            share = ranges.whole(entry.get("bw-percent"))
            strict = entry.get("mode") == "strict"
            found["schedule", queue] = (
                "strict" if strict else f"ets {share}" if share and entry.get("mode") == "dwrr" else None
            )

    def _ecn(self, found: Settings, profile: Optional[Tree]) -> None:
        if profile is None:
            return
        marking = (0, 3) if self.roce else (0,)
        for queue in range(8):
            found["ecn", queue] = "on" if queue in marking else "off"
            found["ecn_min_bytes", queue], found["ecn_max_bytes", queue] = "150000", "1500000"
            found["ecn_probability", queue] = "100"
        for queue, entry in _rows(_mapping(profile, "traffic-class"), 8):
            if "ecn" in entry:
                found["ecn", queue] = "on" if str(entry["ecn"]) in ON else "off"
            for setting, key in (
                ("ecn_min_bytes", "min-threshold"),
                ("ecn_max_bytes", "max-threshold"),
                ("ecn_probability", "probability"),
            ):
                if key in entry:
                    found[setting, queue] = ranges.whole(entry[key])

    def _pfc(self, found: Settings, profile: Optional[Tree]) -> None:
        """Priorities that are set replace the default of RoCE mode; both directions are on unless switched off."""
        if profile is None:
            return
        numbers: set[int] = set()
        for key in _mapping(profile, "switch-priority"):
            listed = ranges.numbers(key)
            if listed is None:
                found["pfc", None] = None
                return
            numbers.update(listed)
        if not numbers and self.mode == "lossless":
            numbers = {3}
        off = [way for way in ("tx", "rx") if str(profile.get(way, "enable")) not in ON]
        text = ",".join(map(str, sorted(numbers))) if numbers and len(off) < 2 else "none"
        found["pfc", None] = f"{text} ({' and '.join(off)} off)" if len(off) == 1 and numbers else text
        cable = ranges.whole(profile["cable-length"]) if "cable-length" in profile else self.cable
        found["cable_length", None] = None if cable is None else f"{cable}m"

    def _watchdog(self, found: Settings, own: Tree) -> None:
        watchdog = own.get("pfc-watchdog")
        on = isinstance(watchdog, dict) and str(watchdog.get("state", "enable")) in ON
        found["watchdog", None] = "on" if on else "off"
        timers = _mapping(self.tree, "pfc-watchdog")
        poll = ranges.whole(timers.get("polling-interval", POLL_MS))
        times = ranges.whole(timers.get("robustness", ROBUSTNESS))
        found["watchdog_restoration_ms", None] = poll
        found["watchdog_detection_ms", None] = str(int(poll) * int(times)) if poll and times else None
        found["watchdog_action", None] = "drop"
