# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``ethtool -S``: a driver's own statistics. Every driver has its own names, and changes them."""

from __future__ import annotations

import re
from typing import Mapping

from ..errors import ParseError
from .text import numbered, wrong

TOOL = "ethtool -S"
_RING = re.compile(r"\[\d+\]: ?")
# Names of the same thing, new before old: mlx5 (kernel Documentation/networking/device_drivers/ethernet/mellanox/mlx5/
# counters.rst), bnxt_en, i40e, ice; the old ones are those of mlx5 before 4.9.
_NAMES = {
    "crc_errors": (
        "rx_crc_errors_phy",
        "check_seq_err",
        "rx_crc_errors.nic",
        "port.rx_crc_errors",
        "rx_fcs_err_frames",
    ),
    "symbol_errors": ("rx_symbol_err_phy", "symbol_err"),
    "pcs_symbol_errors": ("rx_pcs_symbol_err_phy", "rx_pcs_symbol_err"),
    "corrected_bits": ("rx_corrected_bits_phy", "rx_corrected_bits"),
    "rx_discards": ("rx_discards_phy", "rx_dropped.nic", "port.rx_dropped", "rx_stat_discard"),
    "tx_discards": ("tx_discards_phy", "tx_dropped_link_down.nic", "port.tx_dropped_link_down", "tx_stat_discard"),
    "rx_pause": ("rx_pause_ctrl_phy", "pause_ctrl_rx", "rx_pause_frames", "link_xoff_rx.nic", "port.link_xoff_rx"),
    "tx_pause": ("tx_pause_ctrl_phy", "pause_ctrl_tx", "tx_pause_frames", "link_xoff_tx.nic", "port.link_xoff_tx"),
    "oversize": ("rx_oversize_pkts_phy", "rx_oversize.nic", "port.rx_oversize"),
    "link_downs": ("link_down_events_phy", "link_down_events"),
    "out_of_buffer": ("rx_out_of_buffer",),
    "pcie_errors": ("rx_pci_signal_integrity",),
    "module_high_temp": ("module_high_temp",),
    "module_bus_stuck": ("module_bus_stuck",),
    # Global pause alone; the two above count PFC's frames as well.
    "rx_global_pause": ("rx_global_pause",),
    "tx_global_pause": ("tx_global_pause",),
    # A port that was paused for as long as it stopped taking frames.
    "storm_warnings": ("tx_pause_storm_warning_events", "continuous_pause_events"),
    "storm_errors": ("tx_pause_storm_error_events",),
}
_LANE = re.compile(r"rx_err_lane_(\d)_phy")


def parse(text: str) -> dict[str, int]:
    """Counters by the driver's names; those of rings (``[0]: rx_discards``) are summed up under the name alone.

    A driver without statistics says so, and that is an error here: nothing counted is not zero. A second heading, and a
    counter that is there twice, tell of two netdevs in one text, and are refused.
    """
    found: dict[str, int] = {}
    seen: set[str] = set()
    for number, line in numbered(text):
        words = line.strip()
        if words in ("NIC statistics:", "no stats available"):
            if seen:
                raise wrong(TOOL, number, line, "statistics of more than one netdev")
            seen.add(words)
            continue
        ring = _RING.match(words)
        name, colon, value = (words[ring.end() :] if ring else words).rpartition(":")
        value = value.strip()
        if not colon or not name or not re.fullmatch(r"[0-9]{1,20}", value):
            raise wrong(TOOL, number, line, "no line of the form 'name: number'")
        name = name.strip()
        key = f"{ring.group()}{name}" if ring else name
        if key in seen:
            raise wrong(TOOL, number, line, "a counter that is there twice: statistics of more than one netdev")
        seen.add(key)
        found[name] = found.get(name, 0) + int(value) if ring else int(value)
    if not found:
        raise ParseError("no statistics", f"{TOOL}:1", text.strip()[:80])
    return found


def reading(counters: Mapping[str, int]) -> dict[str, int]:
    """The counters that tell about a link, by one name for all drivers; errors by lane are ``lane_0`` and so on.

    What a driver does not count is left out: it is unknown, not zero.
    """
    found = {}
    for meaning, names in _NAMES.items():
        name = next((name for name in names if name in counters), None)
        if name is not None:
            found[meaning] = counters[name]
    for name, value in counters.items():
        lane = _LANE.fullmatch(name)
        if lane:
            found[f"lane_{lane.group(1)}"] = value
    return found
