# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Which of the wanted packages are not installed: one call of dpkg-query or rpm."""

from __future__ import annotations

from typing import Sequence

from ..errors import MissingError, ReadError
from ..ports import Port


def missing_packages(port: Port, wanted: Sequence[str]) -> tuple[str, ...]:
    """Names of ``wanted`` that are not installed, in its order.

    :raises ReadError: when neither package database can be asked.
    """
    if not wanted:
        return ()
    query = ("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *wanted)
    try:
        lines = port.run(query, 20.0).out.splitlines()
        installed = {name for name, _, status in (line.partition(" ") for line in lines) if status == "installed"}
    except MissingError:
        try:
            # A package that is not there gives a line of words ("package x is not installed"), never a bare name.
            done = port.run(("rpm", "-q", "--qf", "%{NAME}\n", *wanted), 20.0)
        except MissingError:
            raise ReadError("neither dpkg-query nor rpm is on this node", "installed packages") from None
        installed = {line for line in done.out.splitlines() if " " not in line}
    return tuple(name for name in wanted if name not in installed)
