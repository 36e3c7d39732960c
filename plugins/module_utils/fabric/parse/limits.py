# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The memlock limit: in ``limits.conf(5)`` files, in ``/proc/<pid>/limits``, and as ``ulimit -a`` prints it."""

from __future__ import annotations

import re
from typing import Iterable, Optional

from ..errors import ParseError

UNLIMITED = "unlimited"
# Compiled when it is used: a health check reads files.
_ULIMIT = r"max locked memory +\((?:kbytes|\d+-byte blocks), -l\) +(unlimited|\d+)"


def hard_memlock(files: Iterable[tuple[str, str]]) -> Optional[str]:
    """The hard limit for everybody (domain ``*``) after all ``(path, text)`` in their order: the last one wins.

    :returns: ``unlimited``, kbytes as digits, or ``None`` when no file sets it.
    """
    found = None
    for path, text in files:
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if len(words) < 4 or words[0] != "*" or words[1] not in ("hard", "-") or words[2] != "memlock":
                continue
            if words[3] in ("unlimited", "infinity", "-1"):
                found = UNLIMITED
            elif words[3].isascii() and words[3].isdigit():
                found = words[3]
            else:
                raise ParseError("no memlock limit", f"{path}:{number}", line.strip()[:80])
    return found


def ulimit_memlock(text: str) -> str:
    """The limit in ``ulimit -a``: ``unlimited``, or kbytes as digits."""
    match = re.search(_ULIMIT, text)
    if match is None:
        raise ParseError("no line 'max locked memory'", "ulimit:1", text.strip()[:80])
    return match.group(1)


def process_memlock(text: str) -> int:
    """The soft limit of a process, which its children inherit, in bytes; -1 for none (proc(5))."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("Max locked memory "):
            words = line.split()[3:]
            if len(words) == 3 and words[2] == "bytes":
                if words[0] == UNLIMITED:
                    return -1
                if words[0].isascii() and words[0].isdigit():
                    return int(words[0])
            raise ParseError("no limit of locked memory", f"limits:{number}", line.strip()[:80])
    raise ParseError("no line 'Max locked memory'", "limits:1", text.strip()[:80])
