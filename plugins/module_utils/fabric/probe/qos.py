# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless settings of netdevs: one netlink message and one ioctl each, and the files that some drivers have."""

from __future__ import annotations

import struct
from typing import Any, Callable, Collection, Mapping, Optional, Sequence, TypeVar, Union

from ..errors import MissingError, ParseError, ReadError
from ..model.facts import Netdev, QosState
from ..parse import dcbnl, qos_files
from .collect import Reader

_NET = "/sys/class/net"
_MLX5, _BNXT = "/sys/kernel/debug/mlx5", "/sys/kernel/debug/bnxt_re"
# Drivers from outside the kernel take congestion control through configfs: a folder is made, used and removed.
_BNXT_CONFIG, _IRDMA_CONFIG = "/sys/kernel/config/bnxt_re", "/sys/kernel/config/irdma"
_TABLES: dict[str, Callable[[str], Any]] = {
    "trust": qos_files.trust,
    "dscp2prio": qos_files.dscp2prio,
    "prio2buffer": qos_files.prio2buffer,
    "buffer_size": qos_files.buffer_size,
}
_MEANING = {"dscp2prio": "dscp_prio", "prio2buffer": "prio_buffer"}
# How CNPs are marked: OFED's names, and the kernel's.
_CNP = {
    "cnp_dscp": "cnp_dscp",
    "cnp_802p_prio": "cnp_priority",
    "np_cnp_dscp": "cnp_dscp",
    "np_cnp_prio": "cnp_priority",
}
_PAUSE = struct.Struct("=IIII")  # struct ethtool_pauseparam: command, autoneg, rx, tx
_GET_PAUSE = _PAUSE.pack(0x12, 0, 0, 0)  # ETHTOOL_GPAUSEPARAM

T = TypeVar("T")
Folder = Mapping[str, Union[bytes, ReadError]]


def qos(
    reader: Reader, netdevs: Optional[Sequence[Netdev]], untouched: Collection[str]
) -> Optional[tuple[QosState, ...]]:
    """The settings of each physical Ethernet netdev that is not management's."""
    if netdevs is None:
        return None
    debug = {base: frozenset(reader.names(base, "qos")) for base in (_MLX5, _BNXT)}
    return tuple(
        _state(reader, netdev, debug)
        for netdev in netdevs
        if netdev.pci and netdev.kind is None and netdev.name not in untouched
    )


def _state(reader: Reader, netdev: Netdev, debug: Mapping[str, Collection[str]]) -> QosState:
    name = netdev.name
    found: dict[str, Any] = {"netdev": name}
    offers = []
    told = _told(reader, name, lambda: dcbnl.parse(reader.port.dcb(name), name))
    if told is not None:
        found.update(vars(told))
        offers.append("dcb")
    if _tables(reader, name, found):
        offers.append("qos_sysfs")
    parameters: dict[str, int] = {}
    if _ecn(reader, name, found, parameters):
        offers.append("ecn_sysfs")
    if netdev.pci in debug[_MLX5] and _parameters(reader, f"{_MLX5}/{netdev.pci}/cc_params", name, parameters):
        offers.append("cc_params")
    if _broadcom(reader, netdev, debug[_BNXT], parameters):
        offers.append("bnxt_cc")
    if netdev.driver == "ice" and reader.port.exists(_IRDMA_CONFIG):
        offers.append("irdma_cc")
    for file, meaning in _CNP.items():
        if file in parameters:
            found[meaning] = parameters.pop(file)
    found.update(_told(reader, name, lambda: _pause(name, reader.port.ethtool(name, _GET_PAUSE))) or {})
    found.update(dcqcn=parameters or None, offers=tuple(offers))
    return QosState(**found)


def _broadcom(reader: Reader, netdev: Netdev, known: Collection[str], parameters: dict[str, int]) -> bool:
    if netdev.pci in known and _parameters(reader, f"{_BNXT}/{netdev.pci}/cc_config", netdev.name, parameters):
        return True
    return netdev.driver == "bnxt_en" and reader.port.exists(_BNXT_CONFIG)


def _pause(name: str, answer: bytes) -> dict[str, bool]:
    if len(answer) != _PAUSE.size:
        raise ParseError("the answer is cut", f"ethtool of {name}", answer.hex())
    return dict(zip(("pause_autoneg", "pause_rx", "pause_tx"), map(bool, _PAUSE.unpack(answer)[1:])))


def _tables(reader: Reader, name: str, found: dict[str, Any]) -> bool:
    """OFED's files, which tell what the driver does, where dcbnl tells what it was asked for."""
    base = f"{_NET}/{name}/qos"
    folder = _folder(reader, base, name)
    if folder is None:
        return False
    for file, parse in _TABLES.items():
        if file in folder:
            value = _parsed(reader, f"{base}/{file}", folder[file], parse, name)
            if file == "buffer_size":
                found[file], total = value or (None, None)
                found["buffer_total"] = total or found.get("buffer_total")
            else:
                found[_MEANING.get(file, file)] = value
    return True


def _ecn(reader: Reader, name: str, found: dict[str, Any], parameters: dict[str, int]) -> bool:
    """OFED's switches by priority, and parameters, of the notification and the reaction point."""
    offered = False
    for point in ("np", "rp"):
        base = f"{_NET}/{name}/ecn/roce_{point}"
        if _parameters(reader, base, name, parameters):
            offered = True
            switches = _folder(reader, f"{base}/enable", name)
            if switches is not None:
                found[f"ecn_{point}"] = _told(reader, name, lambda: _enabled(f"{base}/enable", switches))  # noqa: B023
    return offered


def _enabled(base: str, switches: Folder) -> tuple[int, ...]:
    found = []
    for priority in range(8):
        content = switches.get(str(priority))
        if content is None:
            raise ParseError("the switch of a priority is not there", base, str(priority))
        if isinstance(content, ReadError):
            raise content
        if qos_files.flag(content.decode("utf-8", "replace")):
            found.append(priority)
    return tuple(found)


def _parameters(reader: Reader, base: str, name: str, parameters: dict[str, int]) -> bool:
    """Adds the numbers in a folder's files; whether any could be read. A kernel in lockdown refuses all of debugfs."""
    refused: list[Exception] = []
    read = False
    for file, content in (_folder(reader, base, name) or {}).items():
        if file == "enable":
            continue
        try:
            if isinstance(content, ReadError):
                raise content
            parameters[file] = qos_files.number(content.decode("utf-8", "replace"))
            read = True
        except (ReadError, ParseError) as error:
            refused.append(error)
    if refused:
        first = refused[0]
        place = first.place if isinstance(first, ReadError) else base
        more = f", and {len(refused) - 1} more" if len(refused) > 1 else ""
        reader.note(ReadError(f"{getattr(first, 'message', first)}{more}", place), name)
    return read


def _folder(reader: Reader, path: str, name: str) -> Optional[Folder]:
    return _told(reader, name, lambda: reader.port.read_folder(path))


def _parsed(reader: Reader, path: str, content: Union[bytes, ReadError], parse: Callable[[str], Any], name: str) -> Any:
    try:
        if isinstance(content, ReadError):
            raise content
        return parse(content.decode("utf-8", "replace"))
    except ParseError as error:
        reader.note(ParseError(error.message, path, error.value), name)
    except ReadError as error:
        reader.note(error, name)
    return None


def _told(reader: Reader, name: str, read: Callable[[], T]) -> Optional[T]:
    """An answer; ``None`` without a note where the driver has nothing of the kind."""
    try:
        return read()
    except MissingError:
        return None
    except (ReadError, ParseError) as error:
        reader.note(error, name)
        return None
