# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What every role promises."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml

from tests.contract import checks

ROOT = Path(__file__).resolve().parents[2]
ROLES = checks.roles(ROOT)

each_role = pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)


def test_there_are_roles():
    assert ROLES, "roles/ holds no role"


@each_role
def test_defaults_equal_argument_specs(role):
    assert checks.role_arguments(role) == []


@each_role
def test_variables_carry_the_role_name(role):
    assert checks.role_prefixes(role) == []


@each_role
def test_main_is_a_table_of_contents(role):
    assert checks.role_size(role) == []


@each_role
def test_role_has_a_scenario(role):
    assert checks.role_scenario(ROOT, role) == []


def registered(tasks: list[dict[str, Any]]) -> Iterator[str]:
    """Results of each host's own tasks, in their order."""
    for task in tasks:
        if "register" in task and not task.get("run_once"):
            yield task["register"]
        for part in ("block", "rescue", "always"):
            yield from registered(task.get(part, []))


def test_the_report_knows_why_a_node_dropped_out_of_any_role():
    """The latest result first, as provision.yml has the roles, in the module's documentation and in its action."""
    (play,) = yaml.safe_load((ROOT / "playbooks/provision.yml").read_text(encoding="utf-8"))
    results: list[str] = []
    for task in play["tasks"]:
        included = task.get("ansible.builtin.import_role") or task.get("ansible.builtin.include_role")
        role, tasks = included["name"].rpartition(".")[2], included.get("tasks_from", "main.yml")
        results += registered(yaml.safe_load((ROOT / "roles" / role / "tasks" / tasks).read_text(encoding="utf-8")))
    assert "roce_qos_result" in results
    module = ast.parse((ROOT / "plugins/modules/fabric_report.py").read_text(encoding="utf-8"))
    (text,) = (
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "DOCUMENTATION"
    )
    assert yaml.safe_load(text)["options"]["earlier"]["default"] == results[::-1]
    action = (ROOT / "plugins/action/fabric_report.py").read_text(encoding="utf-8")
    listing = action[action.index('"earlier"') : action.index('"pairs"')]
    assert [name for name in listing.split('"') if name in results] == results[::-1]
