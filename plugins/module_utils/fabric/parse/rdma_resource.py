# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``rdma -j resource show qp`` to who uses which RDMA device."""

from __future__ import annotations

import json

from ..errors import ParseError


def parse_users(text: str) -> dict[str, tuple[str, ...]]:
    """Processes that hold queue pairs, for each RDMA device that has any, as ``name (pid)``.

    The kernel's own queue pairs (general services, NVMe-oF) have no process id and are not listed
    (drivers/infiniband/core/nldev.c, fill_res_name_pid).

    :raises ParseError: when the text is not the tool's JSON.
    """
    try:
        entries = json.loads(text or "[]")
        users: dict[str, set[str]] = {}
        for entry in entries:
            if "pid" in entry:
                users.setdefault(entry["ifname"], set()).add(f"{entry.get('comm', 'process')} ({entry['pid']})")
    except (ValueError, TypeError, KeyError) as error:
        raise ParseError(f"not the JSON of a resource list: {error}", "rdma resource:1", text[:80]) from None
    return {device: tuple(sorted(names)) for device, names in sorted(users.items())}
