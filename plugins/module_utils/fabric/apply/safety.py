# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A change that may cut the node off: watched on the way, and undone by the node itself unless it is confirmed."""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from contextlib import suppress
from typing import Any, Mapping, Optional

from ..errors import ApplyError, FabricError, MissingError, ReadError
from ..model.plan import Plan, Run
from ..parse.text import parse_json
from ..ports import Port
from . import undo
from .run import Backups, Watch

# In /var/lib, and not in /run: a node that loses its power before the change is confirmed undoes it at the next boot.
FOLDER = "/var/lib/railwright/undo"
PROGRAM = f"{FOLDER}/undo.py"
# A change settles within 20 seconds (see run.py), and the way back takes some seconds: whoever waits waits a minute.
ARMED_S, CONFIRM_S = 45.0, 30.0


class Safety(Watch):
    """Watches one change of one node.

    :param client: the controller's address in its session with the node, where there is one.
    :param confirm: whether a confirmation will come; without it no timer is started.
    :param intent: hash of the intent that is applied.
    """

    def __init__(self, port: Port, intent: str, client: Optional[str] = None, confirm: bool = False) -> None:
        self.port = port
        self.intent = intent
        self.client = client
        self.confirm = confirm
        self.token: Optional[str] = None
        self._plan = Plan("network")
        self._backups: Backups = {}
        self._way: Optional[str] = None
        self._defaults: Optional[list[str]] = None  # None: not looked at

    def arm(self, plan: Plan, backups: Backups) -> None:
        """Before the first action of a plan.

        :raises ApplyError: when the node could not undo the change by itself: then it is not made.
        """
        self._plan, self._backups = plan, backups
        actions = (*plan.settle, *(action for step in plan.steps for action in step.actions))
        # Files alone bring nothing in force.
        if not any(step.disruptive for step in plan.steps) and not any(isinstance(action, Run) for action in actions):
            return
        self._way, self._defaults = self._way_back(), self._default_routes()
        if self.confirm:
            self.token = os.urandom(8).hex()
            self._start(ARMED_S)

    def danger(self) -> str:
        """What is wrong with the node's management by now; empty when nothing is."""
        if self._way is not None:
            way = self._way_back()
            if way != self._way:
                return f"the way back to the controller {self.client} is {way or 'lost'}, and was {self._way}"
        if self._defaults is not None:
            defaults = self._default_routes()
            if defaults != self._defaults:
                now, before = "; ".join(defaults) or "gone", "; ".join(self._defaults) or "none"
                return f"the default route is {now}, and was {before}"
        return ""

    def done(self) -> None:
        """The change is as wanted: from now on the confirmation is waited for."""
        if self.token is not None:
            self._start(CONFIRM_S)

    def rolled_back(self, why: str) -> None:
        """The change was taken back already; ``why`` is set when it endangered the management."""
        if self.token is not None:
            self.port.remove(f"{FOLDER}/{undo.RECORD}")
        if why:
            outcome = {"intent": self.intent, "steps": [str(step) for step in self._plan.steps], "why": why}
            outcome.update(when=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), failed=[])
            self.port.write(f"{FOLDER}/{undo.OUTCOME}", json.dumps(outcome), 0o600)

    def _start(self, seconds: float) -> None:
        record = {
            "token": self.token,
            "boot": self.port.read(undo.BOOT_ID).strip(),
            "deadline": time.monotonic() + seconds,
            "intent": self.intent,
            "steps": [str(step) for step in self._plan.steps],
            "files": {path: _encoded(backup) for path, backup in self._backups.items()},
            "commands": [
                {"argv": action.argv, "timeout": action.timeout, "allowed": action.allowed}
                for action in (*self._plan.undo, *self._plan.settle)
                if isinstance(action, Run)
            ],
        }
        self.port.write(PROGRAM, _program(), 0o600)
        self.port.write(f"{FOLDER}/{undo.RECORD}", json.dumps(record), 0o600)
        unit = f"railwright-undo-{self.token}-{seconds:g}"
        python = (sys.executable, "-IS", PROGRAM)
        timer = ("systemd-run", "--quiet", "--collect", f"--unit={unit}", f"--on-active={seconds:g}s")
        try:
            if self.port.run((*timer, "--timer-property=AccuracySec=250ms", *python, FOLDER)).rc == 0:
                return
        except ReadError:
            pass
        # Without a running systemd, a process of its own waits.
        done = self.port.run((*python, "--after", f"{seconds:g}", FOLDER))
        if done.rc:
            self.port.remove(f"{FOLDER}/{undo.RECORD}")
            raise ApplyError("the node cannot undo a change by itself, so it was not made", PROGRAM, done.err.strip())

    def _way_back(self) -> Optional[str]:
        """``dev ens2 via 10.0.2.2`` …; ``None`` without a controller, and when there is no way."""
        if self.client is None:
            return None
        found = self._routes("-6" if ":" in self.client else "-4", "route", "get", self.client)
        return found[0] if found else None

    def _default_routes(self) -> list[str]:
        # A kernel without IPv6 has no such table, and ip fails.
        found = [self._routes(family, "route", "show", "default", "table", "main") for family in ("-4", "-6")]
        return sorted({route for routes in found for route in routes or ()})

    def _routes(self, *words: str) -> Optional[list[str]]:
        try:
            done = self.port.run(("ip", "-j", *words))
            routes = parse_json("ip route", done.out or "[]") if done.rc == 0 else None
        except FabricError:
            return None
        if not isinstance(routes, list):
            return None
        return [_hop(route) for route in routes if isinstance(route, dict)]


def confirm(port: Port, token: str) -> str:
    """Keep the change with this token; the answer is empty, or says what became of it instead."""
    record = _read(port, undo.RECORD)
    if record is not None and record.get("token") == token:
        port.remove(f"{FOLDER}/{undo.RECORD}")
        port.remove(f"{FOLDER}/{undo.OUTCOME}")
        # A timer that goes off all the same finds no record, and does nothing.
        timers = (f"railwright-undo-{token}-{seconds:g}.timer" for seconds in (ARMED_S, CONFIRM_S))
        with suppress(ReadError):
            port.run(("systemctl", "stop", *timers))
        return ""
    return last_undone(port) or "no change waits for a confirmation"


def last_undone(port: Port) -> str:
    """What became of the last change, when it was undone; empty when it was not."""
    outcome = _read(port, undo.OUTCOME)
    if outcome is None:
        return ""
    failed = "".join(f"; failed: {line}" for line in outcome.get("failed", ()))
    steps = "; ".join(outcome.get("steps", ()))
    return f"the last change was undone at {outcome.get('when')}, because {outcome.get('why')}: {steps}{failed}"


def undone_intent(port: Port) -> Optional[str]:
    """Hash of the intent whose change was undone last: what cut the node off once is not to do so at every boot."""
    return (_read(port, undo.OUTCOME) or {}).get("intent")


def take_back(port: Port) -> str:
    """Undo the change that waits for its confirmation, and say so."""
    outcome = undo.undo(FOLDER, force=True)
    return last_undone(port) if outcome is not None else "no change waits for a confirmation"


def forget_undone(port: Port) -> None:
    """The node is as wanted: what became of an earlier change is history."""
    port.remove(f"{FOLDER}/{undo.OUTCOME}")


def settle_pending(port: Port) -> None:
    """A change that still waits for its confirmation has it: who asks came over a connection to the node."""
    record = _read(port, undo.RECORD)
    if record is not None:
        confirm(port, str(record.get("token")))


def _read(port: Port, name: str) -> Optional[dict[str, Any]]:
    try:
        found = json.loads(port.read(f"{FOLDER}/{name}"))
    except (MissingError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _encoded(backup: Optional[tuple[bytes, int]]) -> Optional[dict[str, Any]]:
    return None if backup is None else {"data": base64.b64encode(backup[0]).decode(), "mode": backup[1]}


def _hop(route: Mapping[str, Any]) -> str:
    hops = route.get("nexthops") or [route]
    return ", ".join(
        " ".join(f"{word} {hop[key]}" for word, key in (("dev", "dev"), ("via", "gateway")) if hop.get(key))
        for hop in hops
    )


def _program() -> str:
    """The source of the program, from wherever this core was loaded: a folder, Ansible's zip, or the agent's."""
    loader = undo.__spec__.loader if undo.__spec__ is not None else None
    source = loader.get_source(undo.__name__) if loader is not None and hasattr(loader, "get_source") else None
    if source is None:
        raise ApplyError("the source of the undo program is not at hand", undo.__name__)
    # Some loaders hand out what the file holds, undecoded.
    return source.decode() if isinstance(source, bytes) else str(source)
