# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The few options of the agent's commands. argparse alone would double the time that a check takes to start."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence

from ..errors import FabricError

Options = Mapping[str, str]


def parse_options(command: str, words: Sequence[str], known: Mapping[str, Optional[tuple[str, ...]]]) -> Options:
    """Options by name; a switch has the value ``yes``.

    :param known: the allowed values of an option (none named: any), or None for a switch.
    :raises FabricError: for an unknown option, a missing or a wrong value.
    """
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name not in known:
            raise FabricError(f"known options are {', '.join(known)}", command, name)
        allowed = known[name]
        if allowed is None:
            if equals:
                raise FabricError("this option has no value", f"{command} {name}", value)
            found[name] = "yes"
            continue
        if not equals:
            value = rest.pop(0) if rest else ""
        if value not in allowed if allowed else not value:
            raise FabricError(
                f"allowed are {', '.join(allowed)}" if allowed else "this option has a value",
                f"{command} {name}",
                value,
            )
        found[name] = value
    return found
