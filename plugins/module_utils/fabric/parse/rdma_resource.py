# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``rdma -j resource show qp`` to who uses which RDMA device."""

from __future__ import annotations

from typing import Any, Optional

from .text import parse_json, wrong

TOOL = "rdma resource"
# Connected kinds of queue pairs: what the kernel itself holds of these is a mounted store (NVMe-oF, NFS, iSER), while
# its management and IP over InfiniBand queue pairs are always there.
CONNECTED = ("RC", "UC", "XRC_INI", "XRC_TGT")


def parse_users(text: str) -> dict[str, tuple[str, ...]]:
    """Who holds queue pairs, for each RDMA device that somebody uses: ``name (pid)``, or ``name (kernel)``.

    Queue pairs of the kernel have no process id (drivers/infiniband/core/nldev.c, fill_res_name_pid).

    :raises ParseError: when the text is not the tool's JSON.
    """
    entries = parse_json(TOOL, text)
    if not isinstance(entries, list):
        raise wrong(TOOL, 1, text, "a list is expected")
    users: dict[str, set[str]] = {}
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise wrong(TOOL, number, str(entry), "an entry is no mapping")
        user = _user(entry)
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
    return f"{name} (kernel)" if entry.get("type") in CONNECTED else None
