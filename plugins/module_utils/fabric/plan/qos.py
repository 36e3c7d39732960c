# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the rails' lossless settings: on their NICs, and in what RDMA sends."""

from __future__ import annotations

from typing import Callable, Iterable

from ..errors import FabricError, MissingError, ReadError, RefusedError
from ..model.base import Model
from ..model.facts import Netdev, NodeFacts, RdmaPort
from ..model.intent import NodeIntent, Qos
from ..model.plan import Plan, RemoveFile, Run, Step
from ..ports import TOOL_PATH, Port
from ..records import dataclass, replace
from ..resolve.bind import BoundRail, bind, soft_name
from ..resolve.derive import ECT0
from .protect import refuse_management
from .qos_limits import suit_driver
from .qos_nic import nic_steps
from .qos_owners import LLDPAD_UNITS, refuse_owners, take_step
from .qos_providers import RailPort
from .qos_providers.choose import congestion_steps, provider
from .qos_providers.pause import pause
from .qos_providers.rdma_cm import rdma_cm
from .qos_providers.traffic_class import traffic_class

# Says that the settings were given back on purpose, so that the agent does not bring them again.
RELEASED = "/etc/railwright/qos-released"
_UNITS = "/run/systemd/units"


@dataclass(frozen=True, eq=False, repr=False)
class NodeQos(Model):
    """What the plan needs beside the facts: tools that are there, units of lldpad that run, whether we let go."""

    tools: tuple[str, ...] = ()
    lldpad: tuple[str, ...] = ()
    released: bool = False


def read_qos(port: Port) -> NodeQos:
    """The node as it is.

    :raises ReadError: when it cannot be told whether lldpad runs.
    """
    folders = TOOL_PATH.split(":")
    tools = tuple(tool for tool in ("dcb", "mlnx_qos") if any(port.exists(f"{folder}/{tool}") for folder in folders))
    try:
        units = port.listdir(_UNITS)
    except MissingError:
        units = []
    running = tuple(unit for unit in LLDPAD_UNITS if f"invocation:{unit}" in units)
    return NodeQos(tools, running, port.exists(RELEASED))


def plan_qos(intent: NodeIntent, facts: NodeFacts, node: NodeQos, *, predict: bool = False) -> Plan:
    """Steps towards the intent's lossless settings; on a node without any such rail there are none.

    Within a rail everything that makes its link flap comes in one step a port, after all that is needed before it.

    A rail is refused when somebody else owns its settings and the spec does not say to take them, when the NIC cannot
    have them, when they could not be read, and when its netdev carries the management of the node. The others, and the
    other ports of its bond, are planned all the same.

    :param predict: also say what will be set on soft RoCE devices that an earlier step has yet to make.
    :raises RefusedError: when lldpad runs and the spec does not say to stop it.
    """
    rails = [(rail, qos) for rail in bind(intent, facts) if (qos := rail.intent.qos) is not None]
    if not rails:
        return Plan("qos")
    steps: list[Step] = []
    notes: list[str] = []
    if node.released:
        steps.append(Step("agent", "lossless settings", "given back", "kept", (RemoveFile(RELEASED),)))
    if node.lldpad:
        steps.append(_lldpad([qos for _, qos in rails], node.lldpad))
    refused: dict[str, str] = {}
    for rail, qos in rails:
        planned, ports = each_port(rail, facts, notes, refused, qos, lambda port: _port_steps(port, facts, node, notes))
        steps += planned
        if ports:
            steps += _rdma_steps(rail, qos, predict, notes)
    return Plan("qos", tuple(steps), notes=tuple(notes), refused=refused)


def each_port(
    rail: BoundRail,
    facts: NodeFacts,
    notes: list[str],
    refused: dict[str, str],
    wanted: Qos,
    steps: Callable[[RailPort], list[Step]],
) -> tuple[list[Step], list[RailPort]]:
    """The steps of a rail's ports, and the ports that have any say; one that is refused keeps no other from its own.

    :param notes: get what is left alone for want of hardware.
    :param refused: gets, by rail, why ports are not planned.
    :param wanted: the settings of every port.
    """
    found: list[Step] = []
    planned: list[RailPort] = []
    told: list[str] = []
    for netdev in _netdevs(rail, notes):
        try:
            port = _rail_port(rail, netdev, facts, wanted)
            found += steps(port)
            planned.append(port)
        except FabricError as error:  # noqa: PERF203 - the other ports go on
            told.append(str(error))
    if told:
        refused[rail.intent.name] = "; ".join(told)
    return found, planned


def _netdevs(rail: BoundRail, notes: list[str]) -> Iterable[Netdev]:
    """The netdevs of a rail that are there; ``notes`` get the others."""
    for port in rail.ports:
        if port.problem or port.netdev is None:
            what = f" {port.netdev.name}" if port.netdev is not None and len(rail.ports) > 1 else ""
            notes.append(f"{rail.intent.name}{what}: left alone, because {port.problem or 'its netdev is not there'}")
        else:
            yield port.netdev


def _rail_port(rail: BoundRail, netdev: Netdev, facts: NodeFacts, wanted: Qos) -> RailPort:
    """One netdev of a rail, with its settings.

    :raises RefusedError: when it carries the management of the node.
    :raises ReadError: when its settings were not read.
    """
    name = rail.intent.name
    refuse_management(name, netdev, facts)
    state = next((state for state in facts.qos or () if state.netdev == netdev.name), None)
    if state is None:
        raise ReadError(f"the lossless settings of {netdev.name} could not be read", _why(facts, "qos", netdev.name))
    return RailPort(name, netdev, state, wanted, f" of {netdev.name}" if len(rail.ports) > 1 else "")


def _port_steps(port: RailPort, facts: NodeFacts, node: NodeQos, notes: list[str]) -> list[Step]:
    state, qos = port.state, port.qos
    if not state.offers and qos.profile == "lossy":
        notes.append(f"{port.rail}: {port.netdev.name} has no settings of traffic classes, and a lossy rail needs none")
        return []
    dcb = provider(port, node.tools)
    _check_read(port, facts)
    suit_driver(port, notes)
    refuse_owners(port)
    if state.willing and not dcb.sets_willing:
        notes.append(
            f"{port.rail}: {port.netdev.name} adopts the peer's ETS (willing) where a DCBX agent runs, and mlnx_qos "
            "cannot turn that off; iproute2's dcb, 5.11 or later, can"
        )
    return [
        *take_step(port, dcb),
        *pause(port),
        *nic_steps(port, dcb),
        *congestion_steps(port, facts.system.lockdown, notes),
    ]


def _check_read(port: RailPort, facts: NodeFacts) -> None:
    """Nothing, when all is known that the rail needs.

    :raises ReadError: for what could not be read.
    :raises RefusedError: for what the NIC does not have.
    """
    state = port.state
    needed = {
        "trust": state.trust,
        "DSCP map": state.dscp_prio,
        "traffic classes": state.prio_tc,
        "transmission selection": state.tsa,
        "ETS shares": state.share,
        "PFC": state.pfc,
    }
    if "ecn_sysfs" in state.offers and port.qos.ecn:
        needed.update({"ECN notification point": state.ecn_np, "ECN reaction point": state.ecn_rp})
    lacking = [word for word, value in needed.items() if value is None]
    if not lacking:
        return
    why = _why(facts, port.netdev.name)
    if why:
        raise ReadError(f"{', '.join(lacking)} of {port.netdev.name} could not be read", why)
    raise RefusedError(
        f"{port.netdev.name} has no {', '.join(lacking)}: its driver {port.netdev.driver or ''} does not offer it",
        f"rail {port.rail}",
        remedy="Use a NIC and a driver with DCB for this rail, or take qos out of its fabric",
    )


def _lldpad(wanted: list[Qos], units: tuple[str, ...]) -> Step:
    """The step that stops lldpad for good, where every rail's spec says so."""
    if any(qos.lldpad != "stop" for qos in wanted):
        raise RefusedError(
            "lldpad runs, which negotiates DCBX with the switch and writes the outcome over these settings",
            "lldpad",
            ", ".join(units),
            "Write host: {lldpad: stop} into the fabric's qos, or stop it: "
            f"systemctl disable --now {' '.join(LLDPAD_UNITS)}",
        )
    # Distributions differ in which units there are; whether it still runs is looked at afterwards.
    stop = tuple(Run(("systemctl", "disable", "--now", unit), allowed=(0, 1, 5)) for unit in reversed(LLDPAD_UNITS))
    return Step("lldpad", "service", "running", "stopped and disabled", stop)


def _rdma_steps(rail: BoundRail, qos: Qos, predict: bool, notes: list[str]) -> list[Step]:
    words = f"DSCP {qos.data_dscp}{', ECT(0)' if qos.tos & ECT0 else ''}"
    name = rail.intent.name

    def towards(device: str, port: RdmaPort) -> tuple[Step, ...]:
        return (*rdma_cm(name, device, port, qos.tos, words), *traffic_class(name, device, port, qos.tos))

    if rail.rdma is not None or any(port.rdma is not None for port in rail.ports):
        return each_device(rail, towards)
    if not (predict and rail.intent.soft_roce):
        notes.append(f"{name}: RDMA-CM is left alone, because the rail's RDMA device is not there")
        return []
    steps = rdma_cm(name, soft_name(rail.intent), RdmaPort(1), qos.tos, words)
    return [replace(step, actions=(), undo=(), depends_on="soft RoCE device") for step in steps]


def each_device(rail: BoundRail, steps: Callable[[str, RdmaPort], tuple[Step, ...]]) -> list[Step]:
    """Steps of all RDMA ports of a rail."""
    return [step for device, port in rail.rdma_ports for step in steps(device.name, port)]


def _why(facts: NodeFacts, *subjects: str) -> str:
    told = (item for subject in subjects for item in facts.unread if item.subject == subject)
    return next((f"{item.source}: {item.reason}" for item in told), "")
