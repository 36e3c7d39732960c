# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the memory lock limit: for login sessions, and for the services that start jobs and containers.

A service does not go through PAM, so limits.d says nothing to it (limits.conf(5)); it has the limit of its unit, and
hands it down to every job and container that it starts. Each such unit gets a drop-in of its own. A default for all
units (DefaultLimitMEMLOCK= in system.conf and user.conf) is left alone: it would lift the limit of services that have
nothing to do with RDMA.

A service that runs has read its limit when it started. To restart it may end what it has started, so the limit of its
process is raised instead (prlimit(1)): what it starts from now on inherits that, and nothing is interrupted.
"""

from __future__ import annotations

from typing import Optional, Sequence

from ..errors import MissingError, ParseError, ReadError
from ..model.intent import NodeIntent
from ..model.plan import Action, Run, Step, WriteFile
from ..parse import systemctl
from ..parse.limits import process_memlock
from ..parse.text import is_number
from ..ports import Port
from ..records import dataclass
from .files import Files, file_step

HEADER = "# Managed by Railwright (role rdma_stack): the next run undoes what is changed here.\n"
LOGINS = "/etc/security/limits.d/railwright-memlock.conf"

# What starts jobs and containers. One of the two ssh names is an alias where both are known.
UNITS = ("containerd", "crio", "docker", "k3s", "kubelet", "rke2-agent", "rke2-server", "slurmd", "ssh", "sshd")
# These run their container runtime as a child.
NESTED = ("k3s", "rke2-agent", "rke2-server")
INFINITY = float("inf")

_PRLIMIT = "/usr/bin/prlimit"
_PROPERTIES = "Id,LoadState,MainPID,LimitMEMLOCK,NeedDaemonReload"
_SHOW_S = 10.0


@dataclass(frozen=True)
class ServiceLimit:
    """A unit that is there. Limits in bytes: as its unit grants, and as its processes have it, by PID.

    ``stale``: its files changed since systemd read them.
    """

    name: str
    configured: float
    running: tuple[tuple[str, float], ...] = ()
    stale: bool = False


@dataclass(frozen=True)
class Services:
    """The units that are there; ``problem`` says why nothing is known about them.

    ``raises``: whether there is a program that raises the limit of a process.
    """

    found: tuple[ServiceLimit, ...] = ()
    problem: str = ""
    raises: bool = True


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
                configured = _bytes(block.get("LimitMEMLOCK", ""))
                found[name] = ServiceLimit(name, configured, _running(port, name, block.get("MainPID", "")), stale)
    except MissingError:
        return Services()
    except (ReadError, ParseError) as error:
        return Services(problem=str(error))
    return Services(tuple(found.values()), raises=port.exists(_PRLIMIT))


def plan_logins(intent: NodeIntent, files: Files) -> Optional[Step]:
    """PAM's limits; the wildcard does not cover root, who therefore has lines of its own (limits.conf(5))."""
    lines = [f"{who} {kind} memlock {intent.memlock}\n" for who in ("*", "root") for kind in ("soft", "hard")]
    return file_step(files, WriteFile(LOGINS, HEADER + "".join(lines)), "logins", "memlock limit", intent.memlock)


def plan_services(intent: NodeIntent, services: Services, files: Files) -> tuple[list[Step], list[Action], list[str]]:
    """Steps, settling actions and notes for the services; a unit that grants enough without us gets no file."""
    if services.problem:
        return [], [], [f"services: memlock limits left alone, because they could not be read: {services.problem}"]
    want = INFINITY if intent.memlock == "unlimited" else float(intent.memlock) * 1024
    units: list[Step] = []
    processes: list[Step] = []
    notes: list[str] = []
    for service in services.found:
        name, step = service.name, _unit_step(service, want, files)
        if step is not None:
            units.append(step)
        elif service.configured < want:
            granted, asked = _words(service.configured), _words(want)
            notes.append(
                f"{name}: another file of its unit wins over {drop_in(name)}, with a memlock limit of {granted} "
                f"instead of {asked}; see systemctl cat {name}"
            )
            continue
        low = [(pid, limit) for pid, limit in service.running if limit < want]
        if low and services.raises:
            actions = tuple(
                Run((_PRLIMIT, f"--pid={pid}", f"--memlock={_number(want, 'unlimited')}")) for pid, _ in low
            )
            setting, before = "memlock limit of the running service", _words(min(have for _, have in low))
            processes.append(Step(name, setting, before, _words(want), actions))
        elif low:
            notes.append(f"{name}: runs with a memlock limit of {_words(low[0][1])} until it is restarted")
    return [*units, *processes], [Run(("systemctl", "daemon-reload"))] if units else [], notes


def _unit_step(service: ServiceLimit, want: float, files: Files) -> Optional[Step]:
    path, setting = drop_in(service.name), "memlock limit"
    if service.configured >= want and files.get(path) is None:
        return None
    step = file_step(files, WriteFile(path, _text(want)), service.name, setting, _words(want))
    if step is None and service.configured < want and service.stale:
        return Step(service.name, setting, "written, not read by systemd", _words(want))
    return step


def _text(want: float) -> str:
    return f"{HEADER}[Service]\nLimitMEMLOCK={_number(want, 'infinity')}\n"


def _words(limit: float) -> str:
    return "unlimited" if limit == INFINITY else f"{int(limit)} bytes"


def _number(limit: float, infinite: str) -> str:
    return infinite if limit == INFINITY else str(int(limit))


def _bytes(text: str) -> float:
    """A limit as systemd prints it.

    :raises ParseError: when it is none.
    """
    if text == "infinity":
        return INFINITY
    if not is_number(text):
        raise ParseError("no limit of a unit", "systemctl show", text[:80])
    # Older versions of systemd print infinity as the greatest number of 64 bits.
    return INFINITY if int(text) >= 2**64 - 1 else float(text)


def _running(port: Port, unit: str, main: str) -> tuple[tuple[str, float], ...]:
    """The limits of the unit's main process, and of the runtime that is its child; none where nothing runs."""
    pids = [main] if main.isdigit() and main != "0" else []
    found = []
    try:
        if pids and unit in NESTED:
            pids += port.read(f"/proc/{main}/task/{main}/children").split()
        for pid in pids:
            limit = process_memlock(port.read(f"/proc/{pid}/limits"))
            found.append((pid, INFINITY if limit < 0 else float(limit)))
    except MissingError:
        pass  # it ended meanwhile, or the kernel lists no children (CONFIG_PROC_CHILDREN)
    return tuple(found)
