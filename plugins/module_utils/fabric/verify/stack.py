# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about the software below the rails: kernel modules and the memory lock limit."""

from __future__ import annotations

from typing import Optional

from ..model.finding import Finding
from ..model.intent import NodeIntent
from .rule import Rule
from .view import View

MODULES = Rule(
    "stack.modules",
    "The kernel modules of the RDMA stack are loaded",
    "fail",
    "local",
    "Without them there are no RDMA devices, or no user-space access to them.",
    "Run site.yml (role rdma_stack); modprobe NAME shows the kernel's message.",
    "kernel Documentation/infiniband/user_verbs.rst",
)
MEMLOCK = Rule(
    "stack.memlock",
    "A login session may lock as much memory as RDMA needs",
    "fail",
    "local",
    "RDMA pins the memory it uses: with a low limit, registration fails in the middle of a job.",
    "Run site.yml (role rdma_stack), then log in again; for a batch system raise the limit of its daemon as well.",
    "kernel Documentation/infiniband/user_verbs.rst (memory pinning); limits.conf(5)",
)


def modules(view: View, intent: NodeIntent) -> Optional[Finding]:
    """Each module of the intent is in the kernel; dash and underscore are one (modprobe(8))."""
    if not intent.modules:
        return None
    expected = ", ".join(intent.modules)
    if view.facts.modules is None:
        return MODULES.unknown(view.host, expected=expected, found=view.missing("modules", "modules"))
    loaded = {name.replace("-", "_") for name in view.facts.modules}
    missing = [name for name in intent.modules if name.replace("-", "_") not in loaded]
    if missing:
        found = f"{', '.join(missing)} not loaded"
        return MODULES.broken(view.host, expected=expected, found=found, cause="not loaded at boot, or unloaded since")
    return MODULES.passed(view.host, found=expected)


def memlock(view: View, intent: NodeIntent) -> Optional[Finding]:
    """The limit is at least what the intent asks for; numbers are kbytes, as in limits.conf(5)."""
    want, have = intent.memlock, view.facts.memlock
    if have is None:
        return MEMLOCK.unknown(view.host, expected=want, found=view.missing("the memory lock limit", "memlock"))
    if have == "unlimited" or (want.isdigit() and have.isdigit() and int(have) >= int(want)):
        return MEMLOCK.passed(view.host, found=have)
    return MEMLOCK.broken(view.host, expected=want, found=have, cause="no limits file grants it")
