# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One node as the controller's rules see it, and the part of its facts that travels there."""

from __future__ import annotations

from typing import Mapping, Optional

from ..model.facts import NodeFacts
from ..model.finding import Finding
from ..model.intent import NodeIntent
from ..records import dataclass, replace
from ..resolve.bind import BoundRail, bind
from .local import devices

Bound = Mapping[str, tuple[BoundRail, ...]]
JUDGED, UNREACHABLE, FAILED = "judged", "unreachable", "failed"


@dataclass(frozen=True)
class NodeResult:
    """What a run brought back from one node.

    ``state`` is judged, unreachable or failed, ``message`` says why it is not judged. ``facts`` may be slim ones.
    """

    host: str
    state: str
    message: str = ""
    intent: Optional[NodeIntent] = None
    facts: Optional[NodeFacts] = None
    findings: tuple[Finding, ...] = ()


def bind_all(nodes: Mapping[str, NodeResult]) -> Bound:
    """The rails of all nodes that have an intent and facts, by host: bound once for all rules."""
    return {
        node.host: bind(node.intent, node.facts)
        for node in nodes.values()
        if node.intent is not None and node.facts is not None
    }


def slim(intent: Optional[NodeIntent], facts: NodeFacts) -> NodeFacts:
    """Facts as cross-node rules need them: the rails' own devices and every netdev with an address; no counters.

    A Kubernetes node has hundreds of virtual netdevs: they would make the answer of each node large for nothing.
    """
    if facts.netdevs is None and facts.rdma is None:
        return facts
    names = devices(bind(intent, facts)) if intent is not None else frozenset()
    netdevs = facts.netdevs and tuple(item for item in facts.netdevs if item.name in names or item.addresses)
    rdma = facts.rdma and tuple(
        replace(item, ports=tuple(replace(port, counters={}, hw_counters={}) for port in item.ports))
        for item in facts.rdma
    )
    pci = facts.pci and tuple(item for item in facts.pci if item.address in names)
    return replace(
        facts,
        netdevs=netdevs,
        rdma=rdma,
        pci=pci,
        modules=facts.modules and (),
        routes=facts.routes and (),
        rules=facts.rules and (),
        sysctls=facts.sysctls and {},
        firewall=None,
        services=facts.services and (),
        owners=facts.owners and (),
        qos=facts.qos and tuple(item for item in facts.qos if item.netdev in names),
        optics=facts.optics and (),
    )
