# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Files as steps: what a planner says about a file that it wants whole."""

from __future__ import annotations

from typing import Dict, Mapping, Optional

from ..errors import MissingError
from ..model.plan import Step, WriteFile
from ..ports import Port

Files = Mapping[str, Optional[str]]


class NodeFiles(Dict[str, Optional[str]]):
    """Texts by path, ``None`` where there is no such file, and the permission bits of those that are there."""

    def __init__(self) -> None:
        super().__init__()
        self.modes: dict[str, int] = {}

    def add(self, port: Port, path: str) -> None:
        """Read one more."""
        try:
            self[path] = port.read(path)
            self.modes[path] = port.mode(path)
        except MissingError:
            self[path] = None


def read_files(port: Port, paths: tuple[str, ...]) -> NodeFiles:
    """Every path as it is.

    :raises ReadError: when a file is there and cannot be read.
    """
    found = NodeFiles()
    for path in paths:
        found.add(port, path)
    return found


def file_step(files: Files, file: WriteFile, subject: str, setting: str, after: str) -> Optional[Step]:
    """The step that writes ``file`` where it differs, or ``None``; ``after`` is its content in words.

    Its mode counts as well: NetworkManager passes over a profile that others may read, networkd one that it may not,
    and a dispatcher does not run what is not executable.
    """
    have = files.get(file.path)
    mode = files.modes.get(file.path, file.mode) if isinstance(files, NodeFiles) else file.mode
    if have != file.text:
        before = "" if have is None else f"another content ({changed_lines(have, str(file.text))})"
        return Step(subject, setting, before, after, (file,))
    if mode != file.mode:
        return Step(subject, setting, f"{after}, mode {mode:04o}", f"{after}, mode {file.mode:04o}", (file,))
    return None


def changed_lines(have: str, want: str) -> str:
    """What differs, as the lines that go and come: ``-MTUBytes=9000 +MTUBytes=4200``."""
    old, new = have.splitlines(), want.splitlines()
    gone = [f"-{line}" for line in old if line not in new]
    come = [f"+{line}" for line in new if line not in old]
    return " ".join(gone + come) or "order of lines"
