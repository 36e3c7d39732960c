# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch's own dump, whatever its operating system."""

from __future__ import annotations

from ..model.switch import SwitchState
from . import eos_config, nvue_config, sonic_config_db

PARSERS = {"sonic": sonic_config_db.parse, "cumulus": nvue_config.parse, "eos": eos_config.parse}

# What prints the dump that is read here. EOS with all, because else it leaves out what is at its default.
COMMANDS = {
    "sonic": "sonic-cfggen -d --print-data",
    "cumulus": "nv config show -o json",
    "eos": "show running-config all",
}


def parse(system: str, text: str) -> SwitchState:
    """The state that a dump tells.

    :param system: sonic, cumulus or eos.
    :raises ParseError: for what is no dump of it, or not a whole one.
    """
    return PARSERS[system](text)
