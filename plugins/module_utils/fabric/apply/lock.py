# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One lock for everything that changes a node: Ansible modules and the agent never work at the same time."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import Callable, Iterator

from ..errors import ApplyError

LOCK = "/run/railwright.lock"
WAIT_S = 30.0


@contextmanager
def locked(
    who: str, wait: float = WAIT_S, path: str = LOCK, sleep: Callable[[float], None] = time.sleep
) -> Iterator[None]:
    """Hold the lock as ``who``; the kernel frees it when the process ends, however it ends.

    :raises ApplyError: when somebody else still holds it after ``wait`` seconds, naming the holder, or without right
        to take it.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ApplyError(
            f"the lock cannot be taken: {error.strerror}", path, None, "Run as root (become: true)"
        ) from None
    try:
        left = wait
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if left <= 0:
                    holder = os.pread(handle, 200, 0).decode("utf-8", "replace").strip() or "another process"
                    raise ApplyError(
                        "Railwright is at work on this node already", path, holder, "Let it finish, then try again"
                    ) from None
            pause = min(0.2, left)
            sleep(pause)
            left -= pause
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{who}, process {os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
