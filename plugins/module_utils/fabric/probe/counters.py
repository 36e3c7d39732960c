# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Error counters of RDMA ports and their netdevs: few enough reads for a sample before and after something."""

from __future__ import annotations

from typing import Iterable

from ..errors import ParseError, ReadError
from ..model.facts import NodeFacts
from ..parse import sysfs
from ..ports import Port

# Kernel Documentation/ABI/stable/sysfs-class-infiniband, counters.
COUNTERS = (
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "port_xmit_discards",
)
# The same file, hw_counters; and drivers/infiniband/hw/mlx5/counters.c.
HW_COUNTERS = (
    "out_of_sequence",
    "packet_seq_err",
    "local_ack_timeout_err",
    "rnr_nak_retry_err",
    "rx_icrc_encapsulated",
    "np_cnp_sent",
    "np_ecn_marked_roce_packets",
    "rp_cnp_handled",
    "rp_cnp_ignored",
)
# Of soft RoCE: drivers/infiniband/sw/rxe/rxe_hw_counters.c.
SOFT_COUNTERS = ("sent_pkts", "rcvd_pkts")
CARRIER = "carrier_changes"
# Where the counters of a port stop, because that is as wide as they are: drivers/infiniband/core/sysfs.c,
# PORT_PMA_ATTR(), after IBTA vol. 1, 16.1.3.5 (PortCounters).
SATURATED = {
    "symbol_error": 0xFFFF,
    "link_error_recovery": 0xFF,
    "link_downed": 0xFF,
    "port_rcv_errors": 0xFFFF,
    "port_rcv_remote_physical_errors": 0xFFFF,
    "port_rcv_switch_relay_errors": 0xFFFF,
    "port_xmit_discards": 0xFFFF,
    "port_xmit_constraint_errors": 0xFF,
    "port_rcv_constraint_errors": 0xFF,
    "local_link_integrity_errors": 0xF,
    "excessive_buffer_overrun_errors": 0xF,
    "VL15_dropped": 0xFFFF,
}

# Kernel Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst.
_OWN = (
    "rx_vport_rdma_unicast_packets",
    "tx_vport_rdma_unicast_packets",
)
_READING = (
    "rx_discards",
    "tx_discards",
    "rx_pause",
    "tx_pause",
    "rx_global_pause",
    "storm_warnings",
    "storm_errors",
)

Sample = dict[str, dict[str, int]]


def sample(port: Port, facts: NodeFacts) -> Sample:
    """Counters as they are now, by ``<device>/<port>`` of each RDMA port, and by the name of its netdev.

    A port of a bond counts on the netdevs below it. What a device does not have, or does not tell (``N/A (no PMA)``),
    is left out: it is not zero.
    """
    found: Sample = {}
    netdevs = set()
    for device in facts.rdma or ():
        for rdma in device.ports:
            base = f"/sys/class/infiniband/{device.name}/ports/{rdma.number}"
            paths = {name: f"{base}/counters/{name}" for name in COUNTERS if not device.soft}
            hardware = (*HW_COUNTERS, *SOFT_COUNTERS) if device.soft else HW_COUNTERS
            paths.update((name, f"{base}/hw_counters/{name}") for name in hardware)
            found[f"{device.name}/{rdma.number}"] = _read(port, paths)
            netdevs.add(rdma.netdev)
    for netdev in facts.netdevs or ():
        if netdev.name in netdevs or (netdev.master and netdev.master in netdevs):
            found[netdev.name] = _read(port, {CARRIER: f"/sys/class/net/{netdev.name}/{CARRIER}"})
    return found


def sample_classes(port: Port, netdevs: Iterable[str]) -> Sample:
    """Statistics of netdevs that tell about traffic classes, by names of our own: ``rx_packets_3``, ``rx_discards`` …

    One process a netdev. A driver that counts nothing is left out.
    """
    from ..parse import ethtool_prio, ethtool_s  # noqa: PLC0415 - only for lossless rails

    found: Sample = {}
    for name in netdevs:
        try:
            counters = ethtool_s.parse(port.run(["ethtool", "-S", name]).out)
        except (ReadError, ParseError):
            continue
        reading = ethtool_s.reading(counters)
        own = {key: reading[key] for key in _READING if key in reading}
        own.update((key, counters[key]) for key in _OWN if key in counters)
        for what, values in ethtool_prio.by_priority(counters).items():
            own.update((f"{what}_{priority}", value) for priority, value in values.items())
        found[name] = own
    return found


def is_saturated(name: str, value: int) -> bool:
    """Whether a counter is at its end, so that it tells nothing about what happens now."""
    return value >= SATURATED.get(name, value + 1)


def _read(port: Port, paths: dict[str, str]) -> dict[str, int]:
    values = {}
    for name, path in paths.items():
        try:
            value = sysfs.counter(port.read(path))
        except (ReadError, ParseError):
            continue
        if value is not None:
            values[name] = value
    return values
