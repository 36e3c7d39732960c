# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The tree as a whole: a clone must work on any machine."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from tests.contract import checks

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def files():
    return checks.tracked(ROOT)


def test_no_file_names_a_machine(files):
    assert checks.machine_paths(ROOT, files) == []


def test_no_python_file_is_too_large(files):
    assert checks.large_files(ROOT, files) == []


def test_the_five_links():
    assert checks.collection_links(ROOT) == []


def test_used_collections_are_declared():
    assert checks.third_party(ROOT) == []


def test_own_roles_are_called_by_full_name():
    assert checks.short_names(ROOT) == []


def test_ansible_cfg_is_the_house_one():
    config = configparser.RawConfigParser()
    config.read(ROOT / "ansible.cfg")
    assert config["defaults"]["collections_path"] == "collections"
    assert config["defaults"]["inject_facts_as_vars"] == "false"
    assert config["defaults"]["inventory"] == "inventories/lab"
    assert config["connection"]["pipelining"] == "true"


def test_site_imports_and_nothing_else():
    plays = checks.load_yaml(ROOT / "site.yml")
    assert plays
    for play in plays:
        assert set(play) <= {"name", "ansible.builtin.import_playbook", "tags", "when", "vars"}, play


def test_a_rebuilt_requirements_file_holds_what_the_image_needs():
    image = checks.load_yaml(ROOT / "execution-environment.yml")
    needed = {line.partition(">=")[0] for line in image["dependencies"]["python"]}
    offered = {line.partition(">=")[0] for line in (ROOT / "requirements.txt").read_text().splitlines()}
    assert needed <= offered
