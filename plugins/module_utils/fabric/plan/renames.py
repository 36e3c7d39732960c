# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Renaming devices that are in use: the order in which names become free, and what each kernel needs for it."""

from __future__ import annotations

from typing import Iterable, Optional, TypeVar

from ..model.facts import Netdev
from ..model.plan import Action, Run, Step
from .names import NetdevName, RdmaName

Item = TypeVar("Item", NetdevName, RdmaName)

# Since this version a netdev may be renamed while it is up (kernel commit bd039b5ea2a9, net/core/dev.c).
_LIVE_RENAME = (6, 2)
_DOWN = "the link goes down for it: connections over it break"
_NAME = "programs that know it by its name lose it"


def rename_netdevs(names: Iterable[NetdevName], netdevs: Iterable[Netdev], kernel: Optional[str]) -> list[Step]:
    """Steps that give netdevs their names now."""
    live = _version(kernel) >= _LIVE_RENAME
    steps = []
    for item, old, new in _ordered(names, {netdev.name for netdev in netdevs}):
        rename: list[Action] = [Run(("ip", "link", "set", "dev", old, "name", new))]
        if new in item.netdev.altnames:
            rename.insert(0, Run(("ip", "link", "property", "del", "dev", old, "altname", new)))
        down = not live and item.netdev.admin_up is not False
        if down:
            rename = [
                Run(("ip", "link", "set", "dev", old, "down")),
                *rename,
                Run(("ip", "link", "set", "dev", new, "up")),
            ]
        steps.append(Step(item.rail, f"name of netdev {item.now}", old, new, tuple(rename), _DOWN if down else _NAME))
    return steps


def up_again(steps: Iterable[Step]) -> tuple[Action, ...]:
    """What a roll back does: a link that went down for its name comes up, whichever name it has by then."""
    taken_down = [
        step for step in steps for action in step.actions if isinstance(action, Run) and "down" in action.argv
    ]
    names = [name for step in taken_down for name in (step.before, step.after)]
    return tuple(Run(("ip", "link", "set", "dev", name, "up"), allowed=(0, 1, 2)) for name in dict.fromkeys(names))


def rename_rdma(names: Iterable[RdmaName], taken: Iterable[str]) -> list[Step]:
    """Steps that give RDMA devices their names now.

    The kernel does it under open contexts (ib_device_rename(), drivers/infiniband/core/device.c), but libraries look
    into sysfs by the name that they opened: it counts as an interruption.
    """
    return [
        Step(
            item.rail,
            f"name of RDMA device {item.now}",
            old,
            new,
            (Run(("rdma", "dev", "set", old, "name", new)),),
            _NAME,
        )
        for item, old, new in _ordered((item for item in names if item.now), set(taken))
    ]


def _ordered(names: Iterable[Item], taken: set[str]) -> list[tuple[Item, str, str]]:
    """(item, old, new) such that each new name is free; names that wait for each other go by an intermediate one."""
    pending = [(item, item.now) for item in names if item.now != item.name]
    done = []
    while pending:
        ready = next((entry for entry in pending if entry[0].name not in taken), None)
        item, old = ready or pending[0]
        pending.remove((item, old))
        new = item.name
        if ready is None:
            new = next(name for name in (f"rwtmp{number}" for number in range(len(taken) + 1)) if name not in taken)
            pending.append((item, new))
        taken = (taken - {old}) | {new}
        done.append((item, old, new))
    return done


def _version(kernel: Optional[str]) -> tuple[int, ...]:
    """``6.1.0-18-amd64`` as (6, 1); a release that says nothing counts as old."""
    words = (kernel or "").split(".")[:2]
    return tuple(int(word) for word in words) if len(words) == 2 and all(word.isdigit() for word in words) else ()
