# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""RDMA-CM's defaults: ToS and GID type of the connections that it makes.

kernel Documentation/ABI/testing/configfs-rdma_cm: the folder of a device is made by hand, and holds its ports.
"""

from __future__ import annotations

from ...model.facts import RdmaPort
from ...model.plan import Run, Step, WriteFile

BASE = "/sys/kernel/config/rdma_cm"
V2 = "RoCE v2"


def rdma_cm(rail: str, device: str, port: RdmaPort, tos: int, words: str) -> tuple[Step, ...]:
    """Towards the ToS, whose meaning is ``words``, and to GIDs of RoCE v2, which alone have a DSCP."""
    folder = f"{BASE}/{device}"
    path = f"{folder}/ports/{port.number}"
    make = Run(("mkdir", "-p", folder), hint="RDMA-CM's settings need the modules rdma_cm and configfs")
    unknown = port.cm_tos is None and port.cm_mode is None
    found: list[Step] = []
    if port.cm_tos != tos:
        before = "" if port.cm_tos is None else str(port.cm_tos)
        write = WriteFile(f"{path}/default_roce_tos", str(tos))
        # The kernel keeps a value when its folder goes (drivers/infiniband/core/cma_configfs.c).
        back = (WriteFile(write.path, before or "0"), *((Run(("rmdir", folder), allowed=(0, 1)),) if unknown else ()))
        actions = (make, write) if unknown else (write,)
        found.append(Step(rail, f"RDMA-CM ToS of {device}", before, f"{tos} ({words})", actions, undo=back))
    if port.cm_mode != V2:
        mode = WriteFile(f"{path}/default_roce_mode", V2)
        undo = (WriteFile(mode.path, port.cm_mode),) if port.cm_mode is not None else ()
        found.append(Step(rail, f"RDMA-CM GID type of {device}", port.cm_mode or "", V2, (mode,), undo=undo))
    return tuple(found)


def forget(rail: str, device: str, port: RdmaPort) -> tuple[Step, ...]:
    """No ToS, and no folder."""
    if port.cm_tos is None:
        return ()
    folder = f"{BASE}/{device}"
    path = f"{folder}/ports/{port.number}/default_roce_tos"
    # The kernel keeps the value when its folder goes (drivers/infiniband/core/cma_configfs.c).
    actions = (WriteFile(path, "0"), Run(("rmdir", folder)))
    back = (Run(("mkdir", "-p", folder)), WriteFile(path, str(port.cm_tos)))
    return (Step(rail, f"RDMA-CM ToS of {device}", str(port.cm_tos), "", actions, undo=back),)
