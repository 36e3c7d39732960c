# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's log: what it says about NICs, their slots and their cables.

All forms of it serve: ``dmesg``, a dump of pstore (``<6>[ … ]``), ``/dev/kmsg`` (``6,3973,227996636,-;…``) and syslog.
"""

from __future__ import annotations

import re
from typing import Optional

from ..model.facts import KernelEvent
from .text import wrong

TOOL = "dmesg"

# Kinds, each with what the line says and, in group 1, which device where it is no PCI function. Sources: drivers/net/
# ethernet/mellanox/mlx5/core (health.c, cmd.c, events.c, main.c), drivers/pci/pci.c (pcie_report_downtraining),
# net/sched/sch_generic.c (dev_watchdog), nvidia-peermem.c, and systemd-networkd for the carrier.
_KINDS = (
    ("pcie_limited", r"Gb/s available PCIe bandwidth, limited by "),
    ("health", r"Fatal error \d+ detected|device's health compromised|health poll failed|unrecoverable"),
    ("command_timeout", r"timeout\. Will cause a leak of a command resource"),
    ("slot_power", r"Detected insufficient power on the PCIe slot"),
    ("module_temperature", r"Port module event\[error\]: module \d+, Cable error, High Temperature"),
    ("module_error", r"Port module event\[error\]: module \d+, Cable error"),
    ("module_unplugged", r"Port module event: module \d+, Cable unplugged"),
    # A function without the right to read a register asks all the same: noise, unless something else is wrong.
    ("register_refused", r"ACCESS_REG\(0x[0-9a-f]+\) op_mod\(0x[0-9a-f]+\) failed"),
    ("transmit_timeout", r"NETDEV WATCHDOG: (?:CPU: \d+: )?(\S+?):? \("),
    ("peermem", r"nvidia-peermem .*ERROR"),
    ("carrier_lost", r"(\S+): (?:lost carrier|Lost carrier)$"),
    ("carrier_lost", r" (\S+): (?:NIC )?Link (?:is )?[Dd]own\b"),
)
_PATTERNS = [(kind, re.compile(pattern)) for kind, pattern in _KINDS]
# What the tool, or a shell that has none, says in place of a log: that is no good log.
_REFUSED = re.compile(r"(?:\S*sh: )?(?:line \d+: |\d+: )?(?:dmesg|journalctl|sudo): ")
_PCI = re.compile(r"\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b")


def parse(text: str) -> tuple[KernelEvent, ...]:
    """Events by kind and device, in the order in which they first came, with how often they did and the last text.

    A log that says nothing of the kind is a good log; it may also be one that has lost its beginning.

    :raises ParseError: for what the tool says in place of a log.
    """
    found: dict[tuple[str, Optional[str]], tuple[int, str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if _REFUSED.match(line):
            raise wrong(TOOL, number, line, "the log could not be read")
        event = _event(line.rstrip())
        if event is not None:
            count = found.get(event, (0, ""))[0]
            found[event] = (count + 1, line.strip()[:300])
    return tuple(KernelEvent(kind, device, count, last) for (kind, device), (count, last) in found.items())


def _event(line: str) -> Optional[tuple[str, Optional[str]]]:
    for kind, pattern in _PATTERNS:
        match = pattern.search(line)
        if match:
            function = _PCI.search(line)
            named = match.group(1) if pattern.groups else None
            return kind, named or (function.group() if function else None)
    return None
