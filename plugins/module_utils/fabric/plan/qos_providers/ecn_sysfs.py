# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Congestion control of the OFED driver: ``/sys/class/net/<netdev>/ecn/roce_{np,rp}/``.

NVIDIA MLNX_OFED documentation, "Explicit Congestion Notification": ``enable/<priority>``, ``cnp_dscp``,
``cnp_802p_prio`` and the parameters.
"""

from __future__ import annotations

from ...model.plan import Step, WriteFile
from ...resolve.dcqcn import PARAMETERS, value
from . import RailPort
from .parameters import number


def congestion(port: RailPort) -> tuple[Step, ...]:
    """Towards DCQCN on the data's priority, or none there; other priorities are left alone."""
    qos, state = port.qos, port.state
    base = f"/sys/class/net/{port.netdev.name}/ecn"
    found: list[Step] = []
    priority, wanted = qos.data_priority, qos.data_priority in qos.ecn
    for point, word, on in (("np", "notification", state.ecn_np), ("rp", "reaction", state.ecn_rp)):
        if on is None or (priority in on) == wanted:
            continue
        path = f"{base}/roce_{point}/enable/{priority}"
        setting = f"ECN {word} point of priority {priority}{port.of}"
        before, after = ("off", "on") if wanted else ("on", "off")
        undo = (WriteFile(path, str(int(not wanted))),)
        found.append(Step(port.rail, setting, before, after, (WriteFile(path, str(int(wanted))),), undo=undo))
    if qos.cnp_dscp is not None and qos.cnp_priority is not None:
        found += number(port, "DSCP of CNPs", f"{base}/roce_np/cnp_dscp", state.cnp_dscp, qos.cnp_dscp)
        path = f"{base}/roce_np/cnp_802p_prio"
        found += number(port, "priority of CNPs", path, state.cnp_priority, qos.cnp_priority)
    for name, want in qos.dcqcn.items():
        path = f"{base}/{PARAMETERS[name].ofed}"
        found += number(port, f"DCQCN {name}", path, value(state.dcqcn, name), want)
    return tuple(found)
