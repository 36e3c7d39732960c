# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of MLNX_OFED and DOCA-OFED below ``/sys/class/net/<netdev>/qos/``, and their tool ``mlnx_qos``.

What the files take is what mlnx_qos writes into them (Mellanox/mlnx-tools, python/mlnx_qos, v1.2). The tool itself is
used for what has no file, PFC and traffic classes, and only where iproute2's ``dcb`` is not.
"""

from __future__ import annotations

from typing import Optional

from ...model.plan import Action, Run, WriteFile
from .dcb import FIRMWARE, Dcb


class OfedFiles(Dcb):
    """Trust, map and buffers by file, the rest by ``dcb``."""

    def trust(self, netdev: str, trust: str, mapped: bool) -> tuple[Action, ...]:
        """See the interface."""
        return (WriteFile(_file(netdev, "trust"), trust),)

    def dscp(self, netdev: str, dscp: int, priorities: tuple[int, ...]) -> tuple[Action, ...]:
        """Every DSCP has one priority here."""
        return (WriteFile(_file(netdev, "dscp2prio"), f"{dscp} {priorities[-1]} "),)

    def unmap(self, netdev: str, dscp: int, priority: int) -> tuple[Action, ...]:
        """Priority 0 is what a DSCP has by default."""
        return (WriteFile(_file(netdev, "dscp2prio"), f"{dscp} 0 "),)

    def buffers(
        self, netdev: str, size: Optional[tuple[int, ...]], priority: Optional[tuple[int, ...]]
    ) -> tuple[Action, ...]:
        """See the interface."""
        files = (("prio2buffer", priority), ("buffer_size", size))
        named = ((_file(netdev, name), values) for name, values in files if values is not None)
        return tuple(WriteFile(path, f"{_list(values)},") for path, values in named)

    def reset_map(self, netdev: str) -> tuple[Action, ...]:
        """See the interface."""
        return (WriteFile(_file(netdev, "trust"), "pcp"),)


class MlnxQos(OfedFiles):
    """Everything that has no file by ``mlnx_qos``, which knows nothing of a willing NIC."""

    sets_willing = False

    def take(self, netdev: str) -> tuple[Action, ...]:
        """See the interface."""
        return (Run(("mlnx_qos", "-i", netdev, "-d", "os"), hint=FIRMWARE),)

    def ets(
        self, netdev: str, prio_tc: tuple[int, ...], tsa: tuple[str, ...], share: tuple[int, ...], not_willing: bool
    ) -> tuple[Action, ...]:
        """See the interface."""
        bandwidths = tuple(room if name == "ets" else 0 for name, room in zip(tsa, share))
        lists = ("-s", ",".join(tsa), "-t", _list(bandwidths), "-p", _list(prio_tc))
        return (Run(("mlnx_qos", "-i", netdev, *lists)),)

    def pfc(self, netdev: str, priorities: tuple[int, ...], cable_m: Optional[int]) -> tuple[Action, ...]:
        """Both in one call: --cable_len alone turns PFC off, and a length of 0, the tool's default, is ignored."""
        mask = _list(tuple(int(priority in priorities) for priority in range(8)))
        cable = ("--cable_len", str(cable_m)) if cable_m is not None else ()
        return (Run(("mlnx_qos", "-i", netdev, "-f", mask, *cable)),)


def _file(netdev: str, name: str) -> str:
    return f"/sys/class/net/{netdev}/qos/{name}"


def _list(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))
