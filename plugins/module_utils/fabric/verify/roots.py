# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One fault, one root: which finding follows from which.

The tables below say which rule's trouble explains which other's. A finding hangs below a worse or equal one only: a
fail never hides below something that is merely unknown, or the verdict would get milder by it.
"""

from __future__ import annotations

from typing import Iterable, Optional

from ..model.finding import PASS, UNKNOWN, Finding
from ..records import replace
from .rule import severity_rank

_NODE = ("host.reachable", "host.finished")
# What a rail's packets need below and beside their address.
_BELOW = ("rail.nic", "rail.device", "rail.link", "rail.bond", "rail.vlan")
_WAY = (
    *_NODE,
    "fabric.cabling",
    "rail.nic",
    "rail.link",
    "rail.bond",
    "rail.vlan",
    "fabric.duplicate_address",
    "rail.address",
    "rail.routes",
    "node.owners",
    "rail.sysctls",
    "rail.firewall",
)
# Who rewrites lossless settings: what they changed is their doing.
_QOS_OWNERS = ("qos.lldpad", "qos.dcbx")
# What decides where packets of the fabric's class land, and whether they are dropped there.
_CLASS = ("qos.trust", "qos.dscp_map")
_SWITCH = ("switch.pfc", "switch.trust", "switch.classes")
_LOSSLESS = (*_CLASS, "qos.pfc", "qos.pause", "qos.prio_tc", "qos.buffers", "qos.cable", "qos.ets")
_GID = ("fabric.duplicate_address", *_BELOW, "rail.address", "rail.gid")
# In the order in which they are asked. Cause and consequence share the rail (or the node), or an end of the pair.
CAUSES: dict[str, tuple[str, ...]] = {
    "rail.driver": ("rail.nic",),
    "rail.device": ("rail.nic", "stack.modules", "rail.bond"),
    "rail.optics": ("rail.nic", "rail.link"),
    "rail.bond": ("rail.nic",),
    "rail.vlan": ("rail.nic", "rail.bond"),
    "rail.rate": ("rail.link", "rail.bond"),
    "rail.mtu": ("node.owners",),
    "rail.path_mtu": (*_BELOW, "rail.mtu"),
    "rail.address": ("fabric.duplicate_address", "rail.link", "node.owners"),
    "rail.gid": ("fabric.duplicate_address", *_BELOW, "rail.address"),
    "rail.routes": ("fabric.duplicate_address", "rail.nic", "rail.link", "rail.bond", "rail.vlan", "rail.address"),
    "rail.sysctls": ("node.owners",),
    "node.neighbours": ("node.owners",),
    "qos.trust": _QOS_OWNERS,
    "qos.dscp_map": (*_QOS_OWNERS, "qos.trust"),
    "qos.prio_tc": _QOS_OWNERS,
    "qos.ets": _QOS_OWNERS,
    "qos.pfc": _QOS_OWNERS,
    "qos.cable": _QOS_OWNERS,
    "qos.buffers": (*_QOS_OWNERS, "qos.pause", "qos.pfc", "qos.cable"),
    "qos.tos": ("rail.device",),
    "qos.pauses": ("qos.pfc", "switch.pfc"),
    "qos.marks": ("qos.ecn",),
    "qos.cnps_ignored": ("qos.ecn", "qos.cnp"),
    "qos.drops": ("qos.lldpad", "qos.dcbx", *_LOSSLESS, *_SWITCH, "qos.ecn", "qos.class"),
    "qos.class": ("qos.traffic_class", *_CLASS),
    "rail.counters": ("rail.link", "rail.bond", "rail.optics", "qos.drops"),
    "fabric.uniform_pfc": ("rail.nic", "qos.pfc"),
    "fabric.uniform_dscp": ("rail.nic", *_CLASS),
    "fabric.uniform_ets": ("rail.nic", "qos.prio_tc", "qos.ets"),
    "fabric.uniform_cnp": ("rail.nic", "qos.cnp"),
    "fabric.cnps_lost": ("qos.cnp", "qos.ecn", "qos.cnps_ignored", "qos.dscp_map", "switch.trust"),
    "fabric.uniform_driver": ("rail.nic", "rail.driver"),
    "fabric.uniform_firmware": ("rail.nic", "rail.device", "rail.firmware"),
    "fabric.uniform_mtu": (*_BELOW, "rail.mtu", "rail.path_mtu"),
    "fabric.uniform_gid": _GID,
    "fabric.rail_leak": ("fabric.cabling", "rail.address"),
    "pair.reach": (*_WAY, "switch.port"),
    "pair.mtu": (*_WAY, "rail.mtu", "switch.mtu", "pair.reach"),
    "pair.path": (*_WAY, "rail.device", "rail.gid"),
    "pair.bandwidth": (
        *_WAY,
        "rail.device",
        "rail.mtu",
        "rail.gid",
        "rail.rate",
        "rail.path_mtu",
        "rail.pcie",
        "rail.optics",
        "rail.counters",
        "stack.memlock",
        "pair.reach",
        "pair.mtu",
        "pair.path",
        *_LOSSLESS,
        *_SWITCH,
    ),
    "pair.class": (*_WAY, "rail.device", "rail.gid", *_QOS_OWNERS, *_CLASS, "switch.trust", "pair.reach", "pair.path"),
    "pair.cm_class": (
        "qos.tos",
        "qos.cm_mode",
        "qos.traffic_class",
        *_QOS_OWNERS,
        *_CLASS,
        "switch.trust",
        "pair.class",
    ),
    "pair.lossless": (*_QOS_OWNERS, *_LOSSLESS, *_SWITCH, "pair.class"),
}
# What makes a rule blind: these explain an unknown, but excuse no fail.
BLINDS: dict[str, tuple[str, ...]] = {
    "qos.readable": ("rail.nic", "rail.link", "rail.bond"),
    "qos.drops": ("rail.nic", "qos.readable"),
    "fabric.uniform_pfc": ("qos.readable",),
    "fabric.uniform_dscp": ("qos.readable",),
    "fabric.uniform_ets": ("qos.readable",),
    "fabric.uniform_cnp": ("qos.readable",),
    "rail.firmware": ("rail.nic", "rail.device"),
    "rail.pcie": ("rail.nic",),
    "rail.names": ("rail.nic", "rail.device"),
    "rail.counters": ("rail.nic", "rail.device"),
    "rail.firewall": ("rail.nic", "rail.link", "rail.bond", "rail.vlan", "rail.address"),
    "rail.link": ("rail.nic", "rail.device", "rail.bond", "rail.vlan"),
    "rail.rate": ("rail.nic", "rail.device"),
    "rail.mtu": ("rail.nic", "rail.link", "rail.bond", "rail.vlan"),
    "rail.address": ("rail.nic", "rail.bond", "rail.vlan"),
    "rail.sysctls": ("rail.nic", "rail.bond", "rail.vlan"),
    "pair.reach": ("rail.device", "rail.gid"),
    "pair.class": ("pair.bandwidth", "qos.readable"),
    "pair.cm_class": (*_WAY, "rail.device", "rail.gid", "pair.bandwidth", "pair.class"),
    "pair.lossless": (*_WAY, "rail.device", "rail.gid", "pair.bandwidth", "pair.class"),
}
_READING = (*_NODE, "host.probe", "intent.current")


def ends(finding: Finding) -> tuple[tuple[Optional[str], Optional[str]], ...]:
    """The (node, rail) places that a finding is about; ``peer`` is a list of ``node`` or ``node/rail``."""
    places = [(finding.host, finding.rail)]
    for peer in (finding.peer or "").split(", "):
        if peer:
            node, _slash, rail = peer.partition("/")
            places.append((node, rail or finding.rail))
    return tuple(places)


def link_roots(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The same findings, each consequence with the key of its root; links that are already set are followed."""
    kept = tuple(findings)
    index: dict[tuple[str, Optional[str], Optional[str]], list[Finding]] = {}
    for finding in kept:
        if finding.state != PASS:
            for host, rail in ends(finding):
                index.setdefault((finding.rule, host, rail), []).append(finding)
    direct = {finding.key: finding.caused_by or _cause(finding, index) for finding in kept if finding.state != PASS}
    return tuple(finding if _settled(finding) else _rooted(finding, direct) for finding in kept)


def _settled(finding: Finding) -> bool:
    """A pass follows from nothing; most findings of a large fabric are passes."""
    return finding.state == PASS and finding.caused_by is None


def _cause(finding: Finding, index: dict[tuple[str, Optional[str], Optional[str]], list[Finding]]) -> Optional[str]:
    rules = CAUSES.get(finding.rule, ())
    if finding.state == UNKNOWN:
        rules += tuple(rule for rule in BLINDS.get(finding.rule, ()) + _READING if rule not in rules)
    if finding.rule in _READING:
        return None
    places = ends(finding)
    for rule in rules:
        if rule.startswith("pair."):
            same = [other for other in index.get((rule, *places[0]), ()) if set(ends(other)) == set(places)]
        else:
            same = [
                other
                for host, rail in places
                for key in ((rule, host, rail), (rule, host, None))
                for other in index.get(key, ())
            ]
        for other in same:
            if other.key != finding.key and severity_rank(other.state) >= severity_rank(finding.state):
                return other.key
    return None


def _rooted(finding: Finding, direct: dict[str, Optional[str]]) -> Finding:
    own = finding.key
    key, seen = direct.get(own), {own}
    while key is not None and direct.get(key) is not None and key not in seen:
        seen.add(key)
        key = direct[key]
    return finding if key == finding.caused_by else replace(finding, caused_by=key)
