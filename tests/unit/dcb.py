# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel says of lossless settings, for recorded trees: the default is a rail that is as it should be."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

GPAUSEPARAM = 0x12  # linux/ethtool.h
_TSA = {"strict": 0, "cbs": 1, "ets": 2, "vendor": 255}
_DCBX = {"host": 1, "lld_managed": 2, "cee": 4, "ieee": 8, "static": 16}
# Firmware defaults of the reaction point, by OFED's names (mlxconfig query).
REACTION = {
    "clamp_tgt_rate": 0,
    "clamp_tgt_rate_after_time_inc": 1,
    "dce_tcp_g": 1019,
    "dce_tcp_rtt": 1,
    "initial_alpha_value": 1023,
    "rate_reduce_monitor_period": 4,
    "rate_to_set_on_first_cnp": 0,
    "rpg_ai_rate": 5,
    "rpg_byte_reset": 32767,
    "rpg_gd": 11,
    "rpg_hai_rate": 50,
    "rpg_max_rate": 0,
    "rpg_min_dec_fac": 50,
    "rpg_min_rate": 1,
    "rpg_threshold": 1,
    "rpg_time_reset": 300,
}
_ETHERTYPE, _DSCP = 1, 5  # linux/dcbnl.h, IEEE_8021QAZ_APP_SEL_*


@dataclass(frozen=True)
class Dcb:
    """Settings behind a reply of dcbnl; a section that is ``None`` is not in it."""

    dcbx: Optional[tuple[str, ...]] = ("host", "ieee")
    willing: bool = False
    tcs: int = 8
    share: Optional[tuple[int, ...]] = (50, 0, 0, 50, 0, 0, 0, 0)
    tsa: tuple[str, ...] = ("ets", "strict", "strict", "ets", "strict", "strict", "strict", "strict")
    prio_tc: tuple[int, ...] = (0, 0, 0, 3, 0, 0, 6, 0)
    pfc: Optional[tuple[int, ...]] = (3,)
    pfc_classes: int = 8
    delay: int = 7
    sent: tuple[int, ...] = (0,) * 8
    received: tuple[int, ...] = (0,) * 8
    apps: Optional[tuple[tuple[int, int], ...]] = ((26, 3), (48, 6))  # (DSCP, priority)
    order: Optional[tuple[int, ...]] = None  # selectors in the order in which they are trusted
    prio_buffer: tuple[int, ...] = (0, 0, 0, 1, 0, 0, 0, 0)
    buffer_size: Optional[tuple[int, ...]] = (130944, 130944, 0, 0, 0, 0, 0, 0)
    buffer_total: int = 1027728

    def message(self, netdev: str) -> bytes:
        """The netlink message, in the order of net/dcb/dcbnl.c, dcbnl_ieee_fill()."""
        ieee = b""
        if self.share is not None:
            tsa = bytes(_TSA.get(word, 7) for word in self.tsa)
            ets = bytes((self.willing, self.tcs, 0, *self.share, *self.share)) + tsa + bytes(self.prio_tc)
            ieee += attribute(1, ets + bytes(24))
        if self.buffer_size is not None:
            sizes = struct.pack("=8B8II", *self.prio_buffer, *self.buffer_size, self.buffer_total)
            ieee += attribute(10, sizes)
        if self.pfc is not None:
            mask = sum(1 << priority for priority in self.pfc)
            head = struct.pack("=BBBxHxx", self.pfc_classes, mask, 0, self.delay)
            ieee += attribute(2, head + struct.pack("=16Q", *self.sent, *self.received))
        if self.apps is not None:
            entries = [struct.pack("=BBH", _ETHERTYPE, 0, 0)]
            entries += [struct.pack("=BBH", _DSCP, priority, dscp) for dscp, priority in self.apps]
            ieee += attribute(3, b"".join(attribute(1, entry) for entry in entries))
        if self.order is not None:
            ieee += attribute(11, b"".join(attribute(1, bytes((selector,))) for selector in self.order))
        body = attribute(1, netdev.encode() + b"\0") + attribute(13, ieee)
        if self.dcbx is not None:
            body += attribute(14, bytes((sum(_DCBX[word] for word in self.dcbx),)))
        body = struct.pack("=BBH", 0, 21, 0) + body
        return struct.pack("=IHHII", 16 + len(body), 78, 0, 1, 4711) + body


def attribute(kind: int, value: bytes) -> bytes:
    """A netlink attribute with its padding."""
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def pause(autoneg: bool = False, rx: bool = False, tx: bool = False) -> bytes:
    """The answer to ETHTOOL_GPAUSEPARAM."""
    return struct.pack("=IIII", GPAUSEPARAM, autoneg, rx, tx)


def record(
    root: Path, netdev: str, dcb: Union[Dcb, bytes, int, None] = Dcb(), paused: Union[bytes, int, None] = pause()
) -> None:
    """Add to a tree what the kernel says of a netdev: a number is the errno of a refusal, ``None`` not supported."""
    path = root / "kernel.json"
    kernel = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"dcb": {}, "ethtool": {}}
    message = dcb.message(netdev) if isinstance(dcb, Dcb) else dcb
    kernel["dcb"][netdev] = message.hex() if isinstance(message, bytes) else message
    kernel["ethtool"].setdefault(netdev, {})[str(GPAUSEPARAM)] = paused.hex() if isinstance(paused, bytes) else paused
    path.write_text(json.dumps(kernel), encoding="utf-8")


def cc_params(root: Path, pci: str, **values: Union[int, str]) -> None:
    """The kernel's files of mlx5 below debugfs."""
    defaults = {"np_cnp_dscp": 48, "np_cnp_prio": 6, "np_cnp_prio_mode": 0, "np_min_time_between_cnps": 4}
    _write(root / "sys/kernel/debug/mlx5" / pci / "cc_params", {**defaults, "rp_ai_rate": 5, **values})


def ofed(
    root: Path,
    netdev: str,
    *,
    trust: str = "dscp",
    dscp_prio: tuple[tuple[int, int], ...] = (),
    ecn: tuple[int, ...] = (3,),
    cnp: tuple[int, int] = (48, 6),
) -> None:
    """OFED's files below a netdev: all of DSCP N on priority N >> 3, but for ``dscp_prio``."""
    table = {**{dscp: dscp >> 3 for dscp in range(64)}, **dict(dscp_prio)}
    sizes = (130944, 130944, 0, 0, 0, 0, 0, 0)
    head = "Port buffer size = 1027728\nSpare buffer size = 765840\nBuffer\tSize\txoff_threshold\txon_threshold\n"
    base = root / "sys/class/net" / netdev
    tables = {
        "trust": trust,
        "dscp2prio": "dscp\tprio\n" + "".join(f"{dscp}\t{priority}\n" for dscp, priority in table.items()),
        "prio2buffer": "Priority\tBuffer\n" + "".join(f"{priority}\t{int(priority == 3)}\n" for priority in range(8)),
        "buffer_size": head + "".join(f"{number}\t{size}\t0\t\t0\n" for number, size in enumerate(sizes)),
        "maxrate": " ".join("0" * 8),
    }
    _write(base / "qos", tables)
    values = {"cnp_dscp": cnp[0], "cnp_802p_prio": cnp[1], "min_time_between_cnps": 4}
    for point, files in (("np", values), ("rp", REACTION)):
        _write(base / f"ecn/roce_{point}", files)
        _write(base / f"ecn/roce_{point}/enable", {str(priority): int(priority in ecn) for priority in range(8)})


def rdma_cm(root: Path, device: str, tos: int = 106, mode: str = "RoCE v2") -> None:
    """RDMA-CM's folder of a device."""
    folder = root / "sys/kernel/config/rdma_cm" / device / "ports/1"
    _write(folder, {"default_roce_tos": tos, "default_roce_mode": mode})


def _write(folder: Path, values: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n", encoding="utf-8")
