# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Spec, nodes and the inventory's switches to one :class:`SwitchIntent` a switch."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..errors import SpecError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent, Qos
from ..model.spec import FabricSpec, Marking, QosSpec
from ..model.switch import SwitchEntry, SwitchIntent, SwitchPort
from ..records import replace
from . import derive, qos, switch_limits
from .switch_ports import host_ports, label
from .switch_settings import EOS_FIXED_PRIORITY

# Longest cable between node and leaf where the spec names none: SONiC's assumption for servers
# (sonic-net/sonic-buildimage:files/build_templates/buffers_config.j2, ``torrouter_server``).
HOST_CABLE_M = 5

# Greatest interface MTU of EOS; SONiC and Cumulus Linux take the fabric's 9216 (Arista EOS user manual, "mtu": 68 to
# 9214; sonic-net/sonic-buildimage:src/sonic-yang-models/yang-models/sonic-port.yang: 68 to 9216).
EOS_MTU = 9214

CODE_POINTS = range(64)  # RFC 2474: six bits


def resolve_switches(
    spec: FabricSpec,
    intents: Sequence[NodeIntent],
    entries: Sequence[SwitchEntry],
    facts: Mapping[str, NodeFacts],
) -> tuple[SwitchIntent, ...]:
    """The intents of all switches, in their order. Linear in hosts times leaves.

    :param intents: of all nodes of the fabric.
    :param facts: of those nodes that were read, by host: their LLDP names the ports that the inventory does not.
    :raises SpecError: for what contradicts spec, nodes or the other end, and for what the switch cannot be told.
    """
    leaves = _leaf_fabrics(spec)
    roles = {label(entry.name): entry.role for entry in entries}
    return tuple(_switch(spec, intents, entry, facts, leaves, roles) for entry in entries)


def dscp_priorities(wanted: Qos) -> tuple[int, ...]:
    """Priority of each of the 64 code points.

    The upper three bits of a code point are its priority by default (RFC 2474, section 4.2.2: class selectors; so on
    NVIDIA's NICs and switches). But no foreign traffic may get in among the data or delay CNPs: code points that would
    go to priority 0, or to the first one that is free.
    """
    own = dict(wanted.dscp_prio)
    taken = wanted.reserved
    free = next(priority for priority in qos.PRIORITIES if priority not in (*taken, *wanted.pfc))
    return tuple(own.get(dscp, free if dscp >> 3 in taken else dscp >> 3) for dscp in CODE_POINTS)


def _on_eos(wanted: Qos) -> tuple[int, ...]:
    """EOS has a queue of its own for priority 7; where the spec has none, those code points go by another priority.

    That is the first one of the same class.
    """
    found, fixed = dscp_priorities(wanted), EOS_FIXED_PRIORITY
    if wanted.prio_tc[fixed] == fixed:
        return found
    other = next(p for p in qos.PRIORITIES if p != fixed and wanted.prio_tc[p] == wanted.prio_tc[fixed])
    return tuple(other if priority == fixed else priority for priority in found)


def _leaf_fabrics(spec: FabricSpec) -> dict[str, tuple[str, ...]]:
    """For each leaf of the spec its fabrics, in the order of the rails."""
    fabric_of = {rail.name: rail.fabric for rail in spec.rails}
    found: dict[str, tuple[str, ...]] = {}
    for rails in spec.units.values():
        for rail, entry in rails.items():
            for leaf in entry.leaf:
                found[label(leaf)] = tuple(dict.fromkeys((*found.get(label(leaf), ()), fabric_of[rail])))
    return found


def _switch(
    spec: FabricSpec,
    intents: Sequence[NodeIntent],
    entry: SwitchEntry,
    facts: Mapping[str, NodeFacts],
    leaves: Mapping[str, tuple[str, ...]],
    roles: Mapping[str, str],
) -> SwitchIntent:
    _check_uplinks(entry, roles)
    first, *others = _fabrics(entry, leaves)
    intent = _resolve(spec, intents, entry, facts, first)
    for name in others:
        other = _resolve(spec, intents, entry, facts, name)
        if replace(other, fabric=intent.fabric) != intent:
            raise SpecError(
                f"{entry.name} carries fabrics {intent.fabric} and {name}, and its ports can be set one way only",
                f"fabric_spec.fabrics.{name}.qos",
                remedy="Give both fabrics the same qos and link speed, or each its own switches",
            )
    switch_limits.check(intent)
    return intent


def _fabrics(entry: SwitchEntry, leaves: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The fabrics that a switch carries: by the spec's leaves, a spine's by the leaves below it."""
    if entry.role == "leaf":
        found = leaves.get(label(entry.name), ())
        if not found:
            raise SpecError(
                "no rail of the spec ends on this leaf",
                entry.name,
                remedy="Name it in fabric_spec.units.*.*.leaf, or take it out of group leaf_switches",
            )
        return found
    found = tuple(dict.fromkeys(name for _port, switch in entry.uplinks for name in leaves.get(label(switch), ())))
    if not found:
        raise SpecError(
            "none of the switches at its ports is a leaf of the spec",
            f"{entry.name}: switch_uplinks",
            ", ".join(switch for _port, switch in entry.uplinks) or None,
            "List its ports to the leaves that fabric_spec.units names",
        )
    return found


def _check_uplinks(entry: SwitchEntry, roles: Mapping[str, str]) -> None:
    for port, switch in entry.uplinks:
        if label(switch) == label(entry.name):
            raise SpecError("a switch is no neighbour of itself", f"{entry.name}: switch_uplinks.{port}", switch)
        if entry.role == "leaf" and roles.get(label(switch)) == "leaf":
            raise SpecError(
                "leaves of a rail reach each other over spines, this is a leaf",
                f"{entry.name}: switch_uplinks.{port}",
                switch,
                "Correct the entry, or the groups leaf_switches and spine_switches",
            )


def _resolve(
    spec: FabricSpec,
    intents: Sequence[NodeIntent],
    entry: SwitchEntry,
    facts: Mapping[str, NodeFacts],
    name: str,
) -> SwitchIntent:
    fabric = spec.fabrics[name]
    if fabric.qos is None:
        raise SpecError(
            f"{entry.name} carries this fabric, whose QoS is not managed here",
            f"fabric_spec.fabrics.{name}.qos",
            remedy=f"Add qos, or take {entry.name} out of the switches' groups",
        )
    wanted = _qos(fabric.qos, intents, name)
    hosts, notes = host_ports(entry, intents, facts) if entry.role == "leaf" else ((), ())
    host_cable = wanted.cable_length_m or HOST_CABLE_M
    uplink_cable = derive.metres(fabric.qos.switch.uplink_cable_length) or HOST_CABLE_M
    ports = (
        *(SwitchPort(port, host_cable, host=host, rail=rail) for port, host, rail in hosts),
        *(SwitchPort(port, uplink_cable, switch=switch) for port, switch in entry.uplinks),
    )
    queues = tuple(sorted({wanted.prio_tc[priority] for priority in wanted.ecn}))
    return SwitchIntent(
        name=entry.name,
        os=entry.os,
        role=entry.role,
        fabric=name,
        mtu=EOS_MTU if entry.os == "eos" else derive.SWITCH_MTU,
        dscp_priority=_on_eos(wanted) if entry.os == "eos" else dscp_priorities(wanted),
        priority_queue=wanted.prio_tc,
        pfc=wanted.pfc,
        tsa=wanted.tsa,
        share=wanted.share,
        data_queue=wanted.prio_tc[wanted.data_priority],
        ecn_queues=queues,
        ecn=switch_limits.ecn(fabric.qos.switch, fabric.link) if queues else None,
        watchdog=fabric.qos.switch.pfc_watchdog if wanted.pfc else None,
        lossless_percent=fabric.qos.switch.buffers.lossless_percent,
        ports=ports,
        entry=entry,
        notes=notes,
    )


def _qos(spec: QosSpec, intents: Sequence[NodeIntent], name: str) -> Qos:
    """The fabric's QoS as its switches have it: queues by the spec, CNPs where the nodes' NICs, all alike, put them."""
    for intent in intents:
        for rail in intent.rails:
            own = rail.qos if rail.fabric == name else None
            if own is not None and own.cnp_dscp is not None and own.cnp_priority is not None:
                return qos.qos(replace(spec, cnp=Marking(own.cnp_dscp, own.cnp_priority)))
    return qos.qos(spec)
