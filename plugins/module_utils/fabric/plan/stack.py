# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the driver stack: packages, kernel modules, locked memory, storage modules and soft RoCE devices."""

from __future__ import annotations

from typing import Optional, Sequence

from ..errors import ReadError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..model.plan import Action, Plan, Run, Step, WriteFile
from ..ports import Port
from ..records import dataclass
from .files import Files, file_step, read_files
from .limits import HEADER, LOGINS, UNITS, Services, drop_in, plan_logins, plan_services, read_services
from .selinux import relabel, relabels
from .soft_roce import soft_steps
from .ulps import BLACKLIST, plan_ulps, wanted_ulps

MODULES_LOAD = "/etc/modules-load.d/railwright-rdma.conf"


@dataclass(frozen=True)
class StackState:
    """What the plan needs beside the facts: the managed files, the services, and whether files have SELinux labels."""

    files: Files
    services: Services = Services()
    labels: bool = False


def read_stack(port: Port, units: Sequence[str] = ()) -> StackState:
    """The state as it is; ``units`` are services whose limit is raised beside the known ones."""
    services = read_services(port, (*UNITS, *units))
    drop_ins = tuple(drop_in(service.name) for service in services.found)
    return StackState(read_files(port, (MODULES_LOAD, LOGINS, BLACKLIST, *drop_ins)), services, relabels(port))


def plan_stack(
    intent: NodeIntent,
    facts: NodeFacts,
    state: StackState,
    missing_packages: tuple[str, ...] = (),
) -> Plan:
    """Steps towards the intent's driver stack; those that need a package which is not installed say so.

    :raises ReadError: when modules or RDMA devices could not be read: what is unknown cannot be planned.
    :raises RefusedError: see :func:`.soft_steps`.
    """
    if facts.modules is None:
        raise ReadError("the loaded kernel modules could not be read", _why(facts, "modules"))
    after = f"packages {', '.join(missing_packages)}" if missing_packages else None
    steps = [
        Step("packages", package, "", "installed", depends_on="the role's package task") for package in missing_packages
    ]
    modules = tuple(dict.fromkeys((*map(_module_name, intent.modules), *wanted_ulps(intent))))
    if modules:
        text = HEADER + "".join(f"{module}\n" for module in modules)
        _add(steps, file_step(state.files, WriteFile(MODULES_LOAD, text), "boot", "modules", ", ".join(modules)))
    kept_out, notes = plan_ulps(intent, facts, state.files)
    _add(steps, kept_out)
    _add(steps, plan_logins(intent, state.files))
    raised, settle, more = plan_services(intent, state.services, state.files)
    notes += more
    absent = [module for module in modules if module not in facts.modules]
    steps += [
        Step("kernel", f"module {module}", "", "loaded", (Run(("modprobe", module)),), depends_on=after)
        for module in absent
    ]
    before_link = after or ("module rdma_rxe" if "rdma_rxe" in absent else None)
    if any(rail.soft_roce for rail in intent.rails):
        soft, more = soft_steps(intent, facts, before_link)
        steps += soft
        notes += more
    steps += raised
    labels: tuple[Action, ...] = relabel(steps) if state.labels else ()
    return Plan("stack", tuple(steps), (*labels, *settle), tuple(notes))


def _module_name(name: str) -> str:
    """The kernel lists a module with underscores, however its file is written (modprobe(8))."""
    return name.replace("-", "_")


def _why(facts: NodeFacts, subject: str) -> str:
    return next((f"{entry.source}: {entry.reason}" for entry in facts.unread if entry.subject == subject), subject)


def _add(steps: list[Step], step: Optional[Step]) -> None:
    if step is not None:
        steps.append(step)
