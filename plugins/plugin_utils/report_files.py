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


def write(document: Document, folder: Path) -> None:
    """Write ``report.json`` and its views into a folder, which is made when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "report.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    _replace(folder / "report.html", report_html.render(document))
    _replace(folder / "junit.xml", report_junit.render(document))
    _replace(folder / "report.prom", report_prometheus.render(document))


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
    return document


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    # mkstemp makes it private; a report is for everybody whom the folder lets in.
    Path(name).chmod(0o644)
    Path(name).replace(path)
