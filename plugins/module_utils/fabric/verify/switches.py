# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings about a switch's own dump: its differences from the spec, gathered by what they break."""

from __future__ import annotations

from typing import Iterable

from ..model.finding import Finding
from ..model.switch import Difference, SwitchIntent
from .rule import Rule

_REMEDY = "Push the rendered configuration of this switch, or correct the named settings by hand."
READABLE = Rule(
    "switch.readable",
    "The switch's dump can be read",
    "unknown",
    "fabric",
    "A switch that nobody looked at may drop what both nodes take for lossless.",
    "Put a dump of this switch into the folder; playbooks/switches.yml can fetch it.",
    "config_db.json, nv config show -o json, show running-config all",
)
PORT = Rule(
    "switch.port",
    "The switch has the ports that the nodes are cabled to",
    "fail",
    "fabric",
    "A port that the switch does not have is not the one that the node is cabled to.",
    "Correct the ports of this switch in the inventory, or take them from the nodes' LLDP.",
    "the switch's own dump; the inventory's map of ports",
)
MTU = Rule(
    "switch.mtu",
    "The switch's ports have the MTU of the spec",
    "fail",
    "fabric",
    "Full-size packets vanish on a port with a smaller MTU, small ones pass.",
    _REMEDY,
    "the switch's own dump; NVIDIA Cumulus Linux default for jumbo frames",
)
TRUST = Rule(
    "switch.trust",
    "The switch sorts packets by their DSCP as the nodes do",
    "fail",
    "fabric",
    "What the switch takes for another class is lossy between two nodes that are both right.",
    _REMEDY,
    "the switch's own dump; fabric_spec.fabrics.*.qos, data and cnp",
)
PFC = Rule(
    "switch.pfc",
    "The switch pauses exactly the lossless priorities",
    "fail",
    "fabric",
    "The switch drops where a node expects a pause, or pauses what nobody sends losslessly.",
    _REMEDY,
    "the switch's own dump; IEEE 802.1Qbb",
)
CLASSES = Rule(
    "switch.classes",
    "The switch's queues share its ports as the spec says",
    "fail",
    "fabric",
    "A queue with another share, or a priority in another queue, starves RoCE as soon as a port is shared.",
    _REMEDY,
    "the switch's own dump; fabric_spec.fabrics.*.qos.traffic_classes",
)
ECN = Rule(
    "switch.ecn",
    "The switch marks congestion in the data's queue",
    "fail",
    "fabric",
    "Without marks no sender slows down: congestion is left to PFC, and its pauses spread.",
    _REMEDY,
    "the switch's own dump; RFC 3168",
)
# What a setting of model/switch.py breaks; all that is not named belongs to the lossless class: PFC, watchdog, buffers.
_AREAS = {
    "hostname": PORT,
    "port": PORT,
    "link": PORT,
    "mtu": MTU,
    "trust": TRUST,
    "dscp": TRUST,
    "remark": TRUST,
    "priority": CLASSES,
    "shaper": CLASSES,
    "schedule": CLASSES,
    "ecn": ECN,
    "ecn_min_bytes": ECN,
    "ecn_max_bytes": ECN,
    "ecn_probability": ECN,
}
_RULES = (PORT, MTU, TRUST, PFC, CLASSES, ECN)
_SHOWN = 6


def judge_switch(intent: SwitchIntent, differences: Iterable[Difference]) -> tuple[Finding, ...]:
    """One finding a rule, passes included. Not linked.

    ``peer`` names the rails at the other ends of the ports: by these the findings of nodes and pairs hang below.
    """
    by_rule: dict[str, list[Difference]] = {}
    for item in differences:
        by_rule.setdefault(_AREAS.get(item.setting, PFC).id, []).append(item)
    absent = {port for item in by_rule.get(PORT.id, []) for port in item.ports}
    read = READABLE.passed(device=intent.name)
    return (read, *(_judge(rule, intent, by_rule.get(rule.id, []), absent) for rule in _RULES))


def judge_unread(intent: SwitchIntent, why: str) -> Finding:
    """A switch whose dump could not be read; ``why`` is the reader's message."""
    return READABLE.unknown(None, expected="a dump of the switch", found=why, device=intent.name)


def _judge(rule: Rule, intent: SwitchIntent, items: list[Difference], absent: set[str]) -> Finding:
    if not items:
        # A port that is not there has no settings.
        known = len([port for port in intent.ports if port.name not in absent])
        if known:
            return rule.passed(device=intent.name, found=f"{known} ports as wanted")
        return rule.unknown(None, found="none of the ports is in the dump", device=intent.name)
    wrong = [item for item in items if item.found is not None]
    shown = wrong or items
    ports = tuple(dict.fromkeys(port for item in shown for port in item.ports))
    words = "; ".join(_words(item) for item in shown[:_SHOWN])
    found = words + (f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")
    expected = "; ".join(f"{_name(item)} {item.wanted}" for item in shown[:_SHOWN])
    peer = ", ".join(
        f"{port.host}/{port.rail}" for port in intent.ports if port.name in ports and port.host and port.rail
    )
    if not wrong:
        return rule.unknown(None, found=f"not in the dump: {found}", expected=expected, device=intent.name, peer=peer)
    cause = f"the configuration of {intent.name} is not the spec's"
    return rule.broken(None, expected=expected, found=found, cause=cause, device=intent.name, peer=peer)


def _words(item: Difference) -> str:
    ports = ", ".join(item.ports[:4]) + (f" and {len(item.ports) - 4} more" if len(item.ports) > 4 else "")
    return f"{_name(item)} {'unknown' if item.found is None else item.found} on {ports}"


def _name(item: Difference) -> str:
    return item.setting.replace("_", " ") + ("" if item.number is None else f" {item.number}")
