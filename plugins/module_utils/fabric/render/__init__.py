# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch's intent as its operating system takes it: text for review, and for a push on request."""

from __future__ import annotations

from ..model.switch import SwitchIntent
from . import cumulus, eos, sonic

RENDERERS = {"sonic": sonic.render, "cumulus": cumulus.render, "eos": eos.render}
SUFFIXES = {"sonic": "json", "cumulus": "yaml", "eos": "cfg"}


def render(intent: SwitchIntent) -> str:
    """The configuration of one switch, the same text for the same intent."""
    return RENDERERS[intent.os](intent)


def file_name(intent: SwitchIntent) -> str:
    """Name of the file that holds it: ``su1-leaf0.json``."""
    return f"{intent.name}.{SUFFIXES[intent.os]}"
