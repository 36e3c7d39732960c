# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Schema, examples, rules and documents say the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract import checks
from tools import gen_docs

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "schemas/fabric_spec.schema.json"
SPECS = sorted(ROOT.glob("inventories/*/group_vars/all/fabric.yml"))


def rules():
    registry = gen_docs.registry(ROOT)
    assert registry, "fabric.verify.RULES is empty"
    return registry


def test_generated_documents_are_current():
    stale = gen_docs.stale(ROOT, gen_docs.documents(ROOT, gen_docs.registry(ROOT)))
    assert [str(path) for path in stale] == [], "run: make docs"


def test_there_are_example_specs():
    assert {path.parts[-4] for path in SPECS} >= {"lab", "example-roce-8rail", "example-ib-roce-storage"}


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parts[-4])
def test_example_spec_holds_the_schema(path):
    variables = checks.load_yaml(path)
    assert variables["fabric_spec"]["schema"] == 1
    assert checks.spec_errors(json.loads(SCHEMA.read_text(encoding="utf-8")), variables) == []


OTHERS = [path for path in sorted(ROOT.glob("inventories/*/*_vars/**/*.yml")) if path not in SPECS]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: str(path.relative_to(ROOT / "inventories")))
def test_example_variables_hold_the_schema(path):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    data = checks.load_yaml(path) or {}
    known = {key: value for key, value in data.items() if key in schema["properties"]}
    assert [key for key in data if key.startswith("fabric_") and key not in known] == [], "no such variable"
    required = {key: value for key, value in schema.items() if key != "required"}
    assert checks.spec_errors(required, known) == []


def test_schema_refuses_an_unknown_key():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert checks.spec_errors(schema, {"fabric_spec": {"no_such_key": 1}})


def test_every_rule_is_documented():
    text = (ROOT / "docs/reference/rules.md").read_text(encoding="utf-8")
    assert [name for name in rules() if f"## {name}\n" not in text] == []


def test_every_rule_has_a_test_that_fails_it(tmp_path):
    target = tmp_path / "marks.json"
    argv = [sys.executable, "-m", "pytest", "tests/unit", "--collect-only", "-q", f"--list-rules={target}"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert checks.rules_without(rules(), json.loads(target.read_text())) == []


def test_make_targets_in_documents_exist():
    assert checks.make_targets(ROOT) == []


def test_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_changelog_fragments_are_valid():
    assert sorted((ROOT / "changelogs/fragments").glob("*.yml")), "a change needs a fragment"
    done = subprocess.run(
        [Path(sys.executable).parent / "antsibull-changelog", "lint"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
