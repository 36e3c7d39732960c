# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of what a node as a whole does to lossless settings: lldpad changes them, the agent brings them back."""

from __future__ import annotations

from typing import Optional

from ..model.facts import Service
from ..model.finding import Finding
from . import qos_rules as rules
from .rule import Rule
from .view import View

AGENT = "railwright-apply"


def lldpad(view: View) -> Optional[Finding]:
    """Whether lldpad runs; where no systemd runs there is nothing to ask."""
    service = _service(view, "lldpad")
    if view.facts.services is None:
        return _unread(view, rules.LLDPAD)
    if service is None or service.state in ("inactive", "failed"):
        return rules.LLDPAD.passed(view.host, found="not running" if service else "not installed")
    if service.state is None:
        found = view.missing("the state of lldpad", "services", "lldpad")
        return rules.LLDPAD.unknown(view.host, expected="not running", found=found)
    return rules.LLDPAD.broken(
        view.host,
        expected="not running",
        found=f"lldpad is {service.state}",
        cause="lldpad negotiates DCBX with the switches and rewrites PFC, ETS and the map",
    )


def agent(view: View) -> Optional[Finding]:
    """Whether the agent's unit starts at boot; that it failed is the matter of ``stack.services``."""
    if view.facts.services is None:
        return _unread(view, rules.AGENT)
    service = _service(view, AGENT)
    if service is not None and service.enabled:
        return rules.AGENT.passed(view.host, found=f"{AGENT} starts at boot")
    if service is not None and service.enabled is None:
        found = view.missing(f"whether {AGENT} starts at boot", "services", AGENT)
        return rules.AGENT.unknown(view.host, expected="enabled", found=found)
    return rules.AGENT.broken(
        view.host,
        expected=f"{AGENT} enabled",
        found=f"{AGENT} is disabled" if service is not None else f"{AGENT} is not installed",
        cause="the settings vanish at the next reboot, when a driver is loaded again or a netdev is made anew",
    )


def _service(view: View, name: str) -> Optional[Service]:
    return next((service for service in view.facts.services or () if service.name == name), None)


def _unread(view: View, rule: Rule) -> Optional[Finding]:
    if view.unread("services"):
        return rule.unknown(view.host, found=view.missing("the services", "services"))
    return None


CHECKS = (lldpad, agent)
