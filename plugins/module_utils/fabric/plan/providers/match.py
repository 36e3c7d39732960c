# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What tells a rail's NIC from the node's other netdevs, in the files of managers that match hardware."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

from ...model.facts import Netdev


def identity(netdev: Netdev, others: Sequence[Netdev]) -> tuple[Optional[str], bool]:
    """The NIC's PCI address, and whether its MAC is needed beside it.

    A MAC tells apart what shares one PCI function: two ports of one function and SR-IOV representors do. Without a PCI
    address the MAC is all there is.
    """
    if netdev.pci is None:
        return None, True
    return netdev.pci, any(other.pci == netdev.pci and other.name != netdev.name for other in others)


def about(
    texts: Sequence[str], netdevs: tuple[Netdev, ...], match: Callable[[Netdev], list[str]], name: str
) -> tuple[Netdev, ...]:
    """The netdevs whose match stands in one of the texts, line by line, or which one names after the key ``name``."""
    files = [text.splitlines() for text in texts]
    return tuple(
        netdev
        for netdev in netdevs
        if any(all(line in lines for line in match(netdev)) or f"{name}={netdev.name}" in lines for lines in files)
    )
