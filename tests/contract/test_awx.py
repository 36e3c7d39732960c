# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""AWX as code: what it names exists, what it passes is known, and a job's environment finds the project's roles."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract import checks
from tools import awx_job

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}


def awx_vars():
    merged = {}
    for path in sorted((ROOT / "awx/vars").glob("*.yml")):
        merged.update(checks.load_yaml(path))
    return merged


def command(*argv):
    return subprocess.run(
        [BIN / argv[0], *argv[1:]], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def test_playbook_passes_the_syntax_check():
    done = command("ansible-playbook", "-i", "localhost,", "--syntax-check", "awx/configure.yml")
    assert done.returncode == 0, done.stderr


def test_modules_know_the_options():
    (play,) = checks.load_yaml(ROOT / "awx/configure.yml")
    used = {key: value for task in play["tasks"] for key, value in task.items() if key.startswith("awx.awx.")}
    documents = json.loads(command("ansible-doc", "-t", "module", "--json", *used).stdout)
    for module, options in used.items():
        assert set(options) <= set(documents[module]["doc"]["options"]), module


def test_playbooks_and_inventories_exist():
    data = awx_vars()
    names = {item["name"] for item in data["awx_inventories"]}
    for template in data["awx_job_templates"]:
        assert (ROOT / template["playbook"]).is_file(), template["playbook"]
        assert template["inventory"] in names
    for inventory in data["awx_inventories"]:
        assert (ROOT / inventory["source_path"]).is_dir(), inventory["source_path"]


def test_survey_variables_exist():
    known = set()
    for role in checks.roles(ROOT):
        specs = checks.load_yaml(role / "meta/argument_specs.yml")["argument_specs"]
        known |= {name for entry in specs.values() for name in entry.get("options") or {}}
    for template in awx_vars()["awx_job_templates"]:
        for question in template["survey_spec"]["spec"]:
            assert question["variable"] in known, question["variable"]


@pytest.mark.parametrize("playbook", [item["playbook"] for item in awx_vars()["awx_job_templates"]])
def test_a_job_finds_everything(tmp_path, playbook):
    """Under ansible-runner, in a copy of the project, with AWX's environment and working directory."""
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("all: {hosts: {node1: {}}, children: {gpu_nodes: {hosts: {node1: {}}}}}\n", encoding="utf-8")
    done = awx_job.run(tmp_path / "runner", playbook, hosts, arguments="--syntax-check")
    assert done.rc == 0, (tmp_path / "runner/artifacts/1/stdout").read_text()


def test_an_environment_without_the_project_would_be_seen(tmp_path, monkeypatch):
    """The control: with the project's part of the collections path gone, the same job fails."""
    monkeypatch.setattr(awx_job, "COLLECTIONS", "requirements_collections:~/.ansible/collections")
    project = tmp_path / "project.yml"
    project.write_text("- hosts: all\n  tasks:\n    - ansible.builtin.import_role: {name: railwright.fabric.none}\n")
    monkeypatch.setattr(
        awx_job,
        "copy_project",
        lambda target, root=ROOT: (
            target.mkdir(parents=True),
            (target / "site.yml").write_text(project.read_text()),
            target,
        )[-1],
    )
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("all: {hosts: {node1: {}}}\n", encoding="utf-8")
    assert awx_job.run(tmp_path / "runner", "site.yml", hosts, arguments="--syntax-check").rc != 0


def test_execution_environment_renders(tmp_path):
    done = command("ansible-builder", "create", "-f", "execution-environment.yml", "-c", str(tmp_path / "context"))
    assert done.returncode == 0, done.stdout + done.stderr
    containerfile = next((tmp_path / "context").glob("*file")).read_text()
    assert "ansible-core" in containerfile
    wanted = checks.load_yaml(tmp_path / "context/_build/requirements.yml")
    assert wanted == checks.load_yaml(ROOT / "requirements.yml")
