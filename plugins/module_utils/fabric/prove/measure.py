# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""This node as the client: one rail after the other, so that each result is that rail's own."""

from __future__ import annotations

from typing import Mapping, Optional

from ..errors import HungError, ParseError, ReadError
from ..model.finding import PairResult
from ..parse.perftest import Perftest, parse_perftest
from ..ports import Port
from ..resolve.bind import BoundRail
from .perf import Endpoint, bind_option, command, find_endpoint, find_gid, list_options
from .route import Obstacle, find_obstacle
from .work import NodeWork, Test

START_S = 15.0  # handshake and end, beside the seconds of the test


def measure(port: Port, rails: Mapping[str, BoundRail], work: NodeWork) -> list[PairResult]:
    """All tests in which this node is the client."""
    if not work.measure:
        return []
    try:
        options = list_options(port)
    except ReadError as error:
        return [failed(test, Obstacle("tool", str(error))) for test in work.measure]
    return [_measure(port, rails.get(test.rail), test, options) for test in work.measure]


def _measure(port: Port, rail: Optional[BoundRail], test: Test, options: str) -> PairResult:
    obstacle = find_obstacle(port, rail, test.target)
    if obstacle is None and bind_option(options) is None:
        obstacle = find_obstacle(port, rail, test.target, bound=False)
    if obstacle is not None:
        return failed(test, obstacle, rail)
    end = find_endpoint(rail, test.target.source)
    if isinstance(end, Obstacle):
        return failed(test, end, rail)
    argv = command(test, end, test.target.source, options, server=test.target.peer)
    try:
        done = port.run(argv, timeout=test.seconds + START_S)
        run = parse_perftest(done.out, done.err)
    except HungError:
        silent = f"the test did not end within {test.seconds + START_S:g} s: no RDMA traffic passes"
        return failed(test, Obstacle("rdma", silent), rail)
    except (ReadError, ParseError) as error:
        return failed(test, Obstacle("tool", str(error)), rail)
    return _judged(test, rail, end, run)


def _judged(test: Test, rail: Optional[BoundRail], end: Endpoint, run: Perftest) -> PairResult:
    """The result with the path that the tool says it took."""
    gid = find_gid(rail.port if rail is not None else None, run.local_gid, run.gid_index)
    netdev = gid.netdev if gid is not None else None
    if netdev is None and rail is not None and rail.port is not None and rail.rdma is not None:
        netdev = rail.port.netdev or rail.rdma.parent
    error = reason = None
    if run.failure is not None:
        reason = "no_server" if run.failure.code == "connect" else "rdma"
        error = f"{run.failure.message}: {run.failure.cause}. {run.failure.remedy}"
    elif not run.ok or run.best is None:
        reason, error = "tool", "the test printed no complete result"
    elif run.device != end.device or (end.gid is not None and run.local_gid != end.gid):
        reason, error = "wrong_path", f"the test ran over {run.device} and GID {run.local_gid or 'none'}"
    return PairResult(
        "bandwidth",
        test.client,
        test.server,
        test.rail,
        test.peer_rail,
        expected=test.expected,
        value=run.best.average if run.best is not None and run.ok else None,
        device=run.device,
        gid=run.local_gid,
        netdev=netdev,
        error=error,
        reason=reason,
    )


def failed(test: Test, obstacle: Obstacle, rail: Optional[BoundRail] = None) -> PairResult:
    """The result of a test that was not run, or that told nothing of its path."""
    netdev = rail.netdev.name if rail is not None and rail.netdev is not None else None
    return PairResult(
        "bandwidth",
        test.client,
        test.server,
        test.rail,
        test.peer_rail,
        expected=test.expected,
        netdev=obstacle.netdev or netdev,
        error=obstacle.error,
        reason=obstacle.reason,
    )
