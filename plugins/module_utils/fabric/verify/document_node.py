# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One node in the report document: what was found, rail by rail, and what could not be read."""

from __future__ import annotations

from typing import Any, Optional

from ..model.facts import NodeFacts
from ..resolve.bind import BoundPort, BoundRail, bind
from .address import gid_of, link_local
from .node import NodeResult
from .places import Places


def describe(node: NodeResult, places: Places) -> dict[str, Any]:
    """A node as plain data; ``None`` stands for what was not read."""
    facts, intent = node.facts or NodeFacts(), node.intent
    system = facts.system
    rails = bind(intent, facts) if intent is not None else ()
    return {
        "state": places.node(node.host),
        "result": node.state,
        "message": node.message,
        "unit": intent.unit if intent is not None else None,
        "node_id": intent.node_id if intent is not None else None,
        "hostname": system.hostname,
        "product": system.product,
        "kernel": system.kernel,
        "distribution": " ".join(word for word in (system.distribution, system.release) if word) or None,
        "rails": {rail.intent.name: _rail(rail, facts, places.rail(node.host, rail.intent.name)) for rail in rails},
        "passed": places.passed.get(node.host, {}),
        "unread": [{"subject": item.subject, "source": item.source, "reason": item.reason} for item in facts.unread],
    }


def _rail(rail: BoundRail, facts: NodeFacts, state: str) -> dict[str, Any]:
    held = [item for item in rail.netdev.addresses if not link_local(item)] if rail.netdev else []
    return {
        "state": state,
        "leaf": list(dict.fromkeys(port.intent.leaf for port in rail.ports if port.intent.leaf)),
        "netdev": rail.netdev_name,
        "rdma": rail.rdma.name if rail.rdma is not None else None,
        "driver": _first(port.netdev.driver for port in rail.ports if port.netdev is not None),
        "firmware": (rail.rdma.firmware if rail.rdma is not None else None)
        or _first(port.netdev.firmware for port in rail.ports if port.netdev is not None),
        "link": rail.port.state if rail.port is not None else None,
        # Soft RoCE states a rate that it does not have.
        "rate_gbps": rail.port.rate_gbps if rail.port is not None and not rail.intent.soft_roce else None,
        "mtu": rail.netdev.mtu if rail.netdev is not None else None,
        "path_mtu": rail.port.active_mtu if rail.port is not None else None,
        "addresses": held,
        "gid_index": _gid_index(rail, held),
        "ports": [_port(port, facts) for port in rail.ports],
    }


def _gid_index(rail: BoundRail, held: list[str]) -> list[int]:
    """Where the RoCE v2 GIDs of the rail's addresses are in the table; GIDs of InfiniBand are not made of addresses."""
    wanted = {gid_of(address) for address in (*rail.intent.addresses, *held)}
    entries = rail.port.gids if rail.port is not None else ()
    return [entry.index for entry in entries if entry.kind == "RoCE v2" and entry.gid.lower() in wanted]


def _port(port: BoundPort, facts: NodeFacts) -> dict[str, Any]:
    pci, netdev = port.pci, port.netdev
    neighbours = facts.lldp and [item for item in facts.lldp if netdev is not None and item.netdev == netdev.name]
    return {
        "netdev": netdev.name if netdev is not None else None,
        "pci": pci.address if pci is not None else netdev.pci if netdev is not None else None,
        "pcie_gts": pci.speed_gts if pci is not None else None,
        "pcie_width": pci.width if pci is not None else None,
        "pcie_max_gts": pci.max_speed_gts if pci is not None else None,
        "pcie_max_width": pci.max_width if pci is not None else None,
        "leaf": port.intent.leaf,
        "lldp": None if neighbours is None else [f"{item.system} {item.port}" for item in neighbours],
    }


def _first(values: Any) -> Optional[str]:
    return next((value for value in values if value), None)
