# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The collection as people install it: built, installed into an empty path, judged there by Ansible's own tests."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.contract import checks
from tools import artifact

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.artifact

SHIPPED = {
    "CHANGELOG.rst",
    "CONTRIBUTING.md",
    "FILES.json",
    "LICENSE",
    "MANIFEST.json",
    "README.md",
    "changelogs",
    "docs",
    "meta",
    "playbooks",
    "plugins",
    "roles",
    "schemas",
    "tests",
}
NEVER = ("__pycache__", ".venv", ".cache", ".git", ".pyc", ".retry", ".qcow2", ".img")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return artifact.build(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    return artifact.install(built, tmp_path_factory.mktemp("installed") / "empty")


def test_contents(built):
    with tarfile.open(built) as archive:
        members = archive.getmembers()
    names = [member.name for member in members]
    assert {name.partition("/")[0] for name in names} <= SHIPPED
    assert [name for name in names if any(word in name for word in NEVER)] == []
    assert {name.split("/")[1] for name in names if name.startswith("tests/")} <= {
        "conftest.py",
        "fixtures",
        "sanity",
        "unit",
    }
    assert [member.name for member in members if member.issym()] == []
    assert built.stat().st_size < 5_000_000


def test_every_source_is_shipped(installed):
    sources = {
        path.relative_to(ROOT)
        for below in ("plugins", "roles", "playbooks", "schemas")
        for path in (ROOT / below).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert [str(path) for path in sorted(sources) if not (installed / path).exists()] == []


def test_ansible_doc_reads_every_module(installed):
    environment = {"ANSIBLE_COLLECTIONS_PATH": str(installed.parents[2])}
    modules = [f"railwright.fabric.{path.stem}" for path in checks.python_files(ROOT, checks.MODULES)]
    assert modules
    done = artifact.run(
        "ansible-doc", "-t", "module", "--json", *modules, cwd=installed.parents[2], environment=environment
    )
    assert done.returncode == 0, done.stdout
    documents = json.loads(done.stdout[done.stdout.index("{") :])
    assert sorted(documents) == sorted(modules)
    for name, document in documents.items():
        assert Path(document["doc"]["filename"]).is_relative_to(installed), name


def test_sanity(installed):
    done = artifact.sanity(installed)
    said = [line for line in done.stdout.splitlines() if line.startswith(("ERROR", "FATAL"))]
    assert done.returncode == 0, "\n".join(said)


def test_units(installed):
    done = artifact.units(installed)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("where", ["plugins/module_utils/fabric/errors.py", "plugins/module_utils/fabric/version.py"])
def test_a_planted_syntax_error_is_found(installed, tmp_path, where):
    """The control: were the sanity run vacuous, this would pass it."""
    copy = tmp_path / "ansible_collections/railwright/fabric"
    shutil.copytree(installed, copy, ignore=shutil.ignore_patterns("output"))
    with (copy / where).open("a", encoding="utf-8") as handle:
        handle.write("def broken(:\n")
    done = artifact.sanity(copy, "compile")
    assert done.returncode != 0
    assert where in done.stdout


def test_a_planted_failing_test_is_found(installed, tmp_path):
    """The control for the units."""
    copy = tmp_path / "ansible_collections/railwright/fabric"
    shutil.copytree(installed, copy, ignore=shutil.ignore_patterns("output"))
    shutil.rmtree(copy / "tests/unit")
    planted = copy / "tests/unit/plugins/module_utils/test_planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text("def test_planted():\n    assert not 'planted'\n", encoding="utf-8")
    done = artifact.units(copy)
    assert done.returncode != 0
    assert "test_planted" in done.stdout
