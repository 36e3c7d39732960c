# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of a firewall's openings for rails: RoCE, and the test servers of ``prove``.

An RDMA NIC takes RoCE past the kernel's filters; soft RoCE, the connection manager over IP and the handshake of every
test do not.
"""

from __future__ import annotations

from typing import Mapping, Optional

from ..errors import MissingError, ReadError
from ..model.base import Model
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent, RailIntent
from ..model.plan import Plan, Run, Step
from ..ports import Port
from ..probe.collect import Reader
from ..probe.firewall import firewall
from ..probe.system import CGROUPS
from ..records import dataclass, field
from ..resolve.bind import bind
from ..resolve.openings import openings
from .files import read_files

FIREWALLD, UFW = "firewalld", "ufw"
_UFW_CONF, _UFW_RULES, _UFW_RULES6 = "/etc/ufw/ufw.conf", "/etc/ufw/user.rules", "/etc/ufw/user6.rules"


@dataclass(frozen=True, eq=False, repr=False)
class FirewallState(Model):
    """The firewall that runs, and what it holds already.

    ``zones`` are firewalld's by netdev, ``now`` and ``later`` its rich rules by zone, in force and at the next start.
    ``rules`` are the lines of ufw's files. ``closed`` is what filters that nobody manages keep out: netdev, protocol,
    port, and the rule.
    """

    backend: Optional[str] = None
    zones: Mapping[str, str] = field(default_factory=dict)
    now: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    later: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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
    """Openings that are missing, for the rails' own addresses (firewalld) or netdevs (ufw) and nothing else."""
    steps: list[Step] = []
    notes: list[str] = []
    for netdev, rail in _rails(intent, facts).items():
        if state.backend == FIREWALLD:
            steps += _firewalld(netdev, rail, state)
        elif state.backend == UFW:
            steps += _ufw(netdev, rail, state)
        else:
            notes += _closed(netdev, rail, state)
    undo = tuple(_closing(action) for step in steps for action in step.actions if isinstance(action, Run))
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
    now, later = {}, {}
    for zone in sorted(set(zones.values())):
        now[zone] = tuple(_told(port, f"--zone={zone}", "--list-rich-rules").splitlines())
        later[zone] = tuple(_told(port, "--permanent", f"--zone={zone}", "--list-rich-rules").splitlines())
    return FirewallState(FIREWALLD, zones, now, later)


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
            add = ("firewall-cmd", f"--zone={zone}", f"--add-rich-rule={rule}")
            missing = [
                argv
                for held, argv in ((state.now, add), (state.later, (add[0], "--permanent", *add[1:])))
                if rule not in held.get(zone, ())
            ]
            if missing:
                actions = tuple(Run(argv) for argv in missing)
                setting = f"firewalld, zone {zone}, {protocol} {number} to {address}"
                steps.append(Step(rail.name, setting, "closed", "open", actions))
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
        argv = ("ufw", "allow", "in", "on", netdev, "to", "any", "port", str(number), "proto", protocol)
        steps.append(Step(rail.name, f"ufw, {protocol} {number} in on {netdev}", "closed", "open", (Run(argv),)))
    return steps


def _closing(action: Run) -> Run:
    """The opposite of an opening."""
    if action.argv[0] == "ufw":
        return Run(("ufw", "delete", *action.argv[1:]), action.timeout, (0, 1))
    argv = tuple(word.replace("--add-rich-rule=", "--remove-rich-rule=") for word in action.argv)
    return Run(argv, action.timeout, tuple(range(256)))
