# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about a node as a whole: can it be reached, was it read, does it hold the current intent."""

from __future__ import annotations

from typing import Collection, Optional, Union

from ..errors import FabricError
from ..model.facts import NodeFacts
from ..model.finding import Finding
from ..model.intent import NodeIntent
from .rule import Rule
from .view import View

REACHABLE = Rule(
    "host.reachable",
    "The controller reaches the node",
    "fail",
    "fabric",
    "A node that cannot be reached was neither set up nor judged.",
    "Check power, management network, host name, SSH key and sudo of the node, then run again with --limit.",
    "Ansible reports the connection's own error",
)
FINISHED = Rule(
    "host.finished",
    "The run reached its end on the node",
    "fail",
    "fabric",
    "After a failed task the node may be half set up, and what comes later was not judged.",
    "Mend what the message names, then run again with --limit: a run converges from any half-way state.",
    "Ansible reports the task's own message",
)
PROBE = Rule(
    "host.probe",
    "All that the rules need could be read on the node",
    "unknown",
    "local",
    "What could not be read is unknown, and unknown is never good.",
    "Run the named command by hand. One that does not return waits for a driver or its firmware: see dmesg, then reset "
    "the device or reboot the node.",
    "the probe's own account of what it could not read",
)
NAME = Rule(
    "host.name",
    "The node's own name is that of the inventory",
    "warn",
    "local",
    "Schedulers and logs go by the node's own name, Railwright by the inventory's: two names are two nodes to people.",
    "Correct the one that is wrong: hostnamectl set-hostname on the node, or the name in the inventory.",
    "uname(2), nodename; the first label counts",
)
CURRENT = Rule(
    "intent.current",
    "The node holds the intent that the fabric spec gives it",
    "fail",
    "local",
    "The node restores its settings from this file at boot: an old one brings old settings back.",
    "Run site.yml for this node: it writes /etc/railwright/intent.json first and applies it.",
    "the document's schema version and the hash of the fabric spec in it",
)

# Sections of NodeFacts that some rule cannot do without; those of the second line are looked at on some nodes, or on
# request. Others (LLDP) may be unread without making anything unknown.
SECTIONS = ("pci", "netdevs", "rdma", "modules", "memlock", "routes", "rules", "sysctls")
ON_REQUEST = ("firewall", "services", "owners", "optics")


def probe(view: View, devices: Collection[str]) -> Finding:
    """Judge the probe: everything unread about a section that rules need, or about one of the rails' ``devices``."""
    facts: NodeFacts = view.facts
    unread = [item for item in facts.unread if item.subject in (*SECTIONS, *ON_REQUEST, *devices)]
    sentences = list(dict.fromkeys(f"{item.source}: {item.reason}" for item in unread))
    named = {item.subject for item in unread}
    sentences += [
        f"{name} could not be read" for name in SECTIONS if getattr(facts, name) is None and name not in named
    ]
    if not sentences:
        return PROBE.passed(view.host)
    subjects = ", ".join(dict.fromkeys(item.subject for item in unread)) or "the facts"
    return PROBE.unknown(
        view.host, expected="every source readable", found="; ".join(sentences), cause=f"{subjects} is not known"
    )


def named(view: View, intent: NodeIntent) -> Optional[Finding]:
    """Hostname against the inventory's name; an inventory of addresses has no names to compare."""
    want, have = intent.host, view.facts.system.hostname
    if not any(letter.isalpha() for letter in want) or ":" in want:
        return None
    if not have:
        return NAME.unknown(view.host, expected=want, found=view.missing("the hostname", "system", "hostname"))
    if have.partition(".")[0].lower() == want.partition(".")[0].lower():
        return NAME.passed(view.host, found=have)
    return NAME.broken(
        view.host,
        expected=want,
        found=have,
        cause=f"the node calls itself {have}, the inventory calls it {want}",
        remedy=f"Correct the one that is wrong: hostnamectl set-hostname {want} on the node, or {want} in the "
        f"inventory; if {have} is another machine, correct the address that leads there.",
    )


def current(host: str, own: Union[NodeIntent, FabricError], expected: Optional[NodeIntent]) -> Finding:
    """Compare the node's intent document with the one just resolved; ``own`` is an error when it cannot be used."""
    if isinstance(own, FabricError):
        return _unusable(host, own, expected)
    if expected is None or own == expected:
        return CURRENT.passed(host, found=f"spec {own.spec_name}, hash {own.spec_hash[:12]}")
    if own.host != expected.host:
        cause = f"the intent is that of {own.host}: the inventory leads to another machine, or the disk was cloned"
    elif own.spec_hash != expected.spec_hash:
        cause = "the fabric spec changed after the node was set up"
    elif own.core_version != expected.core_version:
        cause = f"Railwright {own.core_version} set the node up, this is {expected.core_version}"
    else:
        cause = "variables of the host or its hardware profile changed after the node was set up"
    return CURRENT.broken(
        host,
        expected=f"spec {expected.spec_name}, hash {expected.spec_hash[:12]}",
        found=f"spec {own.spec_name}, hash {own.spec_hash[:12]}",
        cause=cause,
    )


def _unusable(host: str, error: FabricError, expected: Optional[NodeIntent]) -> Finding:
    if expected is None:
        # Without any intent there is nothing to judge by: on the node alone that is unknown, not broken.
        return CURRENT.unknown(host, expected="a readable intent", found=str(error))
    if "no intent" in error.message:
        cause = "the node was never set up, or its intent was removed"
    elif "schema" in error.message:
        cause = "another version of Railwright set the node up"
    else:
        cause = "the file was cut off or changed after it was written"
    return CURRENT.broken(
        host,
        expected=f"spec {expected.spec_name}, hash {expected.spec_hash[:12]}",
        found=str(error),
        cause=cause,
    )
