# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Test servers that outlive the call which starts them, and end by themselves."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from typing import Mapping, Optional, Protocol, Sequence, Union

from ..errors import MissingError, ParseError, ReadError
from ..parse.perftest import parse_perftest
from ..ports import TOOL_PATH, Port
from ..resolve.bind import BoundRail
from .perf import TOOL, Endpoint, command, find_endpoint, list_options
from .route import Obstacle
from .work import NodeWork, Served, Test

LOGS = "/run/railwright"
LISTEN_S = 10.0


class Starter(Protocol):
    """Starts tools that go on after the call."""

    def start(self, argv: Sequence[str], lifetime_s: int, name: str) -> None:
        """Start a tool, its output in ``/run/railwright/<name>.log``; it is ended after ``lifetime_s`` seconds."""

    def end_all(self, tool: str) -> None:
        """End what an earlier call left running."""


class LocalStarter:
    """This machine. ``timeout`` of coreutils is the supervisor: it ends the tool although nobody waits for it."""

    def start(self, argv: Sequence[str], lifetime_s: int, name: str) -> None:
        """See :class:`Starter`."""
        os.makedirs(LOGS, mode=0o755, exist_ok=True)
        with open(f"{LOGS}/{name}.log", "wb") as log:
            process = subprocess.Popen(
                ["timeout", "--kill-after=2", str(lifetime_s), *argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={"PATH": TOOL_PATH, "LC_ALL": "C"},
                cwd="/",
                start_new_session=True,
            )
        with open(f"{LOGS}/{name}.pid", "w", encoding="ascii") as stream:
            stream.write(str(process.pid))
        # It is on purpose that nobody waits for it: without this, Python would warn of a child that still runs.
        process.returncode = 0

    def end_all(self, tool: str) -> None:
        """See :class:`Starter`; only a process that is still what we started is ended, with its children."""
        names = [name for name in os.listdir(LOGS) if name.endswith(".pid")] if os.path.isdir(LOGS) else []
        for name in names:
            path = f"{LOGS}/{name}"
            with open(path, encoding="ascii") as stream:
                text = stream.read().strip()
            if text.isdigit() and _runs(text, tool):
                os.killpg(int(text), signal.SIGTERM)
            os.unlink(path)


def _runs(pid: str, tool: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as stream:
            words = stream.read().split(b"\0")
    except OSError:
        return False
    return words[:1] == [b"timeout"] and tool.encode() in words


def serve(port: Port, starter: Starter, rails: Mapping[str, BoundRail], work: NodeWork) -> list[Served]:
    """Start this node's test servers and wait until they listen."""
    if not work.serve:
        return []
    try:
        options = list_options(port)
    except ReadError as error:
        return [Served(test.client, test.rail, test.port, str(error), "tool") for test in work.serve]
    starter.end_all(TOOL)
    results: dict[int, Served] = {}
    started: dict[int, Test] = {}
    for test in work.serve:
        address = test.target.peer
        end = _endpoint(rails.get(test.peer_rail), address)
        if isinstance(end, Obstacle):
            results[test.port] = Served(test.client, test.rail, test.port, end.error, end.reason)
            continue
        starter.start(_server(test, end, address, options), work.lifetime_s, _name(test))
        started[test.port] = test
    listening = _wait(port, set(started))
    for number, test in started.items():
        why = "" if number in listening else _why(port, test)
        results[number] = Served(test.client, test.rail, number, why, "no_server" if why else "")
    return [results[test.port] for test in work.serve]


def _server(test: Test, end: Endpoint, address: str, options: str) -> list[str]:
    """One server, or two one after the other on the same port, which is the one that firewalls let through."""
    first = command(test, end, address, options)
    if not test.cm_seconds:
        return first
    second = command(test, end, address, options, cm=True)
    # The tool's name is the script's own: by it the next call knows what it started.
    return ["sh", "-c", f"{shlex.join(first)}; exec {shlex.join(second)}", TOOL]


def _endpoint(rail: Optional[BoundRail], address: str) -> Union[Endpoint, Obstacle]:
    end = find_endpoint(rail, address)
    if isinstance(end, Endpoint) and (
        rail is None or rail.netdev is None or not any(a.partition("/")[0] == address for a in rail.netdev.addresses)
    ):
        return Obstacle("no_address", f"the node does not have the address {address}")
    return end


def _name(test: Test) -> str:
    return f"prove-{test.port}"


def _wait(port: Port, wanted: set[int]) -> set[int]:
    """The TCP ports of ``wanted`` that somebody listens on, at the latest when the bound is over."""
    deadline = time.monotonic() + LISTEN_S
    while True:
        listening = wanted & _listening(port)
        if listening == wanted or time.monotonic() > deadline:
            return listening
        time.sleep(0.2)


def _listening(port: Port) -> set[int]:
    """TCP ports in state LISTEN (0A): kernel Documentation/networking/proc_net_tcp.rst."""
    found = set()
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = port.read(path).splitlines()[1:]
        except MissingError:
            continue
        for line in lines:
            words = line.split()
            if len(words) > 3 and words[3] == "0A":
                found.add(int(words[1].rpartition(":")[2], 16))
    return found


def _why(port: Port, test: Test) -> str:
    try:
        failure = parse_perftest(port.read(f"{LOGS}/{_name(test)}.log")).failure
    except (ReadError, ParseError):
        failure = None
    if failure is None:
        return f"the test server did not listen within {LISTEN_S:g} s"
    return f"{failure.message}: {failure.cause}. {failure.remedy}"
