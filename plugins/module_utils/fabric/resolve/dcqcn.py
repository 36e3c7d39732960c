# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of DCQCN that a site may set: one name for what each driver calls its own way.

The names are those of the kernel's own mlx5 driver (drivers/infiniband/hw/mlx5/cong.c, mlx5_ib_dbg_cc_name); the
drivers of MLNX_OFED and DOCA-OFED call the same fields of the firmware otherwise (NVIDIA MLNX_OFED documentation,
"Explicit Congestion Notification"). Ranges are those of the firmware's fields (Mellanox/mstflint, mlxconfig: the help
texts of DCE_TCP_G, INITIAL_ALPHA_VALUE and RPG_*); a rate is bounded by the line rate in the firmware itself.
"""

from __future__ import annotations

from typing import Mapping, Optional

from ..records import dataclass


@dataclass(frozen=True)
class Parameter:
    """One parameter: its file below ``/sys/class/net/<netdev>/ecn/`` and the values that it takes."""

    ofed: str
    least: int
    most: int


# Mbit/s, twice the fastest port of today.
_RATE = 1_600_000
# Microseconds: 17 bits.
_TIME = 0x1FFFF

PARAMETERS = {
    "np_min_time_between_cnps": Parameter("roce_np/min_time_between_cnps", 0, 4095),
    "rp_ai_rate": Parameter("roce_rp/rpg_ai_rate", 1, _RATE),
    "rp_byte_reset": Parameter("roce_rp/rpg_byte_reset", 0, 0x7FFF),
    "rp_clamp_tgt_rate": Parameter("roce_rp/clamp_tgt_rate", 0, 1),
    "rp_clamp_tgt_rate_ati": Parameter("roce_rp/clamp_tgt_rate_after_time_inc", 0, 1),
    "rp_dce_tcp_g": Parameter("roce_rp/dce_tcp_g", 0, 1023),
    "rp_dce_tcp_rtt": Parameter("roce_rp/dce_tcp_rtt", 0, _TIME),
    "rp_gd": Parameter("roce_rp/rpg_gd", 0, 15),
    "rp_hai_rate": Parameter("roce_rp/rpg_hai_rate", 1, _RATE),
    "rp_initial_alpha_value": Parameter("roce_rp/initial_alpha_value", 0, 1023),
    "rp_max_rate": Parameter("roce_rp/rpg_max_rate", 0, _RATE),
    "rp_min_dec_fac": Parameter("roce_rp/rpg_min_dec_fac", 1, 100),
    "rp_min_rate": Parameter("roce_rp/rpg_min_rate", 1, _RATE),
    "rp_rate_reduce_monitor_period": Parameter("roce_rp/rate_reduce_monitor_period", 0, _TIME),
    "rp_rate_to_set_on_first_cnp": Parameter("roce_rp/rate_to_set_on_first_cnp", 0, _RATE),
    "rp_threshold": Parameter("roce_rp/rpg_threshold", 1, 31),
    "rp_time_reset": Parameter("roce_rp/rpg_time_reset", 0, _TIME),
}


def value(found: Optional[Mapping[str, int]], name: str) -> Optional[int]:
    """A parameter's value among what was read of a NIC, whichever driver's name it has there."""
    read = found or {}
    return read.get(name, read.get(PARAMETERS[name].ofed.rpartition("/")[2]))
