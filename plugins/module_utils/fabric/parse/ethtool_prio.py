# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters by priority among a driver's statistics, by one name for all drivers.

Names are those of mlx5 (kernel Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst), bnxt_en
(drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c), ice and i40e (ice_ethtool.c, i40e_ethtool.c). Their PFC frames
count as pauses: ``rx_prio3_pause``, ``rx_pfc_ena_frames_pri3``, ``rx_priority_3_xoff.nic``.
"""

from __future__ import annotations

import re
from typing import Mapping

PRIORITIES = range(8)
_FORMS = (
    re.compile(r"(?P<way>[rt]x)_prio(?P<prio>[0-7])_(?P<what>bytes|packets|pause|marked|(?:buf_|cong_)?discards?)"),
    re.compile(r"(?P<way>[rt]x)_(?P<what>bytes|packets|pfc_ena_frames)_pri(?P<prio>[0-7])"),
    re.compile(r"(?:port\.)?(?P<way>[rt]x)_priority_(?P<prio>[0-7])_(?P<what>xoff)(?:\.nic)?"),
)
_WHAT = {
    "pfc_ena_frames": "pause",
    "xoff": "pause",
    "discard": "discards",
    "buf_discard": "discards",
    "cong_discard": "discards",
}


def by_priority(counters: Mapping[str, int]) -> dict[str, dict[int, int]]:
    """``{"rx_packets": {0: 5, 3: 12}, "rx_pause": {3: 0}}``; what a driver does not count is left out.

    Ways of losing a packet are told by several counters, which overlap: ``rx_discards`` is the largest of them. mlx5
    lists pauses of those priorities alone that have PFC on.
    """
    found: dict[str, dict[int, int]] = {}
    for name, value in counters.items():
        # Most names are of rings and have no priority in them: the patterns cost more.
        if "prio" not in name and "_pri" not in name:
            continue
        match = next((match for form in _FORMS if (match := form.fullmatch(name))), None)
        if match is None:
            continue
        what = f"{match['way']}_{_WHAT.get(match['what'], match['what'])}"
        priority = int(match["prio"])
        values = found.setdefault(what, {})
        values[priority] = max(value, values.get(priority, value))
    return found
