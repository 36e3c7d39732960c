# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The agent's file: the same bytes for the same sources, it runs, and damage is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent import archive

CORE = Path(archive.__file__).resolve().parent.parent
SOURCES = {
    "agent/main.py": (
        "import sys\n\n\ndef run():\n    print(sys.argv[1], __spec__.cached or __file__)\n    raise SystemExit(3)\n"
    )
}


def install(path, data):
    path.write_bytes(data)
    path.chmod(0o755)
    return path


def test_packing_is_deterministic():
    more = {**SOURCES, "__init__.py": "", "agent/__init__.py": ""}
    assert archive.pack_sources(more) == archive.pack_sources(dict(reversed(list(more.items()))))


def test_build_runs_and_says_what_it_is(tmp_path):
    packed = archive.pack_sources({"__init__.py": "", "agent/__init__.py": "", **SOURCES})
    program = install(tmp_path / "railwright", archive.build(packed))
    done = subprocess.run([str(program), "hello"], capture_output=True, text=True, check=False, cwd="/")
    assert (done.returncode, done.stdout.split()[0]) == (3, "hello"), done.stderr
    assert archive.inspect(program.read_bytes()) == archive.Build(archive.digest(packed), archive.interpreter())
    assert program.read_bytes().startswith(f"#!{sys.executable} -IS\n".encode())


def test_byte_code_is_what_runs(tmp_path):
    """With a source that says otherwise beside it: an unchecked-hash file is taken as it is (PEP 552)."""
    built = archive.build(archive.pack_sources({"__init__.py": "", "agent/__init__.py": "", **SOURCES}))
    program = install(tmp_path / "railwright", built)
    with zipfile.ZipFile(program) as listing:
        names = listing.namelist()
        assert {"__main__.py", "__main__.pyc", "railwright/agent/main.py", "railwright/agent/main.pyc"} <= set(names)
        assert {info.date_time for info in listing.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert listing.read("railwright/agent/main.pyc")[4:8] == b"\x01\x00\x00\x00"
    install(program, built.replace(b"Exit(3)", b"Exit(4)"))
    assert subprocess.run([str(program), "x"], capture_output=True, check=False).returncode == 3


def test_another_interpreter_falls_back_to_the_source(tmp_path):
    import importlib.util

    built = archive.build(archive.pack_sources({"__init__.py": "", "agent/__init__.py": "", **SOURCES}))
    # Byte code of an interpreter that is no longer there, and a source that can be told from it.
    old = built.replace(importlib.util.MAGIC_NUMBER + b"\x01\x00\x00\x00", b"\x01\x02\r\n\x01\x00\x00\x00")
    program = install(tmp_path / "railwright", old.replace(b"Exit(3)", b"Exit(4)"))
    done = subprocess.run([str(program), "x"], capture_output=True, check=False)
    assert done.returncode == 4, done.stderr


def test_damage_is_noticed_wherever_it_is():
    packed = archive.pack_sources(SOURCES)
    data = archive.build(packed)
    wanted = archive.Build(archive.digest(packed), archive.interpreter())
    assert archive.inspect(data) == wanted
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1
        assert archive.inspect(bytes(damaged)) != wanted, place


@pytest.mark.parametrize("data", [b"", b"#!/bin/sh\nexit 0\n", b"PK\x05\x06" + 18 * b"\0"])
def test_files_of_others(data):
    assert archive.inspect(data) is None


def test_the_whole_core_runs(tmp_path):
    sources = {path.relative_to(CORE).as_posix(): path.read_text(encoding="utf-8") for path in CORE.rglob("*.py")}
    program = install(tmp_path / "railwright", archive.build(archive.pack_sources(sources)))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": "/nonexistent"}
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "railwright", "")
    done = subprocess.run([str(program), "frobnicate"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown command 'frobnicate'" in done.stderr
