# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the kernel parameters that rails need: in force now, and at the next boot."""

from __future__ import annotations

from typing import Mapping

from ..model.facts import NodeFacts, Owner
from ..model.intent import NodeIntent
from ..model.plan import Plan, RemoveFile, Step, WriteFile
from ..ports import Port
from ..probe.collect import Reader
from ..probe.owners_sysctl import sysctl_owners
from ..resolve import sysctls
from ..resolve.bind import bind
from .files import Files, file_step, read_files

# Files are applied by name, over all folders, and the last one wins (sysctl.d(5)): this one comes after those of
# distributions, and after 99-sysctl.conf, by which /etc/sysctl.conf is read on Debian. It is read again, for a netdev,
# whenever that netdev appears (systemd's udev rules, 99-systemd.rules).
FILE = "/etc/sysctl.d/99-zz-railwright-rails.conf"
HEADER = "# Managed by Railwright (role rail_network): the next run undoes what is changed here.\n"


def read_sysctl(port: Port, facts: NodeFacts) -> tuple[Files, tuple[Owner, ...]]:
    """Our file as it is, and who else sets what rails need."""
    names = [netdev.name for netdev in facts.netdevs or () if netdev.name not in facts.management]
    return read_files(port, (FILE,)), tuple(sysctl_owners(Reader(port), names))


def plan_sysctl(intent: NodeIntent, facts: NodeFacts, files: Files, others: tuple[Owner, ...] = ()) -> Plan:
    """Steps towards the parameters of every rail with addresses, and notes about what they cannot reach.

    Rails that are verified only need them as well. The management netdev keeps its own.
    """
    have = facts.sysctls
    bound = {rail.intent.name: rail.netdev_name for rail in bind(intent, facts)}
    netdevs = {rail: name for rail, name in bound.items() if name is not None and name not in facts.management}
    wanted = {name: _at_least(name, value, have or {}) for name, value in sysctls.wanted(intent, netdevs).items()}
    if not wanted:
        gone = Step("kernel", f"file {FILE}", "parameters of an earlier spec", "", (RemoveFile(FILE),))
        return Plan("network", (gone,) if files.get(FILE) is not None else ())
    text = HEADER + "".join(f"{name} = {value}\n" for name, value in sorted(wanted.items()))
    step = file_step(files, WriteFile(FILE, text), "kernel", f"file {FILE}", f"{len(wanted)} parameters")
    steps = [step] if step is not None else []
    if have is None:
        note = "kernel parameters: what is in force could not be read, and is left as it is until the next boot"
        return Plan("network", tuple(steps), notes=(note,))
    # A container's network namespace lacks the limits of its host (kernel net/core/neighbour.c).
    absent = [name for name in wanted if ".neigh." in name and name not in have]
    notes = [f"kernel parameters that are not there, as in a container: {', '.join(absent)}"] if absent else []
    there = {netdev.name for netdev in facts.netdevs or ()}
    late = tuple(sysctls.conf(netdev, "") for netdev in netdevs.values() if netdev not in there)
    for name, value in wanted.items():
        # What is for a netdev to come is in force with it, from the file.
        if name.startswith(late) or name in absent:
            continue
        if sysctls.good(name, value, have) is not True:
            if sysctls.good(name, value, {**have, name: value}) is True:
                write = WriteFile(sysctls.path(name), f"{value}\n")
                steps.append(Step("kernel", name, have.get(name, "unknown"), value, (write,)))
            else:
                notes.append(f"{name}: {_overruled(name, have)}")
    return Plan("network", tuple(steps), notes=(*notes, *_foreign(wanted, have, others)))


def _foreign(wanted: Mapping[str, str], have: Mapping[str, str], others: tuple[Owner, ...]) -> list[str]:
    """Files of others that undo a parameter at the next boot."""
    notes = []
    for owner in others:
        if not owner.wins:
            continue
        then = {**have, **wanted, owner.setting: owner.value}
        broken = sorted(name for name, value in wanted.items() if sysctls.good(name, value, then) is False)
        if broken:
            notes.append(
                f"{owner.source} sets {owner.setting} to {owner.value} at the next boot, after {FILE}: "
                "remove it there, or the rails lose it"
            )
    return notes


def _at_least(name: str, value: str, have: Mapping[str, str]) -> str:
    """More room than wanted, which somebody gave, stays."""
    now = have.get(name, "")
    larger = ".neigh." in name and now.isdecimal() and int(now) > int(value)
    return now if larger else value


def _overruled(name: str, have: Mapping[str, str]) -> str:
    every = sysctls.conf("all", name.rpartition(".")[2])
    if every in have and name in have:
        return f"{every} is {have[every]} and overrules it: set that one to 0"
    return "it could not be read"
