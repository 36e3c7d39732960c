# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the memory lock limit: for login sessions, and for the services that start jobs and containers.

A service does not go through PAM, so limits.d says nothing to it (limits.conf(5)); it has the limit of its unit, and
hands it down to every job and container that it starts. Each such unit gets a drop-in of its own. A default for all
units (DefaultLimitMEMLOCK= in system.conf and user.conf) is left alone: it would lift the limit of services that have
nothing to do with RDMA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from ..errors import MissingError, ParseError, ReadError
from ..model.intent import NodeIntent
from ..model.plan import Action, Run, Step, WriteFile
from ..parse import systemctl
from ..ports import Port
from .files import Files, file_step

HEADER = "# Managed by Railwright (role rdma_stack): the next run undoes what is changed here.\n"
LOGINS = "/etc/security/limits.d/railwright-memlock.conf"

# What starts jobs and containers. One of the two ssh names is an alias where both are known.
UNITS = ("containerd", "crio", "docker", "k3s", "kubelet", "rke2-agent", "rke2-server", "slurmd", "ssh", "sshd")
INFINITY = float("inf")

_PROPERTIES = "Id,LoadState,MainPID,LimitMEMLOCK,NeedDaemonReload"
_SHOW_S, _RESTART_S = 10.0, 120.0


@dataclass(frozen=True)
class ServiceLimit:
    """A unit that is there. Limits in bytes: as its unit grants, and as its process has it (``None``: no process).

    ``stale``: its files changed since systemd read them.
    """

    name: str
    configured: float
    running: Optional[float] = None
    stale: bool = False


@dataclass(frozen=True)
class Services:
    """The units that are there; ``problem`` says why nothing is known about them."""

    found: tuple[ServiceLimit, ...] = ()
    problem: str = ""


def drop_in(unit: str) -> str:
    """The file that holds a unit's limit. Number 50 leaves room for what a site puts after it (systemd.unit(5))."""
    return f"/etc/systemd/system/{unit}.service.d/50-railwright-memlock.conf"


def read_services(port: Port, units: Sequence[str]) -> Services:
    """Those of ``units`` that are there. A node without systemd has none."""
    names = dict.fromkeys(unit if unit.endswith(".service") else f"{unit}.service" for unit in units)
    argv = ("systemctl", "show", f"--property={_PROPERTIES}", *names)
    try:
        done = port.run(argv, _SHOW_S)
        if done.rc != 0:
            return Services(problem=f"systemctl show: {(done.err or done.out).strip()[:200] or 'no message'}")
        blocks = systemctl.parse(done.out)
        found = {}
        for block in blocks:
            if block.get("LoadState") == "loaded":
                name = block["Id"].rpartition(".service")[0]
                stale = block.get("NeedDaemonReload") == "yes"
                found[name] = ServiceLimit(name, _bytes(block.get("LimitMEMLOCK", "")), _running(port, block), stale)
    except MissingError:
        return Services()
    except (ReadError, ParseError) as error:
        return Services(problem=str(error))
    return Services(tuple(found.values()))


def plan_logins(intent: NodeIntent, files: Files) -> Optional[Step]:
    """PAM's limits; the wildcard does not cover root, who therefore has lines of its own (limits.conf(5))."""
    lines = [f"{who} {kind} memlock {intent.memlock}\n" for who in ("*", "root") for kind in ("soft", "hard")]
    return file_step(files, WriteFile(LOGINS, HEADER + "".join(lines)), "logins", "memlock limit", intent.memlock)


def plan_services(
    intent: NodeIntent, services: Services, files: Files, restart: bool
) -> tuple[list[Step], list[Action], list[str]]:
    """Steps, settling actions and notes for the services.

    A unit that grants enough without us gets no file. A service that runs keeps its old limit until it is restarted,
    which happens only with ``restart``: without it the service is a note, not a change for ever.
    """
    if services.problem:
        return [], [], [f"services: memlock limits left alone, because they could not be read: {services.problem}"]
    want = INFINITY if intent.memlock == "unlimited" else float(intent.memlock) * 1024
    steps: list[Step] = []
    notes: list[str] = []
    late: list[Step] = []
    for service in services.found:
        path, low = drop_in(service.name), service.running is not None and service.running < want
        step = None
        if service.configured < want or files.get(path) is not None:
            after = _words(want)
            if low and not restart:
                after += f", in force when {service.name} is restarted"
            step = file_step(files, WriteFile(path, _text(want)), service.name, "memlock limit", after)
        if step is None and service.configured < want and service.stale:
            step = Step(service.name, "memlock limit", "written, not read by systemd", _words(want))
        if step is not None:
            steps.append(step)
        elif service.configured < want:
            granted, asked = _words(service.configured), _words(want)
            notes.append(
                f"{service.name}: another file of its unit wins over {path}, with a memlock limit of {granted} instead "
                f"of {asked}; see systemctl cat {service.name}"
            )
            continue
        if low and restart:
            late.append(_restart(service, want))
        elif low and step is None:
            notes.append(
                f"{service.name}: runs with a memlock limit of {_words(service.running or 0)} until it is restarted"
            )
    settle: list[Action] = [Run(("systemctl", "daemon-reload"))] if steps else []
    return [*steps, *late], settle, notes


def _restart(service: ServiceLimit, want: float) -> Step:
    actions = (
        Run(("systemctl", "daemon-reload")),
        Run(("systemctl", "restart", f"{service.name}.service"), _RESTART_S),
    )
    setting, before = "memlock limit of the running service", _words(service.running or 0)
    return Step(service.name, setting, before, _words(want), actions, f"{service.name} is restarted")


def _text(want: float) -> str:
    return f"{HEADER}[Service]\nLimitMEMLOCK={'infinity' if want == INFINITY else int(want)}\n"


def _words(limit: float) -> str:
    return "unlimited" if limit == INFINITY else f"{int(limit)} bytes"


def _bytes(text: str) -> float:
    """A limit as systemd prints it.

    :raises ParseError: when it is none.
    """
    if text == "infinity":
        return INFINITY
    if not (text.isascii() and text.isdigit()):
        raise ParseError("no limit of a unit", "systemctl show", text[:80])
    # Older versions of systemd print infinity as the greatest number of 64 bits.
    return INFINITY if int(text) >= 2**64 - 1 else float(text)


def _running(port: Port, block: dict[str, str]) -> Optional[float]:
    """The soft limit of the unit's main process (proc(5)); ``None`` when nothing runs, or it ended meanwhile."""
    pid = block.get("MainPID", "0")
    if pid in ("", "0") or not pid.isdigit():
        return None
    try:
        lines = port.read(f"/proc/{pid}/limits").splitlines()
    except MissingError:
        return None
    words = next((line.split()[3:] for line in lines if line.startswith("Max locked memory")), [])
    if not words:
        raise ParseError("no line 'Max locked memory'", f"/proc/{pid}/limits")
    return INFINITY if words[0] == "unlimited" else _bytes(words[0])
