# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Congestion control of Intel's E810: off by default, and set in a folder of configfs that keeps nothing.

Intel irdma README, "DCQCN": ``/sys/kernel/config/irdma/<device>/roce_dcqcn_enable``; as long as the folder is there,
the driver cannot be unloaded.
"""

from __future__ import annotations

from . import RailPort


def note(port: RailPort) -> str:
    """What is left alone, and why; empty when nothing is."""
    if not port.qos.ecn:
        return ""
    return (
        f"{port.rail}: DCQCN of {port.netdev.name} is left alone, because Intel's driver shows nothing of it to "
        "compare with; roce_dcqcn_enable below /sys/kernel/config/irdma turns it on"
    )
