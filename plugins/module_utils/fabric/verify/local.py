# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What one node can be judged by on its own: the rules behind ``railwright check`` and ``fabric_check``."""

from __future__ import annotations

from typing import Callable, Optional, Union

from ..errors import FabricError
from ..model.facts import NodeFacts
from ..model.finding import PASS, Finding
from ..model.intent import NodeIntent
from ..records import replace
from ..resolve.bind import BoundRail, bind
from . import address, firewall, hardware, host, links, rail, routing, stack
from .roots import link_roots
from .view import View

RAIL_CHECKS: tuple[Callable[[View, BoundRail], Optional[Finding]], ...] = (
    rail.nic,
    hardware.driver,
    hardware.firmware,
    hardware.pcie,
    hardware.optics,
    links.names,
    rail.device,
    links.bond,
    links.vlan,
    rail.link,
    rail.rate,
    rail.mtu,
    rail.path_mtu,
    address.address,
    address.gid,
    firewall.firewall,
)
NODE_CHECKS: tuple[Callable[[View, NodeIntent], Optional[Finding]], ...] = (
    host.named,
    stack.modules,
    stack.ulps,
    stack.memlock,
    stack.service_limits,
    stack.services,
    routing.neighbours,
)
# These see all rails of a node at once.
RAILS_CHECKS: tuple[Callable[[View, NodeIntent, tuple[BoundRail, ...]], list[Finding]], ...] = (
    routing.routing,
    routing.kernel,
    stack.owners,
)


def check_local(intent: NodeIntent, facts: NodeFacts) -> tuple[Finding, ...]:
    """One finding a rule and subject, passes included; a rule that does not apply to a rail gives none. Not linked."""
    view = View(intent.host, facts)
    rails = bind(intent, facts)
    findings = [host.probe(view, devices(rails))]
    findings += [found for check in NODE_CHECKS if (found := check(view, intent)) is not None]
    findings += [found for bound in rails for check in RAIL_CHECKS if (found := check(view, bound)) is not None]
    findings += [found for several in RAILS_CHECKS for found in several(view, intent, rails)]
    if any(rail.qos is not None for rail in intent.rails):
        findings += _lossless(view, rails)
    return tuple(findings)


def _lossless(view: View, rails: tuple[BoundRail, ...]) -> list[Finding]:
    from . import qos, qos_cc, qos_node  # noqa: PLC0415 - a node without RoCE does not pay for it

    found = [check(view) for check in qos_node.CHECKS]
    found += [check(view, bound) for bound in rails for check in (*qos.CHECKS, *qos_cc.CHECKS)]
    return [finding for finding in found if finding is not None]


def judge_node(
    name: str,
    own: Union[NodeIntent, FabricError],
    expected: Optional[NodeIntent],
    facts: NodeFacts,
    counted: tuple[Finding, ...] = (),
) -> tuple[Finding, ...]:
    """All local findings of one node, linked to their roots.

    :param own: the intent on the node, or the error met when reading it.
    :param expected: the intent as the controller resolves it now; ``None`` on the node itself.
    :param counted: findings of the same node that are not of its facts: those about counters.
    """
    current = host.current(name, own, expected)
    target = expected or (own if isinstance(own, NodeIntent) else None)
    if target is None:
        return link_roots((current, host.probe(View(name, facts), ())))
    findings = check_local(target, facts)
    if current.state != PASS:
        by_own = check_local(own, facts) if isinstance(own, NodeIntent) else ()
        findings = _behind(current, findings, by_own)
    return link_roots((current, *findings, *counted))


def _behind(current: Finding, findings: tuple[Finding, ...], by_own: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """A node that is exactly what its old intent says has one fault: the old intent.

    And without a usable one, that nothing could be restored from it at boot is no fault of its own.
    """
    held = {(finding.rule, finding.rail) for finding in by_own if finding.state == PASS}
    if not by_own:
        held.update((finding.rule, None) for finding in findings if finding.found == stack.NOT_RESTORED)
    return tuple(
        replace(finding, caused_by=current.key)
        if finding.state != PASS and (finding.rule, finding.rail) in held
        else finding
        for finding in findings
    )


def devices(rails: tuple[BoundRail, ...]) -> frozenset[str]:
    """Names of all netdevs, RDMA devices and NIC functions that carry a rail."""
    found = [bound.netdev_name for bound in rails]
    for bound in rails:
        found.append(bound.rdma.name if bound.rdma else None)
        for port in bound.ports:
            found += [item.name for item in (port.netdev, port.rdma) if item is not None]
            found.append(port.pci.address if port.pci else None)
    return frozenset(name for name in found if name is not None)
