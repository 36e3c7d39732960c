# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that follow from other numbers, each derived here and nowhere else."""

from __future__ import annotations

from typing import Iterable, Optional

from ..errors import SpecError
from ..model.intent import RailIntent

# IBTA path MTUs, in bytes (InfiniBand Architecture Specification, vol. 1, table "Packet fields": PMTU 1..5).
PATH_MTUS = (256, 512, 1024, 2048, 4096)

# Room that the kernel keeps for headers between a netdev's MTU and RoCE's payload: GRH 40, UDP 8, BTH 12, XRC 4,
# AtomicETH 28, ICRC 4 (iboe_get_mtu() in include/rdma/ib_addr.h).
ROCE_HEADERS = 40 + 8 + 12 + 4 + 28 + 4

# Destination port of RoCE v2 (IANA service name registry: roce), and the TCP port of the first rail's test server, the
# next rail's is one higher; perftest's own default, 18515, is left to people.
ROCE_PORT, FIRST_TEST_PORT = 4791, 18600

# Least netdev MTU for IPv6 (RFC 8200, section 5).
IPV6_LEAST_MTU = 1280

# Leaf ports of jumbo fabrics run at 9216 whatever the hosts use: more than any host sends is no harm, less drops
# (NVIDIA Cumulus Linux default; Mellanox/ngc_multinode_perf, README).
SWITCH_MTU = 9216

# ECT(0) in the two low bits of the ToS byte (RFC 3168, section 5): without it a switch drops where it should mark.
ECT0 = 0b10

# Encapsulation header of IP over InfiniBand in datagram mode (RFC 4391; kernel Documentation/infiniband/ipoib.rst).
IPOIB_HEADER = 4

# A rail's own routing table and the priority of the rule that leads to it: 101 and 1010 for rail 1, ahead of the main
# table at 32766 (AMD Instinct system acceptance, multi-rail networking; ip-rule(8)).
FIRST_TABLE = 100

# Tables 253 to 255 are the kernel's own: default, main and local (include/uapi/linux/rtnetlink.h).
RAILS = 253 - FIRST_TABLE

# Modules of storage over RDMA: loaded without need, they keep the driver stack from being exchanged (linux-rdma
# kernel-boot/modules/rdma.conf loads some of them; openibd refuses to stop while one is in use).
STORAGE_ULPS = (
    "ib_iser", "ib_isert", "ib_srp", "ib_srpt", "nvme_rdma", "nvmet_rdma", "rpcrdma", "svcrdma", "xprtrdma",
)  # fmt: skip

# NFS over RDMA is one module, its other names are aliases of it (kernel net/sunrpc/xprtrdma/module.c).
ULP_ALIASES = {"xprtrdma": "rpcrdma", "svcrdma": "rpcrdma"}


def path_mtu(host_mtu: int, place: str = "host_mtu") -> int:
    """RDMA path MTU (bytes) that a RoCE netdev of ``host_mtu`` bytes gives: 9000 and 4200 -> 4096, 1500 -> 1024.

    :raises SpecError: when not even the smallest path MTU fits.
    """
    fitting = [mtu for mtu in PATH_MTUS if mtu + ROCE_HEADERS <= host_mtu]
    if not fitting:
        raise SpecError(
            f"RoCE needs an MTU of at least {PATH_MTUS[0] + ROCE_HEADERS} bytes",
            place,
            str(host_mtu),
            f"Use 9000, or at least {PATH_MTUS[-1] + ROCE_HEADERS} for a path MTU of {PATH_MTUS[-1]}",
        )
    return fitting[-1]


def switch_mtu(transport: str) -> Optional[int]:
    """MTU (bytes) of the leaf port that faces a host; ``None`` for InfiniBand, where the subnet manager rules it."""
    return SWITCH_MTU if transport == "roce" else None


def ipoib_mtu(subnet_mtu: int) -> int:
    """MTU (bytes) of IP over InfiniBand in datagram mode: 4096 -> 4092, 2048 -> 2044."""
    return subnet_mtu - IPOIB_HEADER


def traffic_byte(dscp: int, ecn: bool) -> int:
    """ToS or traffic class byte of a DSCP: 26 -> 104, and 106 with ECT(0) when DCQCN is on (RFC 2474, RFC 3168)."""
    return dscp << 2 | (ECT0 if ecn else 0)


def gbps(speed: Optional[str]) -> Optional[float]:
    """Rate in Gbit/s of ``400G``."""
    return float(speed[:-1]) if speed is not None else None


def metres(length: Optional[str]) -> Optional[int]:
    """Length in metres of ``7m``."""
    return int(length[:-1]) if length is not None else None


def table(index: int) -> int:
    """The routing table of the rail with this index."""
    return FIRST_TABLE + index


def rule_priority(rail_table: int) -> int:
    """Priority of the rule that sends what comes from a rail's address to that rail's table."""
    return rail_table * 10


def netdev_name(rail: str, port: int, ports: int, bonded: bool) -> str:
    """Name of a port's netdev after its rail: the rail's own, or ``<rail>p0``, ``<rail>p1`` below its bond."""
    return f"{rail}p{port}" if bonded or ports > 1 else rail


def rdma_name(rail: str, port: int, ports: int) -> str:
    """Name of a port's RDMA device after its rail. No number ends it that is another's beginning (NCCL_IB_HCA)."""
    return f"rdma_{rail}" if ports == 1 else f"rdma_{rail}p{port}"


def modules(rails: Iterable[RailIntent]) -> tuple[str, ...]:
    """Kernel modules that the rails need beside the NICs' own drivers, sorted.

    ``ib_uverbs`` and ``rdma_ucm`` carry verbs and the connection manager to user space (kernel
    Documentation/infiniband/user_verbs.rst), ``ib_umad`` the management datagrams of InfiniBand (user_mad.rst).
    """
    needed = {"ib_uverbs", "rdma_ucm"}
    for rail in rails:
        if rail.transport == "infiniband":
            needed.add("ib_umad")
            if rail.host_mtu is not None:
                needed.add("ib_ipoib")
        if rail.soft_roce:
            needed.add("rdma_rxe")
        if rail.bond is not None:
            needed.add("bonding")
        if rail.vlan is not None:
            needed.add("8021q")
    return tuple(sorted(needed))
