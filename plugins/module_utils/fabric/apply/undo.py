# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Undo a change that nobody confirmed: a program of its own, which needs nothing but the standard library.

usage: undo.py [--after SECONDS] FOLDER

It is written beside its record before a change that could cut the node off, and a timer runs it, whatever has become
of the controller, of Ansible's process, and of the agent. ``FOLDER`` holds ``record.json``: the files as they were, and
the commands that make them effective again. What it did is in ``outcome.json``.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time
from typing import Any, Iterator, Optional

LOCK = "/run/railwright.lock"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
RECORD, CLAIMED, OUTCOME = "record.json", "undoing.json", "outcome.json"
# Whoever works on the node is waited for, but not for long: it may be what hangs.
LOCK_WAIT_S = 8.0
TOOL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def undo(folder: str, force: bool = False, lock: str = LOCK) -> Optional[dict[str, Any]]:
    """Undo what the record in ``folder`` holds, and return the outcome; ``None`` when nothing is due.

    :param force: also before the deadline, which another timer waits for.
    """
    record = _due(folder, force)
    if record is None:
        return None
    with _locked(lock):
        # It may have been confirmed, or given more time, while somebody else was at work.
        record = _due(folder, force)
        if record is None:
            return None
        os.replace(f"{folder}/{RECORD}", f"{folder}/{CLAIMED}")
        failed = _put_back(record["files"]) + _run(record["commands"])
        outcome = {key: record[key] for key in ("intent", "steps")}
        outcome["when"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        outcome["why"] = "it was not confirmed in time"
        outcome["failed"] = failed
        _write(f"{folder}/{OUTCOME}", json.dumps(outcome).encode(), 0o600)
        os.unlink(f"{folder}/{CLAIMED}")
    return outcome


def _due(folder: str, force: bool) -> Optional[dict[str, Any]]:
    try:
        with open(f"{folder}/{RECORD}", encoding="utf-8") as stream:
            record: dict[str, Any] = json.load(stream)
        with open(BOOT_ID, encoding="utf-8") as stream:
            boot = stream.read().strip()
    except (OSError, ValueError):
        return None
    # The clock of the deadline starts anew with every boot (clock_gettime(2), CLOCK_MONOTONIC).
    early = record["boot"] == boot and time.monotonic() < record["deadline"] - 0.5
    return None if early and not force else record


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + LOCK_WAIT_S
        while time.monotonic() < end:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.1)
        yield
    finally:
        os.close(handle)


def _put_back(files: dict[str, Any]) -> list[str]:
    return [failed for failed in map(_put_back_one, files, files.values()) if failed]


def _put_back_one(path: str, backup: Optional[dict[str, Any]]) -> str:
    try:
        if backup is not None:
            _write(path, base64.b64decode(backup["data"]), backup["mode"])
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return ""


def _write(path: str, data: bytes, mode: int) -> None:
    if path.startswith(("/proc/", "/sys/")):
        with open(path, "wb", buffering=0) as stream:
            stream.write(data)
        return
    beside = f"{path}.railwright-undo"
    with open(beside, "wb") as stream:
        os.fchmod(stream.fileno(), mode)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(beside, path)


def _run(commands: list[dict[str, Any]]) -> list[str]:
    failed = []
    for command in commands:
        words = " ".join(command["argv"])
        try:
            done = subprocess.run(
                command["argv"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={"PATH": TOOL_PATH, "LC_ALL": "C", "HOME": "/root"},
                timeout=min(command["timeout"], 10.0),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            failed.append(f"{words}: {error}")
            continue
        if done.returncode not in command["allowed"]:
            said = done.stdout.decode("utf-8", "replace").strip()
            failed.append(f"{words}: exit code {done.returncode}: {said[:200]}")
    return failed


def _later(seconds: float) -> None:
    """Go on in a process of its own after a while; the caller's process ends at once."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(quiet, number)
    time.sleep(seconds)


def main(words: list[str]) -> int:
    """See the module."""
    if words[0] == "--after":
        _later(float(words[1]))
        words = words[2:]
    outcome = undo(words[0])
    if outcome is not None:
        sys.stdout.write(f"undone, because {outcome['why']}: {'; '.join(outcome['steps'])}\n")
        sys.stdout.write("".join(f"failed: {line}\n" for line in outcome["failed"]))
    return 1 if outcome is not None and outcome["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
