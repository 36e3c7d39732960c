# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``rdma resource show``: who uses which RDMA device, and how much of what each holds."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional

from .text import numbered, pairs, parse_json, whole_number, wrong

TOOL = "rdma resource"
_NAMES = ("ifindex", "ifname")
# Connected kinds of queue pairs: what the kernel itself holds of these is a mounted store (NVMe-oF, NFS, iSER), while
# its management and IP over InfiniBand queue pairs are always there.
CONNECTED = ("RC", "UC", "XRC_INI", "XRC_TGT")
_HEAD = r"\d+: ([^\s:]+): +(\S.*)"


def parse_counts(text: str) -> dict[str, dict[str, int]]:
    """How many objects each RDMA device holds, by the kernel's words for their kinds: ``pd``, ``cq``, ``qp``, ``ctx`` …

    The summary of ``rdma resource show``, as JSON and as text. Contexts (``ctx``) are those of processes, the kernel
    has none of its own (drivers/infiniband/core/nldev.c, fill_res_info; uverbs_cmd.c, ib_alloc_ucontext).

    :raises ParseError: when the text is neither, or a count is none.
    """
    if text.lstrip().startswith("["):
        rows = [_summary(number, entry) for number, entry in enumerate(parse_json(TOOL, text), 1) if entry != {}]
    else:
        rows = [_line(number, line) for number, line in numbered(text)]
    found: dict[str, dict[str, int]] = {}
    for number, (device, counts) in enumerate(rows, 1):
        if device in found:
            raise wrong(TOOL, number, device, "a device that is there twice")
        found[device] = counts
    return found


def _summary(number: int, entry: Any) -> tuple[str, dict[str, int]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("ifname"), str):
        raise wrong(TOOL, number, str(entry), "a summary without its device")
    return entry["ifname"], _counts(number, str(entry), {k: v for k, v in entry.items() if k not in _NAMES})


def _line(number: int, line: str) -> tuple[str, dict[str, int]]:
    head = re.fullmatch(_HEAD, line)
    if head is None:
        raise wrong(TOOL, number, line, "no line of the form 'N: DEVICE: kind count …'")
    return head.group(1), _counts(number, line, pairs(TOOL, number, line, head.group(2).split()))


def _counts(number: int, line: str, told: Mapping[str, Any]) -> dict[str, int]:
    if not told:
        raise wrong(TOOL, number, line, "a device without counts")
    return {kind: whole_number(TOOL, number, line, str(count)) for kind, count in told.items()}


def parse_users(text: str) -> dict[str, tuple[str, ...]]:
    """Who holds queue pairs, for each RDMA device that somebody uses: ``name (pid)``, or ``name (kernel)``.

    Queue pairs of the kernel have a name and no process id; one with neither is of a process that is gone or not seen
    from here (drivers/infiniband/core/nldev.c, fill_res_name_pid), and it is in use all the same.

    :raises ParseError: when the text is not the tool's JSON.
    """
    entries = parse_json(TOOL, text)
    if not isinstance(entries, list):
        raise wrong(TOOL, 1, text, "a list is expected")
    users: dict[str, set[str]] = {}
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise wrong(TOOL, number, str(entry), "an entry is no mapping")
        # iproute2 prints an empty object for what vanished meanwhile.
        user = _user(entry) if entry else None
        if user is None:
            continue
        if not isinstance(entry.get("ifname"), str):
            raise wrong(TOOL, number, str(entry), "a queue pair without its device")
        users.setdefault(entry["ifname"], set()).add(user)
    return {device: tuple(sorted(names)) for device, names in sorted(users.items())}


def _user(entry: dict[str, Any]) -> Optional[str]:
    name = str(entry.get("comm", "process")).strip("[]")
    if "pid" in entry:
        return f"{name} ({entry['pid']})"
    if "comm" not in entry:
        return "a process without a name"
    return f"{name} (kernel)" if entry.get("type") in CONNECTED else None
