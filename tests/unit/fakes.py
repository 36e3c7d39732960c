# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A node in memory for transcript tests: a file tree, scripted tools, and a record of what was done to it."""

from __future__ import annotations

import posixpath
from typing import Callable, Optional, Sequence, Union

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import HungError, MissingError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import Completed

Reply = Union[str, tuple, Callable[["FakePort"], object], None]


class FakePort:
    """Implements ``ports.Port``.

    ``tools`` maps an argv (one string, words separated by spaces) or its first words to a reply: the output, a pair
    (exit code, output and error text), ``"hangs"``, or a function of the port that does something and returns one of
    these. A tool without a reply is not installed. ``links`` maps paths to what they resolve to. ``dcbs`` and
    ``pauses`` hold what the kernel answers by netdev (tests/unit/dcb.py). ``calls``, ``writes`` and ``removed`` record,
    in order; ``on_write`` may raise, as a full disk or a kill would.
    """

    def __init__(
        self, files: Optional[dict] = None, tools: Optional[dict] = None, links: Optional[dict] = None
    ) -> None:
        self.links: dict[str, str] = dict(links or {})
        self.files: dict[str, bytes] = {}
        for path, data in (files or {}).items():
            self.files[path] = data.encode() if isinstance(data, str) else data
        self.tools: dict[str, Reply] = dict(tools or {})
        self.modes: dict[str, int] = {}
        self.dcbs: dict[str, bytes] = {}
        self.pauses: dict[str, bytes] = {}
        self.calls: list[str] = []
        self.writes: list[str] = []
        self.removed: list[str] = []
        self.on_write: Callable[[str], None] = lambda path: None

    def forget(self) -> None:
        """Start recording anew."""
        self.calls.clear()
        self.writes.clear()
        self.removed.clear()

    @property
    def changes(self) -> list[str]:
        """Everything that may have changed the node: writes and removals, and calls that do not only read."""
        reading = ("dpkg-query", "rpm -q", "rdma -j", "ip -j", "uname", "ibv_devinfo", "lldpcli", "systemctl show")
        calls = [call for call in self.calls if not call.startswith(reading)]
        return [*self.writes, *self.removed, *calls]

    def run(self, argv: Sequence[str], timeout: float = 5.0, stdin: Optional[str] = None) -> Completed:
        line = " ".join(argv)
        self.calls.append(line)
        words = line.split(" ")
        for length in range(len(words), 0, -1):
            key = " ".join(words[:length])
            if key in self.tools:
                return self._reply(tuple(argv), line, self.tools[key])
        raise MissingError(f"{argv[0]} is not installed", line)

    def _reply(self, argv: tuple, line: str, reply: object) -> Completed:
        if callable(reply):
            reply = reply(self)
        if reply == "hangs":
            raise HungError(f"{argv[0]} did not return", line)
        rc, text = reply if isinstance(reply, tuple) else (0, reply or "")
        return Completed(argv, rc, "" if rc else text, text if rc else "")

    def read_bytes(self, path: str) -> bytes:
        if path not in self.files:
            raise MissingError("no such file", path)
        return self.files[path]

    def read(self, path: str) -> str:
        return self.read_bytes(path).decode("utf-8", "replace")

    def listdir(self, path: str) -> list:
        below = path.rstrip("/") + "/"
        names = {name[len(below) :].split("/")[0] for name in self.files if name.startswith(below)}
        if not names:
            raise MissingError("no such file", path)
        return sorted(names)

    def read_folder(self, path: str) -> dict:
        files = {name: f"{path}/{name}" for name in self.listdir(path)}
        return {name: self.read_bytes(file) for name, file in files.items() if file in self.files}

    def exists(self, path: str) -> bool:
        below = path.rstrip("/") + "/"
        return path in self.files or path in self.links or any(name.startswith(below) for name in self.files)

    def mode(self, path: str) -> int:
        self.read_bytes(path)
        return self.modes.get(path, 0o644)

    def realpath(self, path: str) -> str:
        if not self.exists(path):
            raise MissingError("no such file", path)
        return posixpath.normpath(self.links.get(path, path))

    def dcb(self, netdev: str) -> bytes:
        if netdev not in self.dcbs:
            raise MissingError("the driver has no such thing", f"DCB of {netdev}")
        return self.dcbs[netdev]

    def ethtool(self, netdev: str, request: bytes) -> bytes:
        if netdev not in self.pauses:
            raise MissingError("the driver has no such thing", f"ethtool of {netdev}")
        return self.pauses[netdev]

    def write(self, path: str, text: Union[str, bytes], mode: int = 0o644) -> None:
        self.on_write(path)
        self.writes.append(path)
        self.modes[path] = mode
        self.files[path] = text.encode() if isinstance(text, str) else text

    def remove(self, path: str) -> None:
        if self.files.pop(path, None) is not None:
            self.removed.append(path)
