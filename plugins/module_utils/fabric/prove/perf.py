# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""How one test is run by ib_write_bw: the device and GID of the rail, and the command line of both sides."""

from __future__ import annotations

from typing import Optional, Union

from ..model.facts import Gid, RdmaPort
from ..parse.perftest import Row
from ..ports import Port
from ..records import dataclass
from ..resolve.bind import BoundRail
from ..verify.address import gid_of
from .route import Obstacle
from .work import Test

TOOL = "ib_write_bw"
# 4.096 us * 2^18 = 1.07 s (InfiniBand Architecture Specification 9.7.6.1.3, local ACK timeout): soft RoCE over a slow
# link answers later than the default of 67 ms, and would retransmit what is only late.
_SOFT_TIMEOUT = "18"
# Seconds at each end of a test that are not measured.
MARGIN_S = 1


@dataclass(frozen=True)
class Endpoint:
    """What one side uses: device, its port, and the index of the rail's GID (none on InfiniBand)."""

    device: str
    port: int
    gid_index: Optional[int]
    gid: Optional[str]
    soft: bool


def find_endpoint(rail: Optional[BoundRail], address: str) -> Union[Endpoint, Obstacle]:
    """The RDMA side of a rail for one of its addresses."""
    if rail is None or rail.rdma is None or rail.port is None:
        name = rail.intent.name if rail is not None else "the rail"
        return Obstacle("no_device", f"{name} has no RDMA device")
    if rail.intent.transport == "infiniband":
        return Endpoint(rail.rdma.name, rail.port.number, None, None, False)
    wanted = gid_of(address)
    for gid in rail.port.gids:
        if gid.gid == wanted and gid.kind == "RoCE v2":
            return Endpoint(rail.rdma.name, rail.port.number, gid.index, gid.gid, rail.rdma.soft)
    return Obstacle("no_gid", f"{rail.rdma.name} has no RoCE v2 GID for {address}")


def find_gid(port: Optional[RdmaPort], gid: Optional[str], index: Optional[int]) -> Optional[Gid]:
    """The GID table's entry that a run really used."""
    entries = [entry for entry in (port.gids if port is not None else ()) if gid is None or entry.gid == gid]
    return next((entry for entry in entries if index is None or entry.index == index), None)


def list_options(port: Port) -> str:
    """The tool's own list of options: the name of the one that binds an address changed between versions.

    :raises MissingError: when perftest is not installed.
    """
    done = port.run([TOOL, "--help"])
    return done.out + done.err


def command(
    test: Test, end: Endpoint, address: str, options: str, server: Optional[str] = None, cm: bool = False
) -> list[str]:
    """The command line of one side: a client when ``server`` is given. ``address`` is the side's own.

    :param cm: connect by RDMA-CM, which chooses GID and traffic class by its own defaults.
    """
    seconds = test.cm_seconds if cm else test.seconds
    argv = [TOOL, "-d", end.device, "-i", str(end.port), "-p", str(test.port), "-s", str(test.size)]
    argv += ["-q", str(test.queue_pairs), "-t", str(test.depth), "-D", str(seconds), "-f", str(MARGIN_S), "-F"]
    argv += ["--report_gbits"]
    if cm:
        argv += ["-R"]
    elif end.gid_index is not None:
        argv += ["-x", str(end.gid_index)]
    if end.soft:
        argv += ["-u", _SOFT_TIMEOUT]
    if test.traffic_class is not None and not cm:
        argv += [f"--tclass={test.traffic_class}"]
    if ":" in address:
        argv += ["--ipv6"] + (["--ipv6-addr"] if "--ipv6-addr" in options else [])
    binder = bind_option(options)
    if binder is not None:
        argv += [binder, address]
    return [*argv, server] if server is not None else argv


def rate(row: Row, seconds: int) -> Optional[float]:
    """Gbit/s of a test that ran for ``seconds``.

    perftest divides by the processor's cycles, and prints 0 beside the messages that it sent when two processors do not
    agree about them, as virtual ones may: then the time that it was told to measure is as good.
    """
    if row.average == 0 and row.iterations:
        return row.size * row.iterations * 8 / 1e9 / (seconds - 2 * MARGIN_S)
    return row.average


def bind_option(options: str) -> Optional[str]:
    """The option that binds the handshake to an address, where this perftest has one."""
    return next((name for name in ("--bind_source_ip", "--source_ip") if name in options), None)
