# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of a report: the document and its views, each replaced as a whole."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from ..module_utils.fabric.errors import ParseError
from . import report_html, report_junit, report_prometheus
from .report_common import Document

SCHEMA = 1
# json.dumps would make an encoder for each of a quarter of a million pairs.
_line = json.JSONEncoder(ensure_ascii=False).encode
# Keys that came after the first version of the schema: an older document has none of them.
_HOST = {"hostname": None, "product": None, "unread": []}
_RAIL = {"link": None, "gid_index": [], "ports": []}


def write(document: Document, folder: Path) -> None:
    """Write ``report.json`` and its views into a folder, which is made when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "report.json", dump(document))
    _replace(folder / "report.html", report_html.render(document))
    _replace(folder / "junit.xml", report_junit.render(document))
    _replace(folder / "report.prom", report_prometheus.render(document))


def dump(document: Document) -> str:
    """JSON with one host, finding or pair a line: large documents stay quick, and grep and diff work on them."""
    parts = []
    for key, value in document.items():
        if value and isinstance(value, list):
            text = "[\n  " + ",\n  ".join(_line(item) for item in value) + "\n ]"
        elif value and key == "hosts":
            text = "{\n  " + ",\n  ".join(f"{_line(name)}: {_line(host)}" for name, host in value.items()) + "\n }"
        else:
            text = _line(value)
        parts.append(f" {_line(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read(path: Path) -> Document:
    """A document that an earlier run wrote.

    :raises ParseError: when it is not there, damaged, or of another schema.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParseError(error.strerror or str(error), str(path), remedy="Run verify.yml first") from None
    except ValueError as error:
        raise ParseError(f"the report is damaged: {error}", str(path)) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise ParseError("the report has a schema that this version does not know", str(path), str(schema))
    for host in document["hosts"].values():
        host.update({key: host.get(key, value) for key, value in _HOST.items()})
        for rail in host["rails"].values():
            rail.update({key: rail.get(key, value) for key, value in _RAIL.items()})
    return document


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    # mkstemp makes it private; a report is for everybody whom the folder lets in.
    Path(name).chmod(0o644)
    Path(name).replace(path)
