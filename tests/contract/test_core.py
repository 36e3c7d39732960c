# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What the core and the modules on a node may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract import checks

ROOT = Path(__file__).resolve().parents[2]
MODULES = checks.python_files(ROOT, checks.MODULES)


def test_core_imports_the_standard_library_and_itself_only():
    assert checks.python_files(ROOT, checks.CORE)
    assert checks.core_imports(ROOT) == []


def test_node_side_code_is_python_39():
    assert checks.node_syntax(ROOT) == []


def test_modules_import_basic_and_the_core_only():
    assert checks.module_imports(ROOT) == []


def test_there_are_modules():
    assert MODULES, "plugins/modules holds no module"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module_documentation_is_its_argument_spec(path):
    assert checks.module_docs(ROOT, path) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module_is_named_by_a_test(path):
    assert checks.named_by_a_test(ROOT, path.stem)
