# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The memlock limit: in ``limits.conf(5)`` files, and as ``ulimit -a`` prints it."""

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
