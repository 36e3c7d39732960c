# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Facts from texts that somebody captured: what a support case comes with."""

from __future__ import annotations

from typing import Callable, Mapping, Optional

from ..errors import ParseError
from ..model.facts import NodeFacts, QosState, RdmaDevice, RdmaPort, Unread
from ..parse import (
    dcb,
    ethtool_a,
    ibdev2netdev,
    ibstat,
    ibstatus,
    ibv_devices,
    ibv_devinfo,
    ip_address,
    limits,
    lldp,
    mlnx_qos,
    modules,
    rdma_dev,
    rdma_link,
    show_gids,
)
from ..records import replace
from .merge import merge_devices, settle

Devices = tuple[RdmaDevice, ...]


def _dev(text: str) -> Devices:
    return tuple(entry.device for entry in rdma_dev.parse(text) if entry.kind != "smi")


def _bindings(text: str) -> Devices:
    return tuple(RdmaDevice(b.device, ports=(RdmaPort(b.port, netdev=b.netdev),)) for b in ibdev2netdev.parse(text))


# In the order of how much each tells: an earlier one is not contradicted by a later one.
_RDMA: dict[str, Callable[[str], Devices]] = {
    "ibv_devinfo": ibv_devinfo.parse,
    "rdma_link": rdma_link.parse,
    "ibstat": ibstat.parse,
    "ibstatus": ibstatus.parse,
    "show_gids": show_gids.parse,
    "rdma_dev": _dev,
    "ibdev2netdev": _bindings,
    "ibv_devices": lambda text: ibv_devices.parse(text).devices,
}
_OTHERS: dict[str, Callable[[NodeFacts, str], NodeFacts]] = {
    "ip_address": lambda facts, text: replace(facts, netdevs=ip_address.parse(text)),
    "lldpcli": lambda facts, text: replace(facts, lldp=lldp.parse(text)),
    "lsmod": lambda facts, text: replace(facts, modules=modules.parse(text)),
    "ulimit": lambda facts, text: replace(facts, memlock=limits.ulimit_memlock(text)),
}
TOOLS = (*_RDMA, *_OTHERS)


def _pause(text: str, netdev: str) -> QosState:
    told = ethtool_a.parse(text)
    if told.netdev != netdev:
        raise ParseError("the output is of another netdev", f"{ethtool_a.TOOL}:1", told.netdev)
    return told.state


# Of one netdev, whose name most of them do not tell; in the order of how much each tells.
_QOS: dict[str, Callable[[str, str], QosState]] = {
    "mlnx_qos": mlnx_qos.parse,
    "dcb_dcbx": dcb.dcbx,
    "dcb_apptrust": dcb.apptrust,
    "dcb_app": dcb.app,
    "dcb_ets": dcb.ets,
    "dcb_pfc": dcb.pfc,
    "dcb_buffer": dcb.buffer,
    "ethtool_a": _pause,
}
NETDEV_TOOLS = tuple(_QOS)


def merge_captured(
    facts: NodeFacts, captured: Mapping[str, str], netdevs: Optional[Mapping[str, Mapping[str, str]]] = None
) -> NodeFacts:
    """``facts``, with what the texts tell: gaps of RDMA devices are filled, other sections are taken from their text.

    A block of ``ibstatus`` without its header is kept as a device without a name, and noted as unread: what it says is
    known, whose it is not.

    :param captured: text by tool, one of :data:`TOOLS`.
    :param netdevs: by netdev, text by tool, one of :data:`NETDEV_TOOLS`; gaps of its lossless settings are filled.
    :raises ParseError: for a tool that has no parser here, or a text that its parser does not know.
    """
    _check(captured, TOOLS, "captured")
    if netdevs:
        facts = replace(facts, qos=_qos(facts, netdevs))
    for tool, take in _OTHERS.items():
        if tool in captured:
            facts = take(facts, captured[tool])
    devices, told = facts.rdma or (), False
    for tool, parse in _RDMA.items():
        if tool in captured:
            devices, told = merge_devices(devices, parse(captured[tool])), True
    if not told:
        return facts
    nameless = tuple(Unread("ibstatus", "a block names no device", "rdma") for device in devices if not device.name)
    rdma = tuple(settle(device) for device in devices)
    return replace(facts, rdma=rdma, unread=(*facts.unread, *nameless))


def _check(captured: Mapping[str, str], known: tuple[str, ...], place: str) -> None:
    if not isinstance(captured, Mapping):
        raise ParseError("texts by tool are expected", place, str(captured)[:80])
    unknown = sorted(set(captured) - set(known))
    if unknown:
        raise ParseError("there is no parser for this tool", place, unknown[0], f"Known are {', '.join(known)}.")


def _qos(facts: NodeFacts, netdevs: Mapping[str, Mapping[str, str]]) -> tuple[QosState, ...]:
    found = {state.netdev: state for state in facts.qos or ()}
    for netdev, captured in netdevs.items():
        _check(captured, NETDEV_TOOLS, f"captured.netdevs.{netdev}")
        for tool, parse in _QOS.items():
            if tool in captured:
                known, more = found.get(netdev, QosState(netdev)), parse(captured[tool], netdev)
                gaps = {name: getattr(more, name) for name, value in vars(known).items() if value is None}
                found[netdev] = replace(known, **gaps)
    return tuple(found.values())
