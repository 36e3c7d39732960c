"""One lab at a time: a lock that lives exactly as long as the lab's processes."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import LabError


@dataclass(frozen=True)
class Holder:
    """Who holds the lab: the process that started it, since when, from which checkout."""

    pid: int
    since: str
    checkout: str

    def __str__(self) -> str:
        return f"pid {self.pid} since {self.since}, checkout {self.checkout}"


def private_directory(path: Path) -> None:
    """Create ``path`` with mode 0700, or check that it is ours. Raises LabError."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"cannot create {path}: {error}") from error
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise LabError(f"{path} belongs to somebody else: choose another one with LAB_RUNTIME")
    path.chmod(0o700)


class Lock:
    """An flock on ``path``; every process that inherits the descriptor keeps it held."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd = -1

    def acquire(self, checkout: Path) -> Holder | None:
        """Take the lock and return None, or return who holds it."""
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(fd)
                return self.holder()
            if self._still_there(fd):
                break
            os.close(fd)
        self.fd = fd
        holder = Holder(os.getpid(), time.strftime("%Y-%m-%d %H:%M:%S"), str(checkout))
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(asdict(holder)).encode(), 0)
        return None

    def _still_there(self, fd: int) -> bool:
        # `down` removes the file: a lock on the removed one would exclude nobody.
        try:
            return os.path.samestat(os.fstat(fd), self.path.stat())
        except FileNotFoundError:
            return False

    def holder(self) -> Holder:
        """Who wrote the lock file last."""
        try:
            return Holder(**json.loads(self.path.read_text()))
        except (OSError, ValueError, TypeError):
            return Holder(0, "just now", "unknown")

    def held(self) -> Holder | None:
        """Who holds the lock, None where nobody does."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return self.holder()
        finally:
            os.close(fd)
        return None

    def remove(self) -> None:
        """Give the lock up and remove its file."""
        self.path.unlink(missing_ok=True)
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
