# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Congestion control of the kernel's own mlx5 driver: ``/sys/kernel/debug/mlx5/<pci>/cc_params/``.

drivers/infiniband/hw/mlx5/cong.c. It has no switch by priority: that is in the NIC's NV configuration
(ROCE_CC_PRIO_MASK), and on for all priorities by default.
"""

from __future__ import annotations

from ...model.facts import QosState
from ...model.plan import Step, WriteFile
from ...records import replace
from ...resolve.dcqcn import value
from . import RailPort
from .parameters import number

_MODE = "np_cnp_prio_mode"


def _back(base: str, state: QosState) -> tuple[WriteFile, ...]:
    """The former mode again, and before it the former number, which would set the mode to 0."""
    number = () if state.cnp_priority is None else (WriteFile(f"{base}/np_cnp_prio", str(state.cnp_priority)),)
    return (*number, WriteFile(f"{base}/{_MODE}", str((state.dcqcn or {})[_MODE])))


def congestion(port: RailPort) -> tuple[Step, ...]:
    """Towards the rail's CNPs and parameters."""
    qos, state = port.qos, port.state
    base = f"/sys/kernel/debug/mlx5/{port.netdev.pci}/cc_params"
    found: list[Step] = []
    if qos.cnp_dscp is not None and qos.cnp_priority is not None:
        found += number(port, "DSCP of CNPs", f"{base}/np_cnp_dscp", state.cnp_dscp, qos.cnp_dscp)
        # In any mode but 0 the NIC answers with the priority of the marked packet; to write one sets the mode to 0.
        fixed = not (state.dcqcn or {}).get(_MODE)
        have = state.cnp_priority if fixed else None
        steps = number(port, "priority of CNPs", f"{base}/np_cnp_prio", have, qos.cnp_priority)
        found += steps if fixed else [replace(step, undo=_back(base, state)) for step in steps]
    for name, want in qos.dcqcn.items():
        found += number(port, f"DCQCN {name}", f"{base}/{name}", value(state.dcqcn, name), want)
    return tuple(found)
