# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Write generated files beside hand-made ones: what a person may have edited is kept."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Mapping


def write_files(
    folder: Path, files: Mapping[str, str], overwrite: bool, check: bool, source: str = "discovered"
) -> dict[str, Any]:
    """Write texts by path below ``folder``; a file that is there and differs is kept unless ``overwrite``.

    :param source: where the texts come from, for the difference's heading.
    :returns: ``changed``, the paths ``written``, ``kept`` and ``same``, and ``diff`` of all that differ.
    """
    result: dict[str, Any] = {"changed": False, "written": [], "kept": [], "same": [], "diff": []}
    for name, text in sorted(files.items()):
        path = folder / name
        before = path.read_text(encoding="utf-8") if path.exists() else None
        if before == text:
            result["same"].append(str(path))
            continue
        header = {"before_header": str(path), "after_header": f"{path} ({source})"}
        result["diff"].append({"before": before or "", "after": text, **header})
        if before is not None and not overwrite:
            result["kept"].append(str(path))
            continue
        result["written"].append(str(path))
        result["changed"] = True
        if not check:
            _replace(path, text)
    return result


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        temporary = Path(name)
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
