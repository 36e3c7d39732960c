# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of a firewall's openings for rails: RoCE, and the test servers of ``prove``.

An RDMA NIC takes RoCE past the kernel's filters; soft RoCE, the connection manager over IP and the handshake of every
test do not.
"""

from __future__ import annotations

import json
from typing import Iterable, Mapping, Optional

from ..errors import MissingError, ReadError
from ..model.base import Model
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent, RailIntent
from ..model.plan import Plan, Run, Step, WriteFile
from ..ports import Port
from ..probe.collect import Reader
from ..probe.firewall import firewall
from ..probe.system import CGROUPS
from ..records import dataclass, field, replace
from ..resolve.bind import bind
from ..resolve.openings import openings
from .files import read_files

FIREWALLD, UFW = "firewalld", "ufw"
# firewalld's rules have no room for a mark, so what was opened in it is written down; ufw's have a comment, which it
# keeps in hexadecimal (ufw/common.py).
RECORD = "/var/lib/railwright/firewalld.json"
MARK = "railwright"
_MARKED = f"comment={MARK.encode().hex()}"
_UFW_CONF, _UFW_RULES, _UFW_RULES6 = "/etc/ufw/ufw.conf", "/etc/ufw/user.rules", "/etc/ufw/user6.rules"


@dataclass(frozen=True, eq=False, repr=False)
class FirewallState(Model):
    """The firewall that runs, and what it holds already.

    ``zones`` are firewalld's by netdev, ``now`` and ``later`` its rich rules by zone, in force and at the next start.
    ``made`` are the rules that Railwright added: zone, address and rule. ``rules`` are the lines of ufw's files.
    ``closed`` is what filters that nobody manages keep out: netdev, protocol, port, and the rule.
    """

    backend: Optional[str] = None
    zones: Mapping[str, str] = field(default_factory=dict)
    now: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    later: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    made: tuple[tuple[str, str, str], ...] = ()
    rules: tuple[str, ...] = ()
    closed: tuple[tuple[str, str, int, str], ...] = ()


def read_firewall(port: Port, intent: NodeIntent, facts: NodeFacts) -> FirewallState:
    """What runs here; most nodes have none, and pay for a few looks at files.

    :raises ReadError: when a firewall that runs cannot be read.
    """
    if any(port.exists(f"{base}/system.slice/firewalld.service") for base in CGROUPS):
        return _read_firewalld(port, sorted(_rails(intent, facts)))
    try:
        enabled = "ENABLED=yes" in port.read(_UFW_CONF).replace('"', "").splitlines()
    except MissingError:
        enabled = False
    if not enabled:
        found = firewall(Reader(port), facts.netdevs or (), facts.management, facts.modules)
        shut = (item for item in (found.ports if found is not None else ()) if item.state == "closed")
        return FirewallState(closed=tuple((item.netdev, item.protocol, item.port, item.rule) for item in shut))
    files = read_files(port, (_UFW_RULES, _UFW_RULES6))
    return FirewallState(UFW, rules=tuple(line for text in files.values() if text for line in text.splitlines()))


def plan_firewall(intent: NodeIntent, facts: NodeFacts, state: FirewallState) -> Plan:
    """Openings that are missing, for the rails' own addresses (firewalld) or netdevs (ufw) and nothing else.

    Those of rails that the intent no longer has go again; only what Railwright itself opened, and marked or wrote down.
    """
    steps: list[Step] = []
    notes: list[str] = []
    for netdev, rail in _rails(intent, facts).items():
        if state.backend == FIREWALLD:
            steps += _firewalld(netdev, rail, state)
        elif state.backend == UFW:
            steps += _ufw(netdev, rail, state)
        else:
            notes += _closed(netdev, rail, state)
    if state.backend == FIREWALLD:
        steps = _recorded([*steps, *_stale_firewalld(intent, state)], state)
    elif state.backend == UFW:
        steps += _stale_ufw(intent, facts, state)
    undo = tuple(_opposite(action) for step in steps for action in step.actions if isinstance(action, Run))
    return Plan("network", tuple(steps), (), tuple(notes), undo)


def _closed(netdev: str, rail: RailIntent, state: FirewallState) -> list[str]:
    """A ruleset that no firewall manages is the site's, and where a line belongs in it only the site knows."""
    return [
        f"{rail.name}: {rule} keeps {protocol} {port} out of {netdev}. It is the site's and is not changed here; allow "
        f'this ahead of it: iifname "{netdev}" {protocol} dport {port} accept'
        for at, protocol, port, rule in dict.fromkeys(state.closed)
        if at == netdev and (protocol, port) in openings(rail)
    ]


def _rails(intent: NodeIntent, facts: NodeFacts) -> dict[str, RailIntent]:
    """RoCE rails with addresses by the netdev that carries them, or will."""
    bound = [(rail.netdev_name, rail.intent) for rail in bind(intent, facts)]
    return {
        name: rail
        for name, rail in bound
        if name is not None and name not in facts.management and rail.transport == "roce" and rail.addresses
    }


def _read_firewalld(port: Port, netdevs: list[str]) -> FirewallState:
    default = _told(port, "--get-default-zone")
    zones = {netdev: _told(port, f"--get-zone-of-interface={netdev}", "no zone") or default for netdev in netdevs}
    made, now, later = _made(port), {}, {}
    for zone in sorted({*zones.values(), *(zone for zone, _address, _rule in made)}):
        # A zone of an earlier spec may be gone by now, and its rules with it.
        asked = (f"--zone={zone}", "--list-rich-rules", "INVALID_ZONE")
        now[zone] = tuple(_told(port, *asked).splitlines())
        later[zone] = tuple(_told(port, "--permanent", *asked).splitlines())
    return FirewallState(FIREWALLD, zones, now, later, made)


def _made(port: Port) -> tuple[tuple[str, str, str], ...]:
    """What is written down; a record that is damaged proves nothing, so it is none."""
    try:
        entries = json.loads(port.read(RECORD))
        return tuple((str(zone), str(address), str(rule)) for zone, address, rule in entries)
    except (MissingError, ValueError, TypeError):
        return ()


def _told(port: Port, *words: str) -> str:
    """What firewall-cmd(1) says; the last word may be what it says instead of an answer."""
    none = words[-1] if not words[-1].startswith("--") else None
    argv = ("firewall-cmd", *(words[:-1] if none else words))
    done = port.run(argv, 15.0)
    said = (done.err or done.out).strip()
    if done.rc and none is not None and none in said:
        return ""
    if done.rc:
        raise ReadError(f"firewall-cmd failed with exit code {done.rc}: {said[:200]}", " ".join(argv))
    return done.out.strip()


def _firewalld(netdev: str, rail: RailIntent, state: FirewallState) -> list[Step]:
    """A rich rule a port and address (firewalld.richlanguage(5)), in the zone that the netdev is in."""
    steps = []
    zone = state.zones[netdev]
    for address in rail.addresses:
        family = "ipv6" if ":" in address else "ipv4"
        for protocol, number in openings(rail):
            target = f'family="{family}" destination address="{address.partition("/")[0]}"'
            rule = f'rule {target} port port="{number}" protocol="{protocol}" accept'
            missing = _rich(zone, f"--add-rich-rule={rule}", [rule not in at.get(zone, ()) for at in _times(state)])
            if missing:
                setting = f"firewalld, zone {zone}, {protocol} {number} to {address}"
                steps.append(Step(rail.name, setting, "closed", "open", missing))
    return steps


def _ufw(netdev: str, rail: RailIntent, state: FirewallState) -> list[Step]:
    steps = []
    families = {":" in address for address in rail.addresses}
    for protocol, number in openings(rail):
        # As ufw writes them down, ufw/backend_iptables.py: action, protocol, ports and addresses of both ends, netdev.
        anywhere = ["::/0" if v6 else "0.0.0.0/0" for v6 in families]
        tuples = [f"### tuple ### allow {protocol} {number} {every} any {every} in_{netdev}" for every in anywhere]
        if all(any(line.startswith(wanted) for line in state.rules) for wanted in tuples):
            continue
        action = Run(("ufw", *_words(netdev, protocol, str(number)), "comment", MARK))
        steps.append(Step(rail.name, f"ufw, {protocol} {number} in on {netdev}", "closed", "open", (action,)))
    return steps


def _words(netdev: str, protocol: str, number: str) -> tuple[str, ...]:
    return ("allow", "in", "on", netdev, "to", "any", "port", number, "proto", protocol)


def _times(state: FirewallState) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    return state.now, state.later


def _rich(zone: str, option: str, due: Iterable[bool]) -> tuple[Run, ...]:
    """firewall-cmd(1) for now and for the next start, where each is due."""
    words = ((), ("--permanent",))
    return tuple(Run(("firewall-cmd", *when, f"--zone={zone}", option)) for when, wanted in zip(words, due) if wanted)


def _stale_firewalld(intent: NodeIntent, state: FirewallState) -> list[Step]:
    """Rules of ours for addresses that no rail has any more."""
    kept = {address.partition("/")[0] for rail in intent.rails for address in rail.addresses}
    steps = []
    for zone, address, rule in state.made:
        held = [rule in at.get(zone, ()) for at in _times(state)]
        if address not in kept and any(held):
            actions = _rich(zone, f"--remove-rich-rule={rule}", held)
            steps.append(
                Step(address, f"firewalld, zone {zone}, {rule}", "open for an earlier spec", "closed", actions)
            )
    return steps


def _recorded(steps: list[Step], state: FirewallState) -> list[Step]:
    """The steps, the last one with the record of what stands afterwards."""
    held = {(zone, rule) for at in _times(state) for zone, rules in at.items() for rule in rules}
    made = dict.fromkeys(entry for entry in state.made if (entry[0], entry[2]) in held)
    for step in steps:
        runs = [action for action in step.actions if isinstance(action, Run)]
        zone, option = runs[0].argv[-2:]
        name, rule = option.split("=", 1)
        address = rule.partition('destination address="')[2].partition('"')[0]
        entry = (zone.partition("=")[2], address, rule)
        if name == "--remove-rich-rule":
            made.pop(entry, None)
        elif len(runs) > 1:  # one that stood there already, now or later, is somebody else's
            made[entry] = None
    if not steps or tuple(made) == state.made:
        return steps
    record = WriteFile(RECORD, json.dumps(list(made)) + "\n", 0o600)
    return [*steps[:-1], replace(steps[-1], actions=(*steps[-1].actions, record))]


def _stale_ufw(intent: NodeIntent, facts: NodeFacts, state: FirewallState) -> list[Step]:
    """Rules with our mark on netdevs that no rail has any more; while a rail's netdev is not known, none is stale."""
    names = [rail.netdev_name for rail in bind(intent, facts)]
    if None in names:
        return []
    steps: dict[tuple[str, ...], Step] = {}
    for line in state.rules:
        words = line.split()
        # ### tuple ### allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 in_ens4 comment=…
        if len(words) != 11 or words[:4] != ["###", "tuple", "###", "allow"] or words[10] != _MARKED:
            continue
        protocol, number, netdev = words[4], words[5], words[9].partition("in_")[2]
        if netdev and netdev not in names:
            action = Run(("ufw", "delete", *_words(netdev, protocol, number)))
            setting = f"ufw, {protocol} {number} in on {netdev}"
            steps[action.argv] = Step(netdev, setting, "open for an earlier spec", "closed", (action,))
    return list(steps.values())


def _opposite(action: Run) -> Run:
    """What takes an action back: closes what it opened, and the other way round."""
    if action.argv[:2] == ("ufw", "delete"):
        return Run(("ufw", *action.argv[2:], "comment", MARK), action.timeout, (0, 1))
    if action.argv[0] == "ufw":
        return Run(("ufw", "delete", *action.argv[1:-2]), action.timeout, (0, 1))
    *words, option = action.argv
    name, rule = option.split("=", 1)
    other = "--remove-rich-rule" if name == "--add-rich-rule" else "--add-rich-rule"
    return Run((*words, f"{other}={rule}"), action.timeout, tuple(range(256)))
