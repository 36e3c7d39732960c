# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What takes a process a netdev, and is read only when details are wanted: optics, statistics, the kernel's log."""

from __future__ import annotations

from typing import Optional, Sequence

from ..model.facts import KernelEvent, Module, Netdev
from ..parse import dmesg, ethtool_m, ethtool_s, mlxlink
from ..records import replace
from .collect import Reader

# How ethtool says that a driver has nothing of the kind.
_LACKS = ("not supported", "no stats available")
_MLXLINK = "/usr/bin/mlxlink"
_MLX5 = "mlx5_core"


def optics(reader: Reader, netdevs: Optional[Sequence[Netdev]]) -> Optional[tuple[Module, ...]]:
    """Modules and cables of the NICs that can tell about theirs; bit error rates where NVIDIA's mlxlink is there."""
    if netdevs is None:
        return None
    has_mlxlink = reader.port.exists(_MLXLINK)
    found = []
    for netdev in _hardware(netdevs):
        module = reader.tool(("ethtool", "-m", netdev.name), ethtool_m.parse, "optics", _LACKS)
        link = None
        if has_mlxlink and netdev.driver == _MLX5 and netdev.pci:
            link = reader.tool(("mlxlink", "-d", netdev.pci, "-m", "-c", "--json"), mlxlink.parse, "optics")
        if link is not None:
            module = module or Module(netdev.name)
            module = replace(
                module,
                vendor=module.vendor or link.vendor,
                part=module.part or link.part,
                serial=module.serial or link.serial,
                temperature=link.temperature if module.temperature is None else module.temperature,
                raw_ber=link.raw_ber,
                effective_ber=link.effective_ber,
                symbol_ber=link.symbol_ber,
            )
        if module is not None:
            found.append(replace(module, netdev=netdev.name))
    return tuple(found)


def statistics(reader: Reader, netdevs: Optional[Sequence[Netdev]]) -> Optional[dict[str, dict[str, int]]]:
    """The drivers' own counters by netdev."""
    if netdevs is None:
        return None
    found = {}
    for netdev in _hardware(netdevs):
        counters = reader.tool(("ethtool", "-S", netdev.name), ethtool_s.parse, "statistics", _LACKS)
        if counters is not None:
            found[netdev.name] = counters
    return found


def kernel_log(reader: Reader) -> Optional[tuple[KernelEvent, ...]]:
    """What the kernel says about NICs."""
    return reader.tool(("dmesg",), dmesg.parse, "kernel_log")


def _hardware(netdevs: Sequence[Netdev]) -> list[Netdev]:
    return [netdev for netdev in netdevs if netdev.driver and netdev.pci]
