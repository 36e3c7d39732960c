# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Error counters of RDMA ports and their netdevs: few enough reads for a sample before and after something."""

from __future__ import annotations

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
            paths.update((name, f"{base}/hw_counters/{name}") for name in HW_COUNTERS)
            found[f"{device.name}/{rdma.number}"] = _read(port, paths)
            netdevs.add(rdma.netdev)
    for netdev in facts.netdevs or ():
        if netdev.name in netdevs or (netdev.master and netdev.master in netdevs):
            found[netdev.name] = _read(port, {CARRIER: f"/sys/class/net/{netdev.name}/{CARRIER}"})
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
