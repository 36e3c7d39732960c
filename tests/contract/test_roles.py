# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What every role promises."""

from __future__ import annotations

from pathlib import Path

import pytest

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
