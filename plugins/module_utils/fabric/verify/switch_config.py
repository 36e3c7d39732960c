# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch's own dump against what the fabric wants of it, difference by difference."""

from __future__ import annotations

from typing import Optional

from ..model.switch import Difference, Key, SwitchIntent, SwitchState
from ..resolve.switch_ports import label
from ..resolve.switch_settings import expected

# Where the setting on the right is not as wanted, those on the left follow from it and say nothing of their own.
DEPENDS = {
    "dscp": "trust",
    "ecn_min_bytes": "ecn",
    "ecn_max_bytes": "ecn",
    "ecn_probability": "ecn",
    "watchdog_detection_ms": "watchdog",
    "watchdog_restoration_ms": "watchdog",
    "watchdog_action": "watchdog",
    "watchdog_priorities": "watchdog",
    "watchdog_poll_ms": "watchdog",
}


def compare(intent: SwitchIntent, state: SwitchState) -> tuple[Difference, ...]:
    """Every setting that is not as wanted, once for all ports that have it so, in the order of ports and settings.

    What the dump does not tell is a difference with ``found`` None, and never none at all. A port that the dump does
    not have is one difference, ``port``; a dump of another switch is the only one. Settings that the intent is silent
    about are left alone.
    """
    if state.name is not None and label(state.name) != label(intent.name):
        ports = tuple(port.name for port in intent.ports)
        return (Difference(intent.name, ports, "hostname", None, intent.name, state.name),)
    found: dict[tuple[Key, str, Optional[str]], list[str]] = {}
    for port, wanted in expected(intent).items():
        have = state.ports.get(port)
        if have is None:
            found.setdefault((("port", None), "configured", "absent"), []).append(port)
            continue
        wrong = {key for key, value in wanted.items() if have.get(key) != value}
        for key, value in wanted.items():
            if key in wrong and not _follows(key, wrong):
                found.setdefault((key, value, have.get(key)), []).append(port)
    return tuple(
        Difference(intent.name, tuple(ports), key[0], key[1], wanted, text)
        for (key, wanted, text), ports in found.items()
    )


def _follows(key: Key, wrong: set[Key]) -> bool:
    parent = DEPENDS.get(key[0])
    return parent is not None and bool({(parent, None), (parent, key[1])} & wrong)
