"""Child processes: bounded runs, and finding what a lab has left running."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import LabError


def run(
    argv: Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: Path | None = None,
) -> str:
    """Run a command and return its standard output.

    ``timeout`` is in seconds. With ``log``, both streams go to that file and "" is returned.
    Raises LabError when the command is missing, fails or takes longer, with the end of its output.
    """
    try:
        if log is not None:
            with log.open("ab") as stream:
                done = subprocess.run(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    timeout=timeout,
                    env=env,
                    cwd=cwd,
                    check=False,
                )
            output, errors = b"", tail(log).encode()
        else:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                env=env,
                cwd=cwd,
                check=False,
            )
            output, errors = done.stdout, done.stderr
    except FileNotFoundError as error:
        raise LabError(f"{argv[0]} is not installed: run `python3 -m lab deps`") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{argv[0]} did not end within {timeout:.0f} s: {' '.join(argv)}") from error
    if done.returncode != 0:
        raise LabError(
            f"{argv[0]} failed with status {done.returncode}: {' '.join(argv)}\n"
            + errors.decode(errors="replace").strip()
        )
    return output.decode(errors="replace")


def tail(path: Path, lines: int = 25) -> str:
    """The last lines of a log, or "" where there is none."""
    try:
        data = path.read_bytes()[-32768:]
    except OSError:
        return ""
    return "\n".join(data.decode(errors="replace").replace("\r", "").splitlines()[-lines:])


def using(directory: Path) -> list[int]:
    """Process ids, other than our own, of this user whose arguments name ``directory``."""
    found = []
    needle = os.fsencode(directory) + b"/"
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            if entry.stat().st_uid != os.getuid():
                continue
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        # Only what the lab itself starts: a pager or an editor on a log is none of our business.
        ours = arguments[0].endswith(b"qemu-system-x86_64") or b"lab.leaf" in arguments
        if ours and any(needle in argument for argument in arguments):
            found.append(int(entry.name))
    return sorted(found)


def end(pids: Sequence[int], patience: float = 5.0) -> None:
    """Terminate processes, then kill those still there after ``patience`` seconds."""
    for number, wait in ((signal.SIGTERM, patience), (signal.SIGKILL, patience)):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        deadline = time.monotonic() + wait
        while any(alive(pid) for pid in pids):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        else:
            return
    raise LabError(f"processes {', '.join(map(str, pids))} cannot be ended")


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")
