# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Each check sees a planted violation: a contract that cannot fail promises nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.contract import checks
from tools import gen_docs

ROOT = Path(__file__).resolve().parents[2]
FUTURE = "from __future__ import annotations\n"


def plant(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "line",
    [
        "import yaml",
        "from ansible.module_utils import basic",
        "from ansible_collections.x import y",
        "from .... import z",
        "def f():\n    import requests",
    ],
)
def test_core_imports(tmp_path, line):
    plant(tmp_path, f"{checks.CORE}/parse/tool.py", FUTURE + line + "\n")
    assert checks.core_imports(tmp_path)


def test_core_imports_accepts_the_library_and_itself(tmp_path):
    plant(tmp_path, f"{checks.CORE}/parse/tool.py", FUTURE + "import json\nfrom ..errors import E\nfrom . import x\n")
    assert checks.core_imports(tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: int | None): pass\n",
        FUTURE + "match 1:\n    case 1: pass\n",
        FUTURE + "@dataclass(frozen=True, slots=True)\nclass A: pass\n",
        FUTURE + "@dataclasses.dataclass(kw_only=True)\nclass A: pass\n",
    ],
)
def test_node_syntax(tmp_path, text):
    plant(tmp_path, f"{checks.CORE}/model/a.py", text)
    assert checks.node_syntax(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "from ansible.module_utils.six import text_type",
        "import requests",
        "from ..plugin_utils import x",
        "import yaml",
        "from ansible.errors import AnsibleError",
    ],
)
def test_module_imports(tmp_path, line):
    plant(tmp_path, f"{checks.MODULES}/thing.py", FUTURE + line + "\n")
    assert checks.module_imports(tmp_path)


MODULE = '''\
from __future__ import annotations
DOCUMENTATION = """
module: thing
short_description: A thing
attributes:
  check_mode: {{support: full}}
  diff_mode: {{support: none}}
options:
  path: {{type: path, required: true, description: x}}
  {extra_doc}
"""
EXAMPLES = """
- name: Do
  railwright.fabric.thing: {{path: /x}}
"""
RETURN = """
{returns}
"""
from ansible.module_utils.basic import AnsibleModule
def main():
    spec = {{"path": {{"type": "path", "required": True}}, {extra_code}}}
    AnsibleModule(argument_spec=spec, supports_check_mode={check})
'''
GOOD = {"extra_doc": "", "returns": "x: {}", "extra_code": "", "check": True}


@pytest.mark.parametrize(
    "change",
    [
        {"extra_doc": "more: {type: str, description: x}"},
        {"extra_code": '"more": {"type": "str"}'},
        {"extra_doc": "n: {type: int, default: 1, description: x}", "extra_code": '"n": {"type": "int", "default": 2}'},
        {"extra_doc": "n: {description: x, choices: [a]}", "extra_code": '"n": {"choices": ["a", "b"]}'},
        {"returns": "x: [unclosed"},
        {"check": False},
    ],
)
def test_module_docs(tmp_path, change):
    pytest.importorskip("ansible.module_utils.basic")
    good = plant(tmp_path, f"{checks.MODULES}/thing.py", MODULE.format(**GOOD))
    assert checks.module_docs(tmp_path, good) == []
    bad = plant(tmp_path, f"{checks.MODULES}/thing.py", MODULE.format(**{**GOOD, **change}))
    assert checks.module_docs(tmp_path, bad)


ACTION = """
class ActionModule(ActionBase):
    _supports_check_mode = True
    def run(self):
        self.validate_argument_spec({"path": {"type": "path", "required": True}%s})
"""


def test_module_docs_of_an_action(tmp_path):
    text = MODULE.format(**GOOD).partition("from ansible.module_utils.basic")[0]
    module = plant(tmp_path, f"{checks.MODULES}/thing.py", text)
    plant(tmp_path, "plugins/action/thing.py", ACTION % "")
    assert checks.module_docs(tmp_path, module) == []
    plant(tmp_path, "plugins/action/thing.py", ACTION % ', "more": {}')
    assert checks.module_docs(tmp_path, module)
    plant(tmp_path, "plugins/action/thing.py", ACTION.replace("_mode = True", "_mode = False") % "")
    assert checks.module_docs(tmp_path, module)


def role(root, options="", defaults="", tasks="[]"):
    specs = "argument_specs:\n  main:\n    short_description: A role.\n    options:\n" + options
    plant(root, "roles/some_role/meta/argument_specs.yml", specs)
    plant(root, "roles/some_role/defaults/main.yml", "---\n" + defaults)
    plant(root, "roles/some_role/tasks/main.yml", tasks)
    return root / "roles/some_role"


OPTION = "      some_role_mtu: {type: int, default: 9000, description: Octets.}\n"


def test_role_arguments(tmp_path):
    assert checks.role_arguments(role(tmp_path, OPTION, "some_role_mtu: 9000\n")) == []
    assert checks.role_arguments(role(tmp_path, OPTION, "some_role_mtu: 1500\n"))
    assert checks.role_arguments(role(tmp_path, OPTION, ""))
    assert checks.role_arguments(role(tmp_path, "", "some_role_mtu: 1500\n"))
    assert checks.role_arguments(role(tmp_path, "      some_role_mtu: {type: int, default: 1}\n", "some_role_mtu: 1\n"))
    assert checks.role_arguments(tmp_path / "roles/none")


@pytest.mark.parametrize(
    "tasks",
    [
        "- {name: A, ansible.builtin.command: x, register: result}",
        "- {name: A, ansible.builtin.set_fact: {mtu: 1}}",
        "- {block: [{name: A, ansible.builtin.command: x, loop: [], loop_control: {loop_var: entry}}]}",
    ],
)
def test_role_prefixes(tmp_path, tasks):
    assert checks.role_prefixes(role(tmp_path, OPTION, "some_role_mtu: 9000\n")) == []
    assert checks.role_prefixes(role(tmp_path, OPTION, "mtu: 9000\n"))
    assert checks.role_prefixes(role(tmp_path, OPTION, "", tasks))


def test_role_size_and_scenario(tmp_path):
    path = role(tmp_path, tasks="- name: A\n" * (checks.ROLE_LINES + 1))
    assert checks.role_size(path)
    assert checks.role_scenario(tmp_path, path)
    plant(tmp_path, "extensions/molecule/some_role/molecule.yml", "---\n")
    assert checks.role_scenario(tmp_path, path) == []


def test_machine_paths(tmp_path):
    for line in ("/home/alice/x", "/Users/bob", "https://pypi.example/simple", "https://deb.example/debian"):
        assert checks.machine_paths(tmp_path, [plant(tmp_path, "a.txt", line)]), line
    for line in ("/etc/railwright/intent.json", "network/work/x", "/sys/class/infiniband"):
        assert checks.machine_paths(tmp_path, [plant(tmp_path, "a.txt", line)]) == [], line


def test_large_files(tmp_path):
    assert checks.large_files(tmp_path, [plant(tmp_path, "a.py", "#" * (checks.FILE_BYTES + 1))])


def test_collection_links(tmp_path):
    folder = tmp_path / "collections/ansible_collections/railwright/fabric"
    folder.mkdir(parents=True)
    assert len(checks.collection_links(tmp_path)) == 5
    for name in checks.OWN_LINKS:
        (folder / name).symlink_to(f"../../../../{name}")
    assert checks.collection_links(tmp_path) == []
    (folder / "tests").symlink_to("../../../../tests")
    assert checks.collection_links(tmp_path)


def test_make_targets(tmp_path):
    plant(tmp_path, "Makefile", "demo: ## the demo\n\ttrue\nhidden:\n\ttrue\n")
    plant(tmp_path, "README.md", "Run `make demo`, then `make tea`.\n")
    assert checks.make_targets(tmp_path) == ["not in the help: hidden", "README.md: make tea: no such target"]


def test_third_party_and_short_names(tmp_path):
    plant(tmp_path, "requirements.yml", "collections: [{name: ansible.posix}]\n")
    plant(tmp_path, "galaxy.yml", "dependencies: {}\n")
    plant(tmp_path, "roles/some_role/tasks/main.yml", "- name: A\n  ansible.posix.sysctl:\n    name: x\n")
    assert any("no dependency" in line for line in checks.third_party(tmp_path))
    plant(tmp_path, "roles/some_role/tasks/main.yml", "- name: A\n  other.thing.sysctl:\n    name: x\n")
    assert any("no requirements" in line for line in checks.third_party(tmp_path))
    plant(tmp_path, "playbooks/p.yml", "- hosts: all\n  roles:\n    - role: some_role\n")
    assert checks.short_names(tmp_path)


def test_stale_documents(tmp_path):
    role(tmp_path, OPTION, "some_role_mtu: 9000\n")
    wanted = gen_docs.documents(tmp_path, {"link.down": SimpleNamespace(title="T", severity="fail", doc="D")})
    stale = [str(path) for path in gen_docs.stale(tmp_path, wanted)]
    assert stale == ["roles/some_role/README.md", "docs/reference/rules.md"]
    assert "| `some_role_mtu` | int | `9000` | Octets. |" in wanted[Path("roles/some_role/README.md")]
    assert "## link.down" in wanted[Path("docs/reference/rules.md")]


def test_rules_without_a_test():
    marks = [
        {"test": "t", "rule": "a", "state": "fail"},
        {"test": "t", "rule": "b", "state": "pass"},
        {"test": "t", "rule": "gone", "state": "fail"},
    ]
    assert len(checks.rules_without({"a": 1, "b": 1}, marks)) == 2


def test_spec_errors():
    schema = {"type": "object", "additionalProperties": False, "properties": {"schema": {"const": 1}}}
    assert checks.spec_errors(schema, {"schema": 1}) == []
    assert checks.spec_errors(schema, {"schema": 2})
    assert checks.spec_errors(schema, {"shema": 1})


TEST = """
import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import Finding

@pytest.mark.rule("r", "fail")
def test_marked_truly():
    Finding(rule="r", state="fail", title="t")

@pytest.mark.rule("r", state="fail")
def test_marked_falsely():
    Finding(rule="r", state="pass", title="t")

def test_skipped():
    pytest.skip("because")

def test_listed():
    pytest.skip("as agreed")

def test_listed_for_another_reason():
    pytest.skip("because")
"""


def run_copy(tmp_path, environment):
    """The shared conftest on a small suite of its own."""
    plant(tmp_path, "conftest.py", (ROOT / "tests/conftest.py").read_text())
    plant(tmp_path, "allowed_skips.txt", "*::test_listed* | as agreed\n")
    plant(tmp_path, "test_a.py", TEST)
    plant(tmp_path, "pytest.ini", f"[pytest]\npythonpath = {ROOT}/collections\naddopts = -p no:cacheprovider\n")
    clean = {key: value for key, value in os.environ.items() if key not in {"CI", "RAILWRIGHT_TALLY"}}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**clean, **environment},
    ).stdout


def test_unlisted_skip_fails_in_ci_only(tmp_path):
    there = run_copy(tmp_path, {"CI": "true"})
    assert "FAILED test_a.py::test_skipped" in there
    assert "FAILED test_a.py::test_listed_for_another_reason" in there
    assert "1 skipped" in there
    here = run_copy(tmp_path, {})
    assert "test_skipped" not in [line.split("::")[-1] for line in here.splitlines() if line.startswith("FAILED")]
    assert "3 skipped" in here


def test_rule_mark_must_be_true(tmp_path):
    out = run_copy(tmp_path, {})
    assert "PASSED test_a.py::test_marked_truly" in out
    assert "ERROR test_a.py::test_marked_falsely" in out
