# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the modules of storage over RDMA: those that the site uses are loaded at boot, the others are kept out.

rdma-core has systemd-modules-load load some of them as soon as there is an RDMA device (linux-rdma/rdma-core:
kernel-boot/modules/rdma.conf, rdma-load-modules@.service). That program honours ``blacklist`` of modprobe.d(5)
(systemd: src/shared/module-util.c, KMOD_PROBE_APPLY_BLACKLIST), so one file of our own is enough: the package's files
stay as they are, and ``modprobe NAME``, which asks for a module by name, still loads it.
"""

from __future__ import annotations

from typing import Optional

from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..model.plan import RemoveFile, Step, WriteFile
from ..resolve.derive import STORAGE_ULPS, ULP_ALIASES
from .files import Files, file_step

BLACKLIST = "/etc/modprobe.d/railwright-storage.conf"
HEADER = (
    "# Managed by Railwright (role rdma_stack): the next run undoes what is changed here.\n"
    "# Modules of RDMA storage that the fabric spec does not name (storage_ulps) are not loaded at boot: a loaded one\n"
    "# keeps the driver stack from being exchanged. modprobe NAME still loads one.\n"
)


def wanted_ulps(intent: NodeIntent) -> tuple[str, ...]:
    """The storage modules that the site uses, by the names under which the kernel lists them."""
    return tuple(sorted({ULP_ALIASES.get(name, name) for name in intent.storage_ulps}))


def unwanted_ulps(intent: NodeIntent) -> tuple[str, ...]:
    """Those that it does not use, with their aliases."""
    wanted = wanted_ulps(intent)
    return tuple(name for name in STORAGE_ULPS if ULP_ALIASES.get(name, name) not in wanted)


def plan_ulps(intent: NodeIntent, facts: NodeFacts, files: Files) -> tuple[Optional[Step], list[str]]:
    """The step that keeps the unwanted ones out, and notes about those that are loaded: nothing is unloaded here."""
    unwanted = unwanted_ulps(intent)
    loaded = [name for name in unwanted if name in (facts.modules or ())]
    notes = [
        f"kernel: module {name} is loaded and not in storage_ulps; it stays until the next boot" for name in loaded
    ]
    subject, setting = "boot", "storage modules kept out"
    if unwanted:
        text = HEADER + "".join(f"blacklist {name}\n" for name in unwanted)
        return file_step(files, WriteFile(BLACKLIST, text), subject, setting, ", ".join(unwanted)), notes
    if files.get(BLACKLIST) is not None:
        return Step(subject, setting, "some", "", (RemoveFile(BLACKLIST),)), notes
    return None, notes
