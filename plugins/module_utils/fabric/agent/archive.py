# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The agent's file: a zip archive that the interpreter runs (PEP 441), with byte code for the node's own interpreter.

Byte code makes ``railwright check`` start in a fraction of the time. It carries "unchecked hash" headers (PEP 552), so
that it does not depend on timestamps; an interpreter with another magic number skips it and compiles the source beside
it, as zipimport always did.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import marshal
import sys
import zipfile
from dataclasses import dataclass
from typing import Mapping, Optional

PACKAGE = "railwright"
MAIN = f"from {PACKAGE}.agent.main import run\n\nrun()\n"
# The end-of-central-directory record without its comment (APPNOTE.TXT 4.3.16).
_END = 22
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Build:
    """Of which sources (their digest) and for which interpreter an archive was built, and whether it is as built."""

    digest: str
    python: str
    intact: bool = True

    def __str__(self) -> str:
        return f"build {self.digest[:12]} for {self.python}" + ("" if self.intact else ", damaged")


def interpreter() -> str:
    """This interpreter, as the archive's first line and its byte code depend on it."""
    return f"{sys.executable} ({sys.implementation.cache_tag})"


def pack_sources(sources: Mapping[str, str]) -> bytes:
    """A zip of source files (path below the core -> text); the same bytes for the same sources, anywhere."""
    return _pack({path: text.encode() for path, text in sources.items()}, b"", b"")


def digest(data: bytes) -> str:
    """The digest by which packed sources are known."""
    return hashlib.sha256(data).hexdigest()


def build(packed: bytes) -> bytes:
    """The agent's file for this interpreter, from what :func:`pack_sources` packed."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        sources = {f"{PACKAGE}/{name}": archive.read(name) for name in archive.namelist()}
    sources["__main__.py"] = MAIN.encode()
    members = dict(sources)
    for name, source in sources.items():
        code = compile(source, name, "exec", dont_inherit=True)
        # Flags 1: by hash, and not to be checked (PEP 552).
        header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source)
        members[f"{name}c"] = header + marshal.dumps(code)
    # -I and -S: neither the environment nor site-packages can change what runs, and the start is quicker.
    shebang = f"#!{sys.executable} -IS\n".encode()
    return _pack(members, shebang, f"{digest(packed)} {interpreter()}".encode())


def inspect(data: bytes) -> Optional[Build]:
    """What an installed file is a build of; ``None`` when it is none of ours."""
    start = data.rfind(b"PK\x05\x06")
    comment = data[start + _END :]
    words = comment.decode("utf-8", "replace").split(" ", 2)
    if start < 0 or len(words) != 3 or int.from_bytes(data[start + _END - 2 : start + _END], "little") != len(comment):
        return None
    body, sources, python = words
    return Build(sources, python, body == digest(data[: start + _END - 2]))


def _pack(members: Mapping[str, bytes], prefix: bytes, comment: bytes) -> bytes:
    """A stored (not compressed: loading is quicker) zip with sorted names, fixed times and modes.

    A comment, when there is one, is preceded by the digest of all that comes before its length, so that a damaged file
    is noticed.
    """
    stream = io.BytesIO()
    stream.write(prefix)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, members[name])
    data = stream.getvalue()
    if not comment:
        return data
    body = data[:-2]
    comment = digest(body).encode() + b" " + comment
    return body + len(comment).to_bytes(2, "little") + comment
