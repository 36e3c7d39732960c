# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Units of systemd that rails and jobs depend on: whether they run, and how much memory they may lock.

Files tell nearly all of it. systemd has a link ``/run/systemd/units/invocation:<unit>`` while a unit is active or on
its way, and removes it when the unit becomes inactive or fails (systemd src/core/unit.c, unit_notify()). The processes
are in the unit's control group. Whether a unit that should run is inactive or failed is all that takes systemctl.
"""

from __future__ import annotations

from typing import Optional

from ..errors import ReadError
from ..model.facts import Service
from ..records import replace
from .collect import Reader

# By unit: the name of its main process (proc(5), comm) where it starts jobs or containers, which inherit its limits. A
# container runtime's control group also holds the shims of containers, which may be older than its last restart.
UNITS = {
    "containerd": "containerd",
    "crio": "crio",
    "docker": "dockerd",
    "k3s": "k3s-server",
    "kubelet": "kubelet",
    "lldpad": "",
    "lldpad.socket": "",  # starts it for whoever asks it something
    "openibd": "",
    "opensm": "",
    "railwright-apply": "",
    "rdma-ndd": "",
    "rke2-agent": "rke2",
    "rke2-server": "rke2",
    "slurmd": "slurmd",
    "ssh": "sshd",
    "sshd": "sshd",
}
_AGENT = "railwright-apply"
_ONCE = ("openibd", _AGENT)  # they do one thing, and have no process afterwards
_INVOCATIONS = "/run/systemd/units"
_PREFIX, _SUFFIX = "invocation:", ".service"
# systemd.unit(5), and where the generators put units of init scripts.
_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/run/systemd/generator.late",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
_WANTS = ("multi-user.target.wants", "sysinit.target.wants", "rdma-hw.target.wants", "network-online.target.wants")
# Places of a unit's control group: cgroup v2, hybrid and v1.
_CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd")


def services(reader: Reader) -> Optional[tuple[Service, ...]]:
    """Those of :data:`UNITS` that are there; ``None`` without a note where systemd does not run."""
    try:
        names = reader.port.listdir(_INVOCATIONS)
    except ReadError:
        return None
    invoked = {name[len(_PREFIX) :].removesuffix(_SUFFIX) for name in names if name.startswith(_PREFIX)}
    slices = [base for base in _CGROUPS if reader.port.exists(f"{base}/system.slice")]
    found: dict[str, Service] = {}
    asleep = []
    for unit, process in UNITS.items():
        if unit in invoked:
            found[unit] = _running(reader, unit, process, slices)
        elif _is_there(reader, unit):
            found[unit] = Service(unit, "inactive")
            if any(reader.port.exists(f"{_FOLDERS[0]}/{wants}/{_file(unit)}") for wants in _WANTS):
                asleep.append(unit)
    states = _ask(reader, asleep) if asleep else {}
    found.update((unit, Service(unit, states.get(unit))) for unit in asleep)
    if _AGENT in found:
        enabled = reader.port.exists(f"{_FOLDERS[0]}/{_WANTS[0]}/{_AGENT}{_SUFFIX}")
        found[_AGENT] = replace(found[_AGENT], enabled=enabled)
    return tuple(found[unit] for unit in sorted(found))


def _file(unit: str) -> str:
    return unit if "." in unit else f"{unit}{_SUFFIX}"


def _is_there(reader: Reader, unit: str) -> bool:
    """Whether a unit of this name has a file: one that is no alias of another, and not masked."""
    for folder in _FOLDERS:
        try:
            return reader.port.realpath(f"{folder}/{_file(unit)}").rpartition("/")[2] == _file(unit)
        except ReadError:  # noqa: PERF203 - the next folder may have it
            continue
    return False


def _running(reader: Reader, unit: str, process: str, slices: list[str]) -> Service:
    pids = next(filter(None, (_pids(reader, f"{base}/system.slice/{unit}{_SUFFIX}") for base in slices)), [])
    if not pids and process:
        pids = _elsewhere(reader, unit, slices)
    state = "activating" if pids and unit in _ONCE else "active"
    return Service(unit, state, _memlock(reader, unit, pids, process) if pids and process else None)


def _elsewhere(reader: Reader, unit: str, slices: list[str]) -> list[str]:
    """Processes of a unit whose ``Slice=`` is a site's own (systemd.resource-control(5)); none is worth a note."""
    for base in slices:
        for name in reader.names(base, unit):
            if name.endswith(".slice") and (pids := _pids(reader, f"{base}/{name}/{unit}{_SUFFIX}")):
                return pids
    reader.note(ReadError("it runs, and its processes were not found", f"{unit}{_SUFFIX}"), unit)
    return []


def _pids(reader: Reader, group: str) -> list[str]:
    """Processes of a control group; of the groups below it, where the unit keeps its own there (``Delegate=``)."""
    try:
        found = reader.port.read(f"{group}/cgroup.procs").split()
        if not found:
            for name in reader.port.listdir(group):
                if reader.port.exists(f"{group}/{name}/cgroup.procs"):
                    found += reader.port.read(f"{group}/{name}/cgroup.procs").split()
    except ReadError:
        return []
    return sorted((pid for pid in found if pid.isdecimal()), key=int)


def _memlock(reader: Reader, unit: str, pids: list[str], process: str) -> Optional[int]:
    """The main process's limit in bytes, -1 for none; ``None`` and a note when it cannot be told."""
    for pid in pids:
        try:
            if reader.port.read(f"/proc/{pid}/comm").strip() == process:
                return reader.value(f"/proc/{pid}/limits", _locked_memory, unit)
        except ReadError:  # noqa: PERF203 - it ended meanwhile
            continue
    reader.note(ReadError(f"none of its {len(pids)} processes is {process}", f"{unit}{_SUFFIX}"), unit)
    return None


def _locked_memory(text: str) -> int:
    from ..parse import limits  # noqa: PLC0415 - a setter reads no limits, and compiles what it imports

    return limits.process_memlock(text)


def _ask(reader: Reader, units: list[str]) -> dict[str, str]:
    from ..parse import systemctl  # noqa: PLC0415 - only when something should run and does not

    argv = ("systemctl", "show", "--property=Id,ActiveState", *(f"{unit}{_SUFFIX}" for unit in units))
    blocks = reader.tool(argv, systemctl.parse, "services") or ()
    return {block.get("Id", "")[: -len(_SUFFIX)]: block.get("ActiveState", "") for block in blocks}
