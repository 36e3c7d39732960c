# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Files as steps: what a planner says about a file that it wants whole."""

from __future__ import annotations

from typing import Mapping, Optional

from ..errors import MissingError
from ..model.plan import Step, WriteFile
from ..ports import Port

Files = Mapping[str, Optional[str]]


def read_files(port: Port, paths: tuple[str, ...]) -> dict[str, Optional[str]]:
    """The text of every path, ``None`` where there is no such file.

    :raises ReadError: when a file is there and cannot be read.
    """
    return {path: _read(port, path) for path in paths}


def file_step(files: Files, file: WriteFile, subject: str, setting: str, after: str) -> Optional[Step]:
    """The step that writes ``file`` where it differs, or ``None``; ``after`` is its content in words."""
    have = files.get(file.path)
    if have == file.text:
        return None
    before = "" if have is None else f"another content ({changed_lines(have, str(file.text))})"
    return Step(subject, setting, before, after, (file,))


def _read(port: Port, path: str) -> Optional[str]:
    try:
        return port.read(path)
    except MissingError:
        return None


def changed_lines(have: str, want: str) -> str:
    """What differs, as the lines that go and come: ``-MTUBytes=9000 +MTUBytes=4200``."""
    old, new = have.splitlines(), want.splitlines()
    gone = [f"-{line}" for line in old if line not in new]
    come = [f"+{line}" for line in new if line not in old]
    return " ".join(gone + come) or "order of lines"
