# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated node with NICs that have DCB as the kernel's own mlx5 driver does, and what ``dcb`` makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import NodeIntent, Qos, TrafficClass

from tests.unit import dcb
from tests.unit.apply.simulated import SimulatedNode, intent, rail

CLASSES = (
    TrafficClass(3, (3,), "ets", 50),
    TrafficClass(6, (6,), "strict"),
    TrafficClass(0, (0, 1, 2, 4, 5, 7), "ets", 50),
)
QOS = Qos("pfc+dcqcn", (3,), (3,), 26, 3, 48, 6, 106, CLASSES, 7)
# As the driver is loaded (kernel mlx5/core/en_dcbnl.c).
FRESH = dcb.Dcb(prio_tc=(1, 0, 2, 3, 4, 5, 6, 7), tsa=("vendor",) * 8, share=(100,) * 8, pfc=(), apps=(), delay=7)
CC = "/sys/kernel/debug/mlx5/{}/cc_params"
CM = "/sys/kernel/config/rdma_cm"


def lossless(qos: Optional[Qos] = QOS) -> NodeIntent:
    return intent(rail(0, qos=qos), rail(1, qos=qos))


class LosslessNode(SimulatedNode):
    """Rails ens4 and ens5, fresh; ``flaps`` are the netdevs whose link went down and up, in order."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.flaps: list[str] = []
        self.nics: dict[str, dcb.Dcb] = {}
        self.paused: dict[str, dict[str, bool]] = {}
        self.files["/usr/sbin/dcb"] = b""
        for name in ("ens4", "ens5"):
            self.make(name)
        self.tools.update(
            {
                "dcb": lambda port: port.change(),
                "ethtool -A": lambda port: port.pause(),
                "mkdir -p": lambda port: port.mkdir(),
                "rmdir": lambda port: port.rmdir(),
            }
        )

    def make(self, name: str) -> None:
        """The netdev is made anew: all of its settings are the driver's."""
        self.nics[name] = FRESH
        self.paused[name] = {"rx": True, "tx": True}
        for file in ("np_cnp_dscp", "np_cnp_prio", "np_cnp_prio_mode"):
            self.files[f"{CC.format(self.net[name]['pci'])}/{file}"] = b"0\n"
        self.show(name)

    def show(self, name: str) -> None:
        self.dcbs[name] = self.nics[name].message(name)
        self.pauses[name] = dcb.pause(**self.paused[name])

    def change(self) -> object:
        _, what, verb, _, name, *words = self.calls[-1].split()
        have = self.nics[name]
        if not have.dcbx and what != "dcbx":
            return (1, "Attribute write: Operation not permitted")
        if what == "dcbx":
            self.nics[name] = replace(have, dcbx=tuple(words))
        elif what == "app":
            self.nics[name] = replace(have, apps=self._apps(verb, dict(have.apps or ()), words[1:]))
        elif what == "pfc":
            on = tuple(int(word.split(":")[0]) for word in words if word.endswith(":on"))
            delay = int(words[words.index("delay") + 1]) if "delay" in words else have.delay
            self.flaps += [name] if on != have.pfc else []
            self.nics[name] = replace(have, pfc=on, delay=delay)
        elif what == "ets":
            tsa, share, prio_tc = (_eight(words, key) for key in ("tc-tsa", "tc-bw", "prio-tc"))
            total = sum(int(room) for name_, room in zip(tsa, share) if name_ == "ets")
            if "ets" in tsa and total != 100:
                return (1, "Attribute write: Invalid argument")
            full = tuple(int(room) if name_ == "ets" else 100 for name_, room in zip(tsa, share))
            self.nics[name] = replace(have, tsa=tsa, share=full, prio_tc=tuple(map(int, prio_tc)))
        self.show(name)
        return ""

    @staticmethod
    def _apps(verb: str, table: dict[int, int], words: list[str]) -> tuple[tuple[int, int], ...]:
        if verb == "flush":
            return ()
        for dscp, priority in (map(int, word.split(":")) for word in words):
            if verb == "del":
                table.pop(dscp, None)
            else:
                table[dscp] = priority
        return tuple(sorted(table.items()))

    def pause(self) -> object:
        _, _, name, *words = self.calls[-1].split()
        self.paused[name] = {key: value == "on" for key, value in zip(words[::2], words[1::2])}
        self.show(name)
        return (79, "no pause parameters changed, aborting")

    def mkdir(self) -> str:
        folder = self.calls[-1].split()[2]
        self.files[f"{folder}/ports/1/default_roce_tos"] = b"0\n"
        self.files[f"{folder}/ports/1/default_roce_mode"] = b"IB/RoCE v1\n"
        return ""

    def rmdir(self) -> str:
        folder = self.calls[-1].split()[1]
        for path in [path for path in self.files if path.startswith(f"{folder}/")]:
            del self.files[path]
        return ""


def _eight(words: list[str], key: str) -> tuple[str, ...]:
    start = words.index(key) + 1
    return tuple(word.split(":")[1] for word in words[start : start + 8])
