# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan that gives back what was set for lossless RoCE: defaults on the rails' NICs, nothing in what RDMA sends.

Buffers, the parameters of DCQCN and global pause stay as they are: the driver sizes the first, and the others have
defaults of the firmware's own, which a reset of the NIC brings back.
"""

from __future__ import annotations

from ..model.facts import NodeFacts, QosState
from ..model.intent import NodeIntent, Qos
from ..model.plan import Plan, Step, WriteFile
from ..model.words import spans
from ..resolve.bind import BoundRail, bind
from .qos import RELEASED, NodeQos, each_device, each_port
from .qos_nic import FLAP, priorities, reclass
from .qos_providers import DcbProvider, RailPort
from .qos_providers.choose import provider
from .qos_providers.rdma_cm import forget
from .qos_providers.traffic_class import traffic_class

_NOTHING = Qos("lossy", (), (), 0, 0, None, None, 0, ())
_STRICT = (("strict",) * 8, (0,) * 8)
# What drivers begin with: mlx5 gives class 1 to priority 0 and class 0 to priority 1, the order of IEEE 802.1Q (kernel
# mlx5/core/en_dcbnl.c, mlx5e_ets_init()); ice has one class with all (ice_dcb_lib.c, ice_dcb_sw_dflt_cfg()).
_MLX5 = ((1, 0, 2, 3, 4, 5, 6, 7), ("vendor",) * 8, (0,) * 8)
_DEFAULTS = {
    "bnxt_en": ((0,) * 8, *_STRICT),
    "ice": ((0,) * 8, ("ets", *("strict",) * 7), (100, *(0,) * 7)),
}
_TEXT = "The role roce_qos gave the rails' lossless settings back; the agent does not bring them again.\n"


def plan_absent(intent: NodeIntent, facts: NodeFacts, node: NodeQos) -> Plan:
    """Steps back, on every RoCE rail, whether the intent has lossless settings for it or not.

    A rail is refused when its netdev carries the management of the node, and when its settings could not be read.
    """
    steps: list[Step] = []
    notes: list[str] = []
    refused: dict[str, str] = {}
    if not node.released:
        steps.append(Step("agent", "lossless settings", "kept", "given back", (WriteFile(RELEASED, _TEXT),)))
    for rail in bind(intent, facts):
        if rail.intent.transport == "roce":
            steps += _rail(rail, facts, node, notes, refused)
    if any(rail.qos is not None for rail in intent.rails):
        notes.append("the fabric spec has qos still, and rules find fault until it is taken out")
    return Plan("qos", tuple(steps), notes=tuple(notes), refused=refused)


def _rail(rail: BoundRail, facts: NodeFacts, node: NodeQos, notes: list[str], refused: dict[str, str]) -> list[Step]:
    def back(port: RailPort) -> list[Step]:
        if port.state.firmware_owned:
            notes.append(f"{port.rail}: {port.netdev.name} is left alone, because its firmware owns the settings")
        if not port.state.offers or port.state.firmware_owned:
            return []
        return _port(port, provider(port, node.tools))

    steps, ports = each_port(rail, facts, notes, refused, rail.intent.qos or _NOTHING, back)
    if ports:
        steps += each_device(
            rail,
            lambda device, port: (
                *forget(rail.intent.name, device, port),
                *traffic_class(rail.intent.name, device, port, 0),
            ),
        )
    return steps


def _port(port: RailPort, dcb: DcbProvider) -> list[Step]:
    state, name, found = port.state, port.netdev.name, []
    moved = [(code, to) for code, to in state.dscp_prio or () if to != code >> 3]
    if "qos_sysfs" in state.offers and moved:
        actions = tuple(action for code, _ in moved for action in dcb.dscp(name, code, (code >> 3,)))
        undo = tuple(action for code, to in moved for action in dcb.dscp(name, code, (to,)))
        codes = spans(code for code, _ in moved)
        found.append(Step(port.rail, f"DSCPs {codes}{port.of}", "set", "the driver's default", actions, undo=undo))
    if state.trust == "dscp":
        undo = tuple(action for dscp, priority in state.dscp_prio or () for action in dcb.dscp(name, dscp, (priority,)))
        undo = (*dcb.trust(name, "dscp", mapped=False), *undo)
        before = f"dscp, {len(state.dscp_prio or ())} DSCPs"
        found.append(Step(port.rail, f"trust{port.of}", before, "pcp", dcb.reset_map(name), undo=undo))
    classes = _DEFAULTS.get(port.netdev.driver or "", _MLX5)
    if not _is(state, classes):
        undo = dcb.ets(name, state.prio_tc or (), state.tsa or (), state.share or (), False)
        actions = dcb.ets(name, *classes, False)
        setting, after = f"traffic classes{port.of}", "the driver's default"
        found.append(Step(port.rail, setting, "set", after, actions, reclass(port), undo=undo))
    if state.pfc:
        back = dcb.pfc(name, state.pfc, state.cable_length_m)
        actions = dcb.pfc(name, (), None)
        found.append(Step(port.rail, f"PFC{port.of}", priorities(state.pfc), "none", actions, FLAP, undo=back))
    return found


def _is(state: QosState, classes: tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...]]) -> bool:
    """Whether the scheduler is that one, or not known; a share counts for ets only."""
    if state.prio_tc is None or state.tsa is None or state.share is None:
        return True
    prio_tc, tsa, share = classes
    shares = all(have == want for name, have, want in zip(tsa, state.share, share) if name == "ets")
    return (state.prio_tc, state.tsa) == (prio_tc, tsa) and shares
