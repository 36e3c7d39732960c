# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""This node as the client: one rail after the other, so that each result is that rail's own."""

from __future__ import annotations

import time
from typing import Mapping, Optional, Union

from ..errors import HungError, ParseError, ReadError
from ..model.finding import PairResult
from ..parse.perftest import Perftest, parse_perftest
from ..ports import Port
from ..records import replace
from ..resolve.bind import BoundRail
from .classes import Classes, Look, gained, judge_class, judge_cm, judge_drops, unproved
from .perf import Endpoint, bind_option, command, find_endpoint, find_gid, list_options, rate
from .route import Obstacle, find_obstacle
from .work import GRACE_S, NodeWork, Test

CM_START_S = 5.0  # between the end of one server and the start of the next


def measure(port: Port, rails: Mapping[str, BoundRail], work: NodeWork) -> list[PairResult]:
    """All tests in which this node is the client, and where their packets went."""
    if not work.measure:
        return []
    try:
        options = list_options(port)
    except ReadError as error:
        obstacle = Obstacle("tool", str(error))
        return [
            result
            for test in work.measure
            for result in (failed(test, obstacle), *unproved(test, obstacle.reason, obstacle.error))
        ]
    classes = Classes(port, rails, work.measure)
    start = classes.all()
    done = [_tests(port, rails.get(test.rail), test, options, classes) for test in work.measure]
    end = classes.all()
    results: list[PairResult] = []
    for test, (ran, sent, by_cm) in zip(work.measure, done):
        results.append(ran)
        if test.priority is not None:
            whole = gained(start.get(test.rail, {}), end.get(test.rail, {}))
            results += [judge_class(test, ran, sent, whole), *by_cm]
            results += [judge_drops(test, ran, whole)] if test.lossless else []
    return results


def _tests(
    port: Port, rail: Optional[BoundRail], test: Test, options: str, classes: Classes
) -> tuple[PairResult, Look, list[PairResult]]:
    """The test, what the NIC counted meanwhile, and the result of the second test by RDMA-CM."""
    before = classes.look(test.rail)
    ran = _measure(port, rail, test, options)
    between = classes.look(test.rail)
    by_cm = []
    # RDMA-CM looks its way up without the rail's address: where that is another way, there is nothing to prove.
    if test.cm_seconds and ran.error is None and find_obstacle(port, rail, test.target, bound=False) is None:
        second = _by_cm(port, rail, test, options)
        by_cm = [judge_cm(test, second, gained(between, classes.look(test.rail)))]
    return ran, gained(before, between), by_cm


def _measure(port: Port, rail: Optional[BoundRail], test: Test, options: str) -> PairResult:
    obstacle = find_obstacle(port, rail, test.target)
    if obstacle is None and bind_option(options) is None:
        obstacle = find_obstacle(port, rail, test.target, bound=False)
    if obstacle is not None:
        return failed(test, obstacle, rail)
    end = find_endpoint(rail, test.target.source)
    if isinstance(end, Obstacle):
        return failed(test, end, rail)
    run = _run(port, command(test, end, test.target.source, options, server=test.target.peer), test.seconds)
    return failed(test, run, rail) if isinstance(run, Obstacle) else _judged(test, rail, end, run, test.seconds)


def _by_cm(port: Port, rail: Optional[BoundRail], test: Test, options: str) -> PairResult:
    """The second test; its server begins to listen when the first one has ended."""
    end = find_endpoint(rail, test.target.source)
    if isinstance(end, Obstacle):
        return failed(test, end, rail)
    argv = command(test, end, test.target.source, options, server=test.target.peer, cm=True)
    deadline = time.monotonic() + CM_START_S
    while True:
        run = _run(port, argv, test.cm_seconds)
        if isinstance(run, Obstacle):
            return failed(test, run, rail)
        if run.failure is None or run.failure.code != "connect" or time.monotonic() > deadline:
            return _judged(test, rail, replace(end, gid=None), run, test.cm_seconds)
        time.sleep(0.3)


def _run(port: Port, argv: list[str], seconds: int) -> Union[Perftest, Obstacle]:
    try:
        done = port.run(argv, timeout=seconds + GRACE_S)
        return parse_perftest(done.out, done.err)
    except HungError:
        return Obstacle("rdma", f"the test did not end within {seconds + GRACE_S:g} s: no RDMA traffic passes")
    except (ReadError, ParseError) as error:
        return Obstacle("tool", str(error))


def _judged(test: Test, rail: Optional[BoundRail], end: Endpoint, run: Perftest, seconds: int) -> PairResult:
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
        value=rate(run.best, seconds) if run.best is not None and run.ok else None,
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
