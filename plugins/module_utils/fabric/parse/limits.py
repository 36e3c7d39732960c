# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The memlock limit: in ``limits.conf(5)`` files, in ``/proc/<pid>/limits``, and as ``ulimit -a`` prints it."""

from __future__ import annotations

import re
from typing import Iterable, Optional

from ..errors import ParseError
from .text import is_number

UNLIMITED = "unlimited"
# Compiled when it is used: a health check reads files.
_ULIMIT = r"(?m)^max locked memory +\((?:kbytes|([0-9]{1,20})-byte blocks), -l\) +(unlimited|[0-9]{1,20})[ \t\r]*$"


def session_memlock(files: Iterable[tuple[str, str]]) -> Optional[str]:
    """What a session of everybody (domain ``*``) may lock after all ``(path, text)`` in their order: the last one wins.

    That is the soft limit: nothing raises it to the hard one by itself, and the hard one only bounds it.

    :returns: ``unlimited``, kbytes as digits, or ``None`` when no file sets the soft limit.
    """
    found: dict[str, str] = {}
    for path, text in files:
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if len(words) < 4 or words[0] != "*" or words[1] not in ("soft", "hard", "-") or words[2] != "memlock":
                continue
            if words[3] in ("unlimited", "infinity", "-1"):
                limit = UNLIMITED
            elif is_number(words[3]):
                limit = words[3]
            else:
                raise ParseError("no memlock limit", f"{path}:{number}", line.strip()[:80])
            found.update(dict.fromkeys(("soft", "hard") if words[1] == "-" else (words[1],), limit))
    soft, hard = found.get("soft"), found.get("hard", UNLIMITED)
    if soft is None or hard == UNLIMITED:
        return soft
    return hard if soft == UNLIMITED else min(soft, hard, key=int)


def ulimit_memlock(text: str) -> str:
    """The limit in ``ulimit -a``: ``unlimited``, or kbytes as digits."""
    found = re.findall(_ULIMIT, text)
    if len(found) != 1 or text.count("max locked memory") != 1:
        raise ParseError("not one line 'max locked memory'", "ulimit:1", text.strip()[:80])
    block, limit = found[0]
    return limit if limit == UNLIMITED or not block else str(int(limit) * int(block) // 1024)


def process_memlock(text: str) -> int:
    """The soft limit of a process, which its children inherit, in bytes; -1 for none (proc(5))."""
    if text.count("Max locked memory") > 1:
        raise ParseError("limits of more than one process", "limits:1", text.strip()[:80])
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("Max locked memory "):
            words = line.split()[3:]
            if len(words) == 3 and words[2] == "bytes":
                if words[0] == UNLIMITED:
                    return -1
                if is_number(words[0]):
                    return int(words[0])
            raise ParseError("no limit of locked memory", f"limits:{number}", line.strip()[:80])
    raise ParseError("no line 'Max locked memory'", "limits:1", text.strip()[:80])
