# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The default traffic class of all queue pairs, a file of the OFED driver.

NVIDIA MLNX_OFED documentation, "Quality of Service": ``/sys/class/infiniband/<device>/tc/<port>/traffic_class``.
"""

from __future__ import annotations

from ...model.facts import RdmaPort
from ...model.plan import Step, WriteFile


def traffic_class(rail: str, device: str, port: RdmaPort, tos: int) -> tuple[Step, ...]:
    """Towards the traffic class, where the driver has it; 0 is none."""
    have = port.traffic_class
    if have is None or max(have, 0) == tos:
        return ()
    path = f"/sys/class/infiniband/{device}/tc/{port.number}/traffic_class"
    before = "" if have < 0 else str(have)
    undo = (WriteFile(path, str(max(have, 0))),)
    return (Step(rail, f"traffic class of {device}", before, str(tos), (WriteFile(path, str(tos)),), undo=undo),)
