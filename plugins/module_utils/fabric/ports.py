# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The one I/O port: how the core reads and changes a node. Everything else in the core is pure."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Optional, Protocol, Sequence, Union

from .errors import HungError, MissingError, ReadError
from .records import dataclass

if TYPE_CHECKING:
    import subprocess

TOOL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/mellanox/iproute2/sbin"
TIMEOUT_S = 5.0
READ_LIMIT = 16 * 1024 * 1024


@dataclass(frozen=True)
class Completed:
    """A tool that returned: exit code and both outputs, decoded as UTF-8 with replacement."""

    argv: tuple[str, ...]
    rc: int
    out: str
    err: str


class Port(Protocol):
    """What the core may do to a node.

    Paths are absolute on the node. ``run`` never uses a shell, forces the C locale and ends a tool after
    ``timeout`` seconds. Reading raises :class:`MissingError` or :class:`ReadError`; a tool that is absent raises
    :class:`MissingError`, one that hangs :class:`HungError`. A non-zero exit code is not an error.
    """

    def run(self, argv: Sequence[str], timeout: float = TIMEOUT_S, stdin: Optional[str] = None) -> Completed:
        """Run a tool; see the class."""

    def read(self, path: str) -> str:
        """Text of a file."""

    def read_bytes(self, path: str) -> bytes:
        """Bytes of a file."""

    def read_folder(self, path: str) -> dict[str, Union[bytes, ReadError]]:
        """Texts of the files directly in a directory, by name."""

    def listdir(self, path: str) -> list[str]:
        """Sorted names in a directory."""

    def exists(self, path: str) -> bool:
        """Whether the path, links followed, is there."""

    def realpath(self, path: str) -> str:
        """The path with links resolved."""

    def mode(self, path: str) -> int:
        """Permission bits of a file."""

    def dcb(self, netdev: str) -> bytes:
        """The kernel's reply to DCB_CMD_IEEE_GET for a netdev, a whole netlink message: parse/dcbnl.py reads it.

        :class:`MissingError` when the driver has no DCB.
        """

    def ethtool(self, netdev: str, request: bytes) -> bytes:
        """What ioctl SIOCETHTOOL makes of a structure of linux/ethtool.h, which begins with its command.

        The structure holds all the room that the answer needs. :class:`MissingError` when the driver lacks it.
        """

    def write(self, path: str, text: Union[str, bytes], mode: int = 0o644) -> None:
        """Write a file."""

    def remove(self, path: str) -> None:
        """Remove a file; one that is not there is no error."""


class _Tree:
    """Reading below a root directory; shared by live nodes and recorded trees."""

    def __init__(self, root: str = "/") -> None:
        self.root = root.rstrip("/")
        self._real = os.path.realpath(root).rstrip("/")

    def read(self, path: str) -> str:
        """Text of a file, at most ``READ_LIMIT`` bytes."""
        return self.read_bytes(path).decode("utf-8", "replace")

    def read_bytes(self, path: str) -> bytes:
        """A file as it is, at most ``READ_LIMIT`` bytes."""
        try:
            handle = os.open(self.root + path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                chunk = os.read(handle, 65536)
                # A sysfs file comes whole; a seq_file of /proc gives less than a page at a time, and has more to say.
                if len(chunk) < 4096 and not path.startswith("/proc/"):
                    return chunk
                parts = [chunk]
                size = len(chunk)
                while chunk and size < READ_LIMIT:
                    chunk = os.read(handle, 65536)
                    parts.append(chunk)
                    size += len(chunk)
                return b"".join(parts)
            finally:
                os.close(handle)
        except OSError as error:
            raise _read_error(path, error) from None

    def read_folder(self, path: str) -> dict[str, Union[bytes, ReadError]]:
        """Every file of a folder of sysfs, by name; one that cannot be read is its error.

        A GID table has a thousand files: opened below the folder's handle, they cost two thirds of what ``read`` does.
        """
        found: dict[str, Union[bytes, ReadError]] = {}
        try:
            folder = os.open(self.root + path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise _read_error(path, error) from None
        try:
            for name in os.listdir(folder):
                try:
                    handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK, dir_fd=folder)
                    try:
                        found[name] = os.read(handle, 4096)
                    finally:
                        os.close(handle)
                except OSError as error:  # noqa: PERF203 - one bad file must not hide the others
                    found[name] = _read_error(f"{path}/{name}", error)
        finally:
            os.close(folder)
        return found

    def listdir(self, path: str) -> list[str]:
        """Sorted names in a directory."""
        try:
            return sorted(os.listdir(self.root + path))
        except OSError as error:
            raise _read_error(path, error) from None

    def exists(self, path: str) -> bool:
        """Whether the path, links followed, is there."""
        return os.path.exists(self.root + path)

    def mode(self, path: str) -> int:
        """Permission bits of a file, links followed."""
        try:
            return os.stat(self.root + path).st_mode & 0o7777
        except OSError as error:
            raise _read_error(path, error) from None

    def realpath(self, path: str) -> str:
        """The path with links resolved, still as seen from the node's root.

        The kernel resolves them in one go (open(2): O_PATH; proc(5): fd); os.path.realpath asks for each part of a
        path, and a device below PCIe switches has a dozen.
        """
        try:
            handle = os.open(self.root + path, os.O_PATH)
            try:
                real = os.readlink(f"/proc/self/fd/{handle}")
            finally:
                os.close(handle)
        except OSError as error:
            raise _read_error(path, error) from None
        return real[len(self._real) :] or "/"


class LocalPort(_Tree):
    """This machine."""

    def run(self, argv: Sequence[str], timeout: float = TIMEOUT_S, stdin: Optional[str] = None) -> Completed:
        """See :class:`Port`. The tool runs in a session of its own, so that its children end with it."""
        import subprocess  # noqa: PLC0415 - large, and a recorded node runs nothing

        environment = {"PATH": TOOL_PATH, "LC_ALL": "C", "LANG": "C", "HOME": "/root"}
        place = " ".join(argv)
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except FileNotFoundError:
            raise MissingError(f"{argv[0]} is not installed", place) from None
        except OSError as error:
            raise ReadError(error.strerror or str(error), place) from None
        try:
            out, err = process.communicate(stdin.encode() if stdin is not None else None, timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            raise HungError(f"{argv[0]} did not return within {timeout:g} s", place) from None
        return Completed(
            tuple(argv), process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
        )

    def dcb(self, netdev: str) -> bytes:
        """See :class:`Port`."""
        from . import kernel  # noqa: PLC0415 - a recorded node asks no kernel

        return kernel.dcb(netdev)

    def ethtool(self, netdev: str, request: bytes) -> bytes:
        """See :class:`Port`."""
        from . import kernel  # noqa: PLC0415 - a recorded node asks no kernel

        return kernel.ethtool(netdev, request)

    def write(self, path: str, text: Union[str, bytes], mode: int = 0o644) -> None:
        """Write a file: atomically on a real file system, in place below /sys, /proc and debugfs."""
        data = text.encode() if isinstance(text, str) else text
        if path.startswith(("/sys/", "/proc/")):
            try:
                handle = os.open(path, os.O_WRONLY)
                try:
                    os.write(handle, data)
                finally:
                    os.close(handle)
            except OSError as error:
                raise _read_error(path, error) from None
            return
        import tempfile  # noqa: PLC0415 - large, and a check writes nothing

        folder = os.path.dirname(path)
        try:
            os.makedirs(folder, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".railwright-", dir=folder)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fchmod(stream.fileno(), mode)
                    os.fsync(stream.fileno())
                os.replace(name, path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            raise _read_error(path, error) from None

    def remove(self, path: str) -> None:
        """Remove a file; one that is not there is no error."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _read_error(path, error) from None


class RecordedPort(_Tree):
    """A recorded node: a directory that holds parts of its file system, ``commands.json`` and ``kernel.json``.

    ``commands.json`` is a list of ``{"argv": [...], "rc": 0, "out": "...", "err": "..."}``; an entry with
    ``"hangs": true`` never returned. A command that was not recorded counts as not installed. ``kernel.json`` holds
    what the kernel said of a netdev, ``{"dcb": {"eth0": "<hex>"}, "ethtool": {"eth0": {"18": "<hex>"}}}``, the latter
    by ethtool's command; a number instead of hex digits is the errno that it refused with, and what is not there is
    not supported. Writing is refused.
    """

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self._commands: dict[tuple[str, ...], dict[str, object]] = {}
        listing = os.path.join(root, "commands.json")
        if os.path.exists(listing):
            with open(listing, encoding="utf-8") as stream:
                for entry in json.load(stream):
                    self._commands[tuple(entry["argv"])] = entry
        self._kernel: dict[str, dict[str, Any]] = {}
        listing = os.path.join(root, "kernel.json")
        if os.path.exists(listing):
            with open(listing, encoding="utf-8") as stream:
                self._kernel = json.load(stream)

    def run(self, argv: Sequence[str], timeout: float = TIMEOUT_S, stdin: Optional[str] = None) -> Completed:
        """The recorded result of a command."""
        entry = self._commands.get(tuple(argv))
        place = " ".join(argv)
        if entry is None:
            raise MissingError(f"{argv[0]} is not in the recording", place)
        if entry.get("hangs"):
            raise HungError(f"{argv[0]} did not return within {timeout:g} s", place)
        rc = entry.get("rc", 0)
        return Completed(tuple(argv), int(str(rc)), str(entry.get("out", "")), str(entry.get("err", "")))

    def dcb(self, netdev: str) -> bytes:
        """The recorded reply."""
        return _recorded(f"DCB of {netdev}", self._kernel.get("dcb", {}).get(netdev))

    def ethtool(self, netdev: str, request: bytes) -> bytes:
        """The recorded answer to the request's command."""
        answers = self._kernel.get("ethtool", {}).get(netdev, {})
        return _recorded(f"ethtool of {netdev}", answers.get(str(int.from_bytes(request[:4], sys.byteorder))))

    def write(self, path: str, text: Union[str, bytes], mode: int = 0o644) -> None:
        """Refused: a recording does not change."""
        raise ReadError("a recorded node cannot be written", path)

    def remove(self, path: str) -> None:
        """Refused: a recording does not change."""
        raise ReadError("a recorded node cannot be written", path)


def _recorded(place: str, answer: Union[str, int, None]) -> bytes:
    if isinstance(answer, str):
        return bytes.fromhex(answer)
    if answer is None:
        raise MissingError("the driver has no such thing", place)
    raise ReadError(os.strerror(answer), place)


def _read_error(path: str, error: OSError) -> ReadError:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return MissingError("no such file", path)
    return ReadError(error.strerror or str(error), path)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a tool and its children; one that hangs inside the kernel is left behind rather than waited for."""
    import signal  # noqa: PLC0415 - rarely needed

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    deadline = time.monotonic() + 1.0
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
