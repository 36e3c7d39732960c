# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a planner says about others that set the same things: who, where, and who wins at the next boot."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence

from ..model.facts import Owner
from ..model.network import Link
from ..resolve import sysctls

_WANTED = {**sysctls.RP_FILTER, **sysctls.ARP, **sysctls.NEIGHBOURS}


def notes(owners: Optional[Sequence[Owner]], links: Sequence[Link]) -> tuple[str, ...]:
    """One sentence a file and rail, for what concerns these links or the whole node.

    A parameter whose value serves a rail as well is not worth a word.
    """
    rails = {link.name: link.rail for link in links}
    told: dict[tuple[str, str, bool], list[str]] = {}
    for owner in owners or ():
        subject = concerns(owner, rails)
        if subject is not None:
            told.setdefault((subject, owner.source, owner.wins), []).append(f"{owner.setting} = {owner.value}")
    return tuple(
        f"{f'{subject}: ' if subject else ''}{source} sets {', '.join(what)}"
        + (", and wins at the next boot: remove it there" if wins else "; ours wins")
        for (subject, source, wins), what in told.items()
    )


def concerns(owner: Owner, rails: Mapping[str, str]) -> Optional[str]:
    """The rail that an owner concerns, "" for the whole node, ``None`` when it does no harm.

    :param rails: the rail by the name of a netdev that carries it.
    """
    if not owner.setting.startswith("net."):
        return rails.get(owner.setting.rpartition(".")[0])
    last = owner.setting.rpartition(".")[2]
    want = _WANTED.get(last)
    if want is None:
        return None
    overall = sysctls.conf("all", last)
    for netdev, rail in rails.items():
        own = sysctls.conf(netdev, last)
        if owner.setting in (own, overall):
            # With our value on the netdev where "all" is set, and the kernel's own in "all" where the netdev is.
            have = {own: want, overall: "0", owner.setting: owner.value}
            if sysctls.good(own, want, have) is not True:
                return rail if owner.setting == own else ""
    if owner.setting.startswith("net.ipv4.conf."):
        return None
    return "" if sysctls.good(owner.setting, want, {owner.setting: owner.value}) is not True else None
