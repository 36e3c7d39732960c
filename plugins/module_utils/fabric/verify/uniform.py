# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules that hold nodes against each other: what most have is right, until the spec says otherwise."""

from __future__ import annotations

from typing import Callable, Mapping, Optional, Sequence

from ..model.finding import Finding
from ..resolve.bind import BoundRail
from .address import gid_indices
from .hardware import firmware_of
from .node import Bound, NodeResult
from .rule import Rule

DRIVER = Rule(
    "fabric.uniform_driver",
    "The NICs of a rail have one driver on all nodes",
    "warn",
    "fabric",
    "Nodes with another driver behave differently under load, and nobody looks for it there.",
    "Run site.yml (role rdma_stack) for the nodes that differ; name the driver in the hardware profile.",
    "comparison of all nodes: same rail, same kind of NIC",
)
FIRMWARE = Rule(
    "fabric.uniform_firmware",
    "The NICs of a rail have one firmware on all nodes",
    "warn",
    "fabric",
    "Two firmwares are two behaviours: congestion control, adaptive routing and their faults come with them.",
    "Update the nodes that differ, or name the wanted version in the hardware profile.",
    "comparison of all nodes: same rail, same kind of NIC",
)
MTU = Rule(
    "fabric.uniform_mtu",
    "A rail has one MTU and one path MTU on all nodes",
    "fail",
    "fabric",
    "Ends with different MTUs drop each other's full packets, or fall back to the smaller one.",
    "Run site.yml (role rail_network) for the nodes that differ.",
    "comparison of all nodes: same rail",
)
GID = Rule(
    "fabric.uniform_gid",
    "The GID of a rail's address has one index on all nodes",
    "warn",
    "fabric",
    "Jobs that name an index (NCCL_IB_GID_INDEX) use another GID where it moved: RoCE v1, link-local, or none.",
    "Take the address off and set it again, or reload the NIC's driver; better, let jobs choose it by address.",
    "comparison of all nodes; NVIDIA/nccl documentation, NCCL_IB_GID_INDEX",
)

Value = Callable[[BoundRail], Optional[str]]


def _driver(rail: BoundRail) -> Optional[str]:
    names = [
        (port.netdev.driver if port.netdev else None) or (port.pci.driver if port.pci else None) for port in rail.ports
    ]
    return "/".join(dict.fromkeys(str(name) for name in names)) if names and all(names) else None


def _firmware(rail: BoundRail) -> Optional[str]:
    versions = [firmware_of(port) for port in rail.ports]
    return "/".join(dict.fromkeys(str(version) for version in versions)) if versions and all(versions) else None


def _mtu(rail: BoundRail) -> Optional[str]:
    active = rail.port.active_mtu if rail.port is not None else None
    if rail.intent.host_mtu is None:
        return str(active) if active is not None else None
    own = rail.netdev.mtu if rail.netdev is not None else None
    return f"{own} (path MTU {active})" if None not in (own, active) else None


def _gid(rail: BoundRail) -> Optional[str]:
    indices = [gid_indices(rail, address) for address in rail.intent.addresses]
    return ", ".join(str(held[0]) for held in indices) if indices and all(indices) else None


def _hard(rail: BoundRail) -> bool:
    return not rail.intent.soft_roce


def _addressed(rail: BoundRail) -> bool:
    return rail.intent.transport == "roce" and bool(rail.intent.addresses)


def _any(_rail: BoundRail) -> bool:
    return True


_CHECKS: tuple[tuple[Rule, str, Value, Callable[[BoundRail], bool]], ...] = (
    (DRIVER, "driver", _driver, _any),
    (FIRMWARE, "firmware", _firmware, _hard),
    (MTU, "MTU", _mtu, _any),
    (GID, "GID index", _gid, _addressed),
)


def check_uniform(nodes: Mapping[str, NodeResult], bound: Bound) -> list[Finding]:
    """One finding a rule and group of nodes that differ. Linear in nodes and rails."""
    members, blind = gather(nodes, bound)
    findings: list[Finding] = []
    for rule, what, value, applies in _CHECKS:
        findings += compare(rule, what, value, {
            name: [(host, rail) for host, rail in entries if applies(rail)] for name, entries in members.items()
        }, blind)  # fmt: skip
    return findings


def gather(
    nodes: Mapping[str, NodeResult], bound: Bound
) -> tuple[dict[str, list[tuple[str, BoundRail]]], dict[str, list[str]]]:
    """The nodes of each rail with it, and those of which nothing was read."""
    members: dict[str, list[tuple[str, BoundRail]]] = {}
    blind: dict[str, list[str]] = {}
    for node in nodes.values():
        if node.intent is None:
            continue
        if node.host not in bound:
            for wanted in node.intent.rails:
                blind.setdefault(wanted.name, []).append(node.host)
            continue
        for rail in bound[node.host]:
            members.setdefault(rail.intent.name, []).append((node.host, rail))
    return members, blind


_Outliers = tuple[tuple[str, str], ...]  # host and its value


def compare(
    rule: Rule,
    what: str,
    value: Value,
    members: Mapping[str, list[tuple[str, BoundRail]]],
    unread: Mapping[str, list[str]],
    also: Callable[[BoundRail], str] = lambda _rail: "",
) -> list[Finding]:
    """Rails with the same outliers are one finding: a node that was updated alone differs on all of its rails.

    :param also: what else two NICs of one kind must share to be compared.
    """
    odd: dict[tuple[Optional[str], _Outliers], list[str]] = {}
    blind: dict[tuple[str, ...], list[str]] = {}
    findings: list[Finding] = []
    for name, entries in members.items():
        if not entries:
            continue
        groups: dict[str, dict[str, list[str]]] = {}
        silent = list(unread.get(name, ()))
        for host, rail in entries:
            have = value(rail)
            if have is None:
                silent.append(host)
            else:
                groups.setdefault(_kind(rail) + also(rail), {}).setdefault(have, []).append(host)
        differing = [outliers for group in groups.values() if (outliers := _outliers(group)) is not None]
        for outliers in differing:
            odd.setdefault(outliers, []).append(name)
        if not differing and silent:
            blind.setdefault(tuple(silent), []).append(name)
        elif not differing:
            values = sorted({have for group in groups.values() for have in group})
            findings.append(rule.passed(None, name, found=f"{what} {', '.join(values)}"))
    for (most, others), rails in odd.items():
        findings.append(_differs(rule, what, most, others, rails))
    for hosts, rails in blind.items():
        found = f"the {what} of {_some(hosts)} is not known"
        findings.append(rule.unknown(None, _one(rails), found=found, peer=_places(hosts, rails)))
    return findings


def _kind(rail: BoundRail) -> str:
    """The kind of NIC: only the same are compared."""
    device = rail.rdma
    board = (device.board_id or device.hca_type) if device is not None else None
    function = rail.ports[0].pci if rail.ports else None
    return board or (f"{function.vendor}:{function.device}" if function is not None else "")


def _outliers(group: Mapping[str, list[str]]) -> Optional[tuple[Optional[str], _Outliers]]:
    """The value of most nodes, and the nodes that have another; without a majority all of them."""
    if len(group) < 2:
        return None
    ordered = sorted(group.items(), key=lambda item: (-len(item[1]), item[0]))
    most: Optional[str] = ordered[0][0] if len(ordered[0][1]) > len(ordered[1][1]) else None
    return most, tuple((host, have) for have, hosts in ordered if have != most for host in hosts)


def _differs(rule: Rule, what: str, most: Optional[str], others: _Outliers, rails: list[str]) -> Finding:
    by_value: dict[str, list[str]] = {}
    for host, have in others:
        by_value.setdefault(have, []).append(host)
    found = "; ".join(f"{have} on {_some(hosts)}" for have, hosts in by_value.items())
    where = "" if len(rails) == 1 else f" on {', '.join(rails)}"
    hosts = [host for host, _have in others]
    if most is None:
        expected = f"one {what} on all nodes"
        cause = f"the nodes are divided{where}, and no {what} has the majority"
    else:
        expected = f"{what} {most}, as most nodes have"
        cause = f"{_some(hosts)} {'differs' if len(hosts) == 1 else 'differ'} from the others{where}"
    alone = hosts[0] if len(hosts) == 1 else None
    peer = "" if alone is not None and len(rails) == 1 else _places(hosts, rails)
    return rule.broken(alone, _one(rails), expected=expected, found=found, cause=cause, peer=peer)


def _one(rails: list[str]) -> Optional[str]:
    return rails[0] if len(rails) == 1 else None


def _places(hosts: Sequence[str], rails: list[str]) -> str:
    """Nodes, or their rails where there are several: by these a finding is traced back to its root."""
    places = hosts if len(rails) == 1 else [f"{host}/{rail}" for host in hosts for rail in rails]
    return ", ".join(places)


def _some(hosts: Sequence[str]) -> str:
    return ", ".join(hosts[:8]) + (f" and {len(hosts) - 8} more" if len(hosts) > 8 else "")
