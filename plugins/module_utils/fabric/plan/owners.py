# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a planner says about others that configure a rail's netdevs as well, and win at the next boot."""

from __future__ import annotations

from typing import Iterable, Sequence

from ..model.facts import Owner
from ..model.network import Link


def notes(owners: Iterable[Owner], links: Sequence[Link]) -> tuple[str, ...]:
    """One sentence a file and rail. Kernel parameters have notes of their own (``plan/sysctl.py``).

    :param links: of rails whose files are in place: before that, whoever is there wins.
    """
    rails = {link.name: link.rail for link in links}
    told: dict[tuple[str, str], list[str]] = {}
    for owner in owners:
        rail = rails.get(owner.setting.rpartition(".")[0])
        if owner.wins and rail is not None:
            told.setdefault((rail, owner.source), []).append(f"{owner.setting} to {owner.value}")
    return tuple(
        f"{rail}: {source} sets {', '.join(what)} at the next boot: remove it there, or the rail loses its own"
        for (rail, source), what in told.items()
    )
