# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The house's promises about itself, each a function from a tree to the list of its violations.

A function takes the root of a tree, so that tests can show it a planted violation.
"""

from __future__ import annotations

import ast
import fnmatch
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

CORE = "plugins/module_utils/fabric"
MODULES = "plugins/modules"
ROLE_LINES = 60
FILE_BYTES = 40_000
OWN_LINKS = ("plugins", "roles", "playbooks", "meta", "galaxy.yml")


def load_yaml(path: Path) -> Any:
    """The one document of a YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def python_files(root: Path, below: str) -> list[Path]:
    """Python files below a folder, sorted."""
    return sorted((root / below).rglob("*.py"))


def imports(path: Path) -> list[tuple[int, int, str]]:
    """Line, level (0: absolute) and module of every import in a file, wherever it stands."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            found.extend((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, node.level, node.module or ""))
    return found


# --- the core and the modules --------------------------------------------------------------------------------------


def core_imports(root: Path) -> list[str]:
    """The core imports the standard library and, relatively, itself; never more dots than lead to its own top."""
    wrong = []
    for path in python_files(root, CORE):
        depth = len(path.relative_to(root / CORE).parts)
        for line, level, name in imports(path):
            where = f"{path.relative_to(root)}:{line}"
            if level > depth:
                wrong.append(f"{where}: leaves the core: {'.' * level}{name}")
            if level == 0 and name.partition(".")[0] not in sys.stdlib_module_names:
                wrong.append(f"{where}: not the standard library, not relative: {name}")
    return wrong


def node_syntax(root: Path) -> list[str]:
    """Python 3.9 on nodes: the annotations import where there is code, no match, slots, kw_only, except*."""
    wrong = []
    for path in [*python_files(root, CORE), *python_files(root, MODULES)]:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        where = path.relative_to(root)
        code = any(isinstance(node, ast.AnnAssign | ast.FunctionDef | ast.ClassDef) for node in ast.walk(tree))
        future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
        if code and not any(alias.name == "annotations" for node in future for alias in node.names):
            wrong.append(f"{where}: no 'from __future__ import annotations'")
        for node in ast.walk(tree):
            if isinstance(node, ast.Match):
                wrong.append(f"{where}:{node.lineno}: match needs Python 3.10")
            if isinstance(node, ast.TryStar):
                wrong.append(f"{where}:{node.lineno}: except* needs Python 3.11")
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("dataclass"):
                wrong.extend(
                    f"{where}:{node.lineno}: dataclass({word.arg}=) needs Python 3.10"
                    for word in node.keywords
                    if word.arg in {"slots", "kw_only"}
                )
    return wrong


def module_imports(root: Path) -> list[str]:
    """A module on a node imports the standard library, ansible.module_utils.basic and the core, nothing else.

    The same holds for what modules share beside the core (``plugins/module_utils/*.py``), which they may import.
    """
    wrong = []
    for path in [*python_files(root, MODULES), *sorted((root / "plugins/module_utils").glob("*.py"))]:
        shared = path.parent.name == "module_utils"
        for line, level, name in imports(path):
            own = level == 1 and re.match(r"fabric(\.|$)", name) if shared else level == 2
            core = own and (shared or re.match(r"module_utils\.\w", name))
            basic = level == 0 and name == "ansible.module_utils.basic"
            standard = level == 0 and name.partition(".")[0] in sys.stdlib_module_names
            if not (core or basic or standard):
                wrong.append(f"{path.relative_to(root)}:{line}: {'.' * level}{name}")
    return wrong


class _CapturedSpecError(Exception):
    """Carries what a module passed to AnsibleModule."""


def _captured(root: Path, path: Path) -> dict[str, Any]:
    """The keyword arguments with which a module calls AnsibleModule. The module must be importable in place.

    A module without ``main`` documents an action plugin of its name, which holds the argument spec.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
        return _action_spec(root / "plugins/action" / path.name)
    name = "ansible_collections.railwright.fabric.plugins.modules." + path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def capture(**kwargs: Any) -> None:
        raise _CapturedSpecError(kwargs)

    vars(module)["AnsibleModule"] = capture
    try:
        module.main()
    except _CapturedSpecError as caught:
        return dict(caught.args[0])
    raise AssertionError(f"{path.name}: main() never builds an AnsibleModule")


def _action_spec(path: Path) -> dict[str, Any]:
    """What an action plugin passes to validate_argument_spec, and whether it supports check mode; literals only."""
    found: dict[str, Any] = {"supports_check_mode": False}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self.validate_argument_spec":
            given = node.args or [word.value for word in node.keywords if word.arg == "argument_spec"]
            found["argument_spec"] = ast.literal_eval(given[0])
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_supports_check_mode":
            found["supports_check_mode"] = ast.literal_eval(node.value)
    return found


def compare_options(documented: dict[str, Any], coded: dict[str, Any], where: str) -> list[str]:
    """What differs between a DOCUMENTATION's options and an argument spec."""
    wrong = [f"{where}{name}: documented only" for name in documented if name not in coded]
    wrong += [f"{where}{name}: in the argument spec only" for name in coded if name not in documented]
    for name in sorted(set(documented) & set(coded)):
        doc, code = documented[name], coded[name]
        for key in ("type", "required", "default", "choices", "elements"):
            says, does = (side.get(key, {"type": "str", "required": False}.get(key)) for side in (doc, code))
            if isinstance(says, dict) and key == "choices":
                says = list(says)
            if says != does:
                wrong.append(f"{where}{name}.{key}: documented {says!r}, coded {does!r}")
        if sorted(doc.get("aliases", [])) != sorted(code.get("aliases", [])):
            wrong.append(f"{where}{name}.aliases: differ")
        wrong += compare_options(doc.get("suboptions", {}), code.get("options", {}), f"{where}{name}.")
    return wrong


def module_strings(path: Path) -> dict[str, str]:
    """DOCUMENTATION, EXAMPLES and RETURN of a module, without importing it."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in {"DOCUMENTATION", "EXAMPLES", "RETURN"} and isinstance(node.value, ast.Constant):
                found[name] = str(node.value.value)
    return found


def fragments(root: Path, names: list[str] | str) -> dict[str, Any]:
    """Options that a module takes from this collection's documentation fragments."""
    merged: dict[str, Any] = {"options": {}, "attributes": {}}
    own = [name for name in ([names] if isinstance(names, str) else names) if name.startswith("railwright.fabric.")]
    for name in own:
        path = root / "plugins/doc_fragments" / f"{name.split('.')[2]}.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                text = yaml.safe_load(str(node.value.value)) or {}
                for part, entries in merged.items():
                    entries.update(text.get(part, {}))
    return merged


def module_docs(root: Path, path: Path) -> list[str]:
    """A module's three strings parse, its options equal its argument spec, check and diff mode are declared."""
    strings, wrong = module_strings(path), []
    parsed = {}
    for name in ("DOCUMENTATION", "EXAMPLES", "RETURN"):
        try:
            parsed[name] = yaml.safe_load(strings[name])
        except KeyError:
            wrong.append(f"{path.name}: no {name}")
        except yaml.YAMLError as error:
            wrong.append(f"{path.name}: {name} is no YAML: {error}")
    if wrong:
        return wrong
    doc = parsed["DOCUMENTATION"]
    shared = fragments(root, doc.get("extends_documentation_fragment", []))
    attributes = {**shared.get("attributes", {}), **doc.get("attributes", {})}
    wrong += [
        f"{path.name}: attributes.{mode} is not documented"
        for mode in ("check_mode", "diff_mode")
        if "support" not in attributes.get(mode, {})
    ]
    if doc.get("module") != path.stem:
        wrong.append(f"{path.name}: documents {doc.get('module')!r}")
    if not isinstance(parsed["EXAMPLES"], list):
        wrong.append(f"{path.name}: EXAMPLES is no list of tasks")
    called = _captured(root, path)
    check = attributes.get("check_mode", {}).get("support") in {"full", "partial"}
    if check != bool(called.get("supports_check_mode")):
        wrong.append(f"{path.name}: check_mode is documented otherwise than coded")
    options = {**shared.get("options", {}), **(doc.get("options") or {})}
    return wrong + compare_options(options, called.get("argument_spec", {}), f"{path.name}: ")


def named_by_a_test(root: Path, name: str) -> bool:
    """Whether some test names a module."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for below in ("tests/unit", "tests/contract", "tests/lab", "extensions/molecule"):
        for path in (root / below).rglob("*"):
            if path.suffix in {".py", ".yml", ".yaml", ".json"} and word.search(path.read_text(encoding="utf-8")):
                return True
    return False


# --- roles ---------------------------------------------------------------------------------------------------------


def roles(root: Path) -> list[Path]:
    """Every role's folder."""
    return sorted(path for path in (root / "roles").glob("*") if path.is_dir())


def role_arguments(role: Path) -> list[str]:
    """Defaults and argument specs hold the same variables with the same values, each prefixed by the role's name."""
    specs_path, defaults_path = role / "meta/argument_specs.yml", role / "defaults/main.yml"
    if not specs_path.exists():
        return [f"{role.name}: no meta/argument_specs.yml"]
    main = load_yaml(specs_path).get("argument_specs", {}).get("main", {})
    options = main.get("options") or {}
    defaults = (load_yaml(defaults_path) if defaults_path.exists() else None) or {}
    wrong = [f"{role.name}: no short_description"] * ("short_description" not in main)
    for name, option in options.items():
        if not option.get("description"):
            wrong.append(f"{role.name}: {name} has no description")
        if "type" not in option:
            wrong.append(f"{role.name}: {name} has no type")
        if "default" in option and name not in defaults:
            wrong.append(f"{role.name}: {name} has a default in the argument specs only")
        if "default" in option and name in defaults and option["default"] != defaults[name]:
            wrong.append(f"{role.name}: {name} is {defaults[name]!r} in defaults, {option['default']!r} in the specs")
        if name in defaults and "default" not in option:
            wrong.append(f"{role.name}: {name} has a default in defaults only")
    wrong += [f"{role.name}: {name} is in defaults only" for name in defaults if name not in options]
    return wrong


# Set for every role by the inventory: the fabric's own variables, in DESIGN's words. No role owns them.
SHARED_VARIABLES = ("fabric_",)


def role_prefixes(role: Path) -> list[str]:
    """Variables that a role defines begin with its name, private ones with two underscores before it."""
    wrong = []
    allowed = (role.name + "_", "__" + role.name + "_", *SHARED_VARIABLES)
    for folder in ("defaults", "vars"):
        for path in sorted((role / folder).rglob("*.yml")):
            wrong += [
                f"{role.name}/{folder}/{path.name}: {name}"
                for name in (load_yaml(path) or {})
                if not name.startswith(allowed)
            ]
    for path in sorted(p for folder in ("tasks", "handlers") for p in (role / folder).rglob("*.yml")):
        for task in _tasks(load_yaml(path) or []):
            names = [task["register"]] if "register" in task else []
            names += list(task.get("ansible.builtin.set_fact", {}) or {})
            names += [task["loop_control"]["loop_var"]] if "loop_var" in task.get("loop_control", {}) else []
            wrong += [
                f"{role.name}/{path.parent.name}/{path.name}: {name}"
                for name in names
                if not name.startswith(allowed) and name != "cacheable"
            ]
    return wrong


def _tasks(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tasks with those inside blocks."""
    flat = []
    for task in items:
        flat.append(task)
        for section in ("block", "rescue", "always"):
            flat.extend(_tasks(task.get(section, [])))
    return flat


def role_size(role: Path) -> list[str]:
    """tasks/main.yml is a table of contents."""
    path = role / "tasks/main.yml"
    if not path.exists():
        return [f"{role.name}: no tasks/main.yml"]
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [f"{role.name}: tasks/main.yml has {len(lines)} lines"] * (len(lines) > ROLE_LINES)


def role_scenario(root: Path, role: Path) -> list[str]:
    """A role has a Molecule scenario: of its own name, or one whose files name it."""
    if (root / "extensions/molecule" / role.name / "molecule.yml").exists():
        return []
    texts = [path.read_text(encoding="utf-8") for path in (root / "extensions/molecule").rglob("*.yml")]
    named = any(f"railwright.fabric.{role.name}" in text for text in texts)
    return [] if named else [f"{role.name}: in no Molecule scenario"]


# --- the whole tree ------------------------------------------------------------------------------------------------


def tracked(root: Path) -> list[Path]:
    """Files that git knows or would add: what a clone of this tree holds. Links are not followed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout.decode()
    paths = (root / name for name in listed.split("\0") if name)
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


# A place that exists on one machine only, or a service that only one network reaches.
MACHINE_PATHS = re.compile(
    r"(?<![\w./-])/(?:home/(?!user\b|runner\b)\w+|Users/\w+|root/\.pyenv)"
    r"|https?://(?:pypi|files|registry|deb|quay|ghcr)\.\w"
)
MACHINE_PATHS_ALLOWED = ("tests/fixtures/*", "tests/contract/checks.py", "tests/contract/test_checks_can_fail.py")


def machine_paths(root: Path, files: list[Path]) -> list[str]:
    """No file names a path of one machine or the host of a registry."""
    wrong = []
    for path in files:
        name = str(path.relative_to(root))
        if any(fnmatch.fnmatch(name, glob) for glob in MACHINE_PATHS_ALLOWED):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            wrong += [f"{name}:{number}: {hit.group()}" for hit in MACHINE_PATHS.finditer(line)]
    return wrong


def large_files(root: Path, files: list[Path]) -> list[str]:
    """A Python file over 40 kB holds more than one thing."""
    return [
        f"{path.relative_to(root)}: {path.stat().st_size} bytes"
        for path in files
        if path.suffix == ".py" and path.stat().st_size > FILE_BYTES
    ]


def collection_links(root: Path) -> list[str]:
    """The five relative links that make the checkout a collection, and nothing else of ours beside them."""
    folder = root / "collections/ansible_collections/railwright/fabric"
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    wrong = [f"not one of the five links: {name}" for name in sorted(there - set(OWN_LINKS))]
    for name in OWN_LINKS:
        link = folder / name
        if not link.is_symlink() or str(link.readlink()) != f"../../../../{name}":
            wrong.append(f"{name}: no link to ../../../../{name}")
    return wrong


DOCUMENTED_TARGET = re.compile(r"(?:`|^\s*|\$ )make ([a-z][a-z0-9-]*)", re.MULTILINE)


def make_targets(root: Path) -> list[str]:
    """Every `make target` that the documents name exists, and every public target is in the help."""
    text = (root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", text, re.MULTILINE))
    helped = set(re.findall(r"^([a-z][a-z0-9-]*):.*## ", text, re.MULTILINE))
    wrong = [f"not in the help: {name}" for name in sorted(targets - helped)]
    for path in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md")), *sorted(root.glob("lab/*.md"))]:
        names = DOCUMENTED_TARGET.findall(path.read_text(encoding="utf-8"))
        wrong += [f"{path.relative_to(root)}: make {name}: no such target" for name in names if name not in targets]
    return wrong


BUILT_IN = {"ansible.builtin", "railwright.fabric"}


def third_party(root: Path) -> list[str]:
    """A collection that tasks use is in requirements.yml; one that roles or playbooks use is in galaxy.yml as well."""
    offered = {item["name"] for item in load_yaml(root / "requirements.yml")["collections"]}
    switches = root / "requirements-switches.yml"
    optional = {item["name"] for item in load_yaml(switches)["collections"]} if switches.exists() else set()
    depends = set(load_yaml(root / "galaxy.yml").get("dependencies") or {})
    wrong = []
    for below in ("roles", "playbooks", "awx", "extensions"):
        for path in sorted((root / below).rglob("*.yml")):
            text = path.read_text(encoding="utf-8")
            for name in re.findall(r"^\s*(?:- )?([a-z_]+\.[a-z_]+)\.[a-z0-9_]+:", text, re.MULTILINE):
                if name in BUILT_IN:
                    continue
                if name not in offered | optional:
                    wrong.append(f"{path.relative_to(root)}: {name} is in no requirements file")
                if below in {"roles", "playbooks"} and name not in depends | optional:
                    wrong.append(f"{path.relative_to(root)}: {name} is no dependency in galaxy.yml")
    return wrong


def short_names(root: Path) -> list[str]:
    """FQCN everywhere, including our own roles."""
    wrong = []
    for below in ("site.yml", "playbooks", "extensions/molecule/shared", "awx"):
        top = root / below
        for path in [top] if top.is_file() else sorted(top.rglob("*.yml")):
            for line in path.read_text(encoding="utf-8").splitlines():
                hit = re.match(r"\s*-? ?(?:role|name): ([a-z_]+)\s*$", line)
                if hit and (root / "roles" / hit.group(1)).is_dir():
                    wrong.append(f"{path.relative_to(root)}: {hit.group(1)}")
    return wrong


def spec_errors(schema: dict[str, Any], spec: Any) -> list[str]:
    """What a JSON Schema says about a document."""
    import jsonschema

    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    return [f"{error.json_path}: {error.message}" for error in validator(schema).iter_errors(spec)]


def rules_without(rules: dict[str, Any], marks: list[dict[str, str]]) -> list[str]:
    """The rules that no test, by its mark, brings into the state that their severity names."""
    shown = {mark["rule"] for mark in marks if mark["state"] == getattr(rules.get(mark["rule"]), "severity", "fail")}
    unknown = sorted({mark["rule"] for mark in marks} - set(rules))
    return [f"{rule}: no test with a mark rule('{rule}', <its severity>)" for rule in sorted(set(rules) - shown)] + [
        f"{rule}: marked in a test, but no such rule" for rule in unknown
    ]
