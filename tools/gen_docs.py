#!/usr/bin/env python3
"""Write the documents that follow from something else: role READMEs, the spec's reference, the rules' reference.

``--check`` writes nothing and names what is not current. ``--root`` points at another tree, for the tests.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
CORE = "ansible_collections.railwright.fabric.plugins.module_utils.fabric"


def _text(value: Any) -> str:
    """Description (a string or a list of paragraphs) as one line for a table cell; Ansible's marks as Markdown."""
    lines = value if isinstance(value, list) else [value or ""]
    text = " ".join(" ".join(str(line).split()) for line in lines).replace("|", "\\|")
    text = re.sub(r"\b[COVEM]\(([^()]*(?:\([^()]*\))?[^()]*)\)", r"`\1`", text)
    return re.sub(r"\bB\(([^()]*)\)", r"**\1**", text)


def _literal(value: Any) -> str:
    """A default or a choice as YAML in code marks."""
    if value is None:
        return ""
    return f"`{json.dumps(value, ensure_ascii=False)}`".replace("|", "\\|")


# --- roles ---------------------------------------------------------------------------------------------------------

# Roles that are not for nodes.
ROLE_HOSTS = {"switch_config": "leaf_switches:spine_switches"}


def _option_rows(options: dict[str, Any], prefix: str = "") -> list[str]:
    """Table rows of a role's options, nested ones below their parent."""
    rows = []
    for name, option in options.items():
        kind = option.get("type", "str")
        if kind == "list":
            kind = f"list of {option.get('elements', 'str')}"
        default = "**required**" if option.get("required") else _literal(option.get("default"))
        words = _text(option.get("description"))
        if option.get("choices"):
            words += " One of " + ", ".join(_literal(choice) for choice in option["choices"]) + "."
        rows.append(f"| `{prefix}{name}` | {kind} | {default} | {words.strip()} |")
        deeper = f"{prefix}{name}[]." if kind.startswith("list") else f"{prefix}{name}."
        rows.extend(_option_rows(option.get("options") or {}, deeper))
    return rows


def role_readme(role: str, specs: dict[str, Any]) -> str:
    """The README of one role, from its meta/argument_specs.yml."""
    entry_points = specs["argument_specs"]
    main = entry_points["main"]
    paragraphs = main.get("description") or []
    out = [f"# {role}", "", _text(main["short_description"]), ""]
    for paragraph in paragraphs if isinstance(paragraphs, list) else [paragraphs]:
        out += [_text(paragraph), ""]
    out += [
        "```yaml",
        "- name: " + _text(main["short_description"]).rstrip("."),
        f"  hosts: {ROLE_HOSTS.get(role, 'gpu_nodes')}",
        "  roles:",
        f"    - role: railwright.fabric.{role}",
        "```",
        "",
    ]
    for name, entry in entry_points.items():
        out += ["## Variables" if name == "main" else f"## Entry point `{name}`", ""]
        if name != "main":
            out += [_text(entry.get("short_description")), ""]
        rows = _option_rows(entry.get("options") or {})
        if rows:
            out += ["| variable | type | default | meaning |", "|---|---|---|---|", *rows, ""]
        else:
            out += ["None.", ""]
    out.append("This file is generated from `meta/argument_specs.yml` by `make docs`.")
    return "\n".join(out) + "\n"


# --- the fabric spec -----------------------------------------------------------------------------------------------


def _resolve(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """The node that a local ``$ref`` points at, with what stands beside the reference."""
    if "$ref" not in node:
        return node
    target: Any = schema
    for part in node["$ref"].lstrip("#/").split("/"):
        target = target[part]
    return {**target, **{key: value for key, value in node.items() if key != "$ref"}}


def _constraint(node: dict[str, Any]) -> str:
    """What a value must hold, in words."""
    words = []
    if "const" in node:
        words.append(_literal(node["const"]))
    if "enum" in node:
        words.append(" or ".join(_literal(value) for value in node["enum"]))
    for key, form in (
        ("minimum", "at least {}"),
        ("maximum", "at most {}"),
        ("exclusiveMinimum", "more than {}"),
        ("minItems", "at least {} items"),
        ("maxItems", "at most {} items"),
        ("minProperties", "at least {} entries"),
        ("pattern", "matches `{}`"),
        ("format", "{}"),
    ):
        if key in node:
            words.append(form.format(str(node[key]).replace("|", "\\|")))
    if node.get("uniqueItems"):
        words.append("no item twice")
    return ", ".join(words)


def _kind(schema: dict[str, Any], node: dict[str, Any]) -> str:
    """The type of a value, in words."""
    if not isinstance(node, dict):
        return "any"
    node = _resolve(schema, node)
    for key in ("oneOf", "anyOf"):
        if key in node and "type" not in node:
            return " or ".join(dict.fromkeys(_kind(schema, option) for option in node[key]))
    kind = node.get("type")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"list of {_kind(schema, node.get('items', {}))}"
    if kind is None:
        return "value" if "enum" in node or "const" in node else "object" if "properties" in node else "any"
    return str(kind)


def _children(schema: dict[str, Any], node: dict[str, Any], path: str) -> list[tuple[str, dict[str, Any], bool]]:
    """Paths one level below a value: properties, entries of a map, items of a list, alternatives."""
    if not isinstance(node, dict):
        return []
    node = _resolve(schema, node)
    found = []
    required = node.get("required", [])
    for name, child in node.get("properties", {}).items():
        found.append((f"{path}.{name}" if path else name, child, name in required))
    for pattern in node.get("patternProperties", {}):
        found.append((f"{path}.<name>", node["patternProperties"][pattern], False))
    if isinstance(node.get("additionalProperties"), dict):
        found.append((f"{path}.<name>", node["additionalProperties"], False))
    if isinstance(node.get("items"), dict):
        found.append((f"{path}[]", node["items"], False))
    for key in ("oneOf", "anyOf", "allOf"):
        for option in node.get(key, []):
            found.extend(_children(schema, option, path))
    return found


def _spec_rows(schema: dict[str, Any], node: dict[str, Any], path: str, seen: tuple[str, ...]) -> list[str]:
    """Table rows of everything below a value, depth first."""
    rows, done = [], set()
    for where, child, required in _children(schema, node, path):
        if where in done or not isinstance(child, dict):  # true and false are schemas as well
            continue
        done.add(where)
        full = _resolve(schema, child)
        words = " ".join(filter(None, [_text(full.get("description") or full.get("title")), _constraint(full)]))
        default = "**required**" if required else _literal(full.get("default"))
        rows.append(f"| `{where}` | {_kind(schema, child)} | {default} | {words} |")
        reference = child.get("$ref", "")
        if not reference or reference not in seen:
            rows.extend(_spec_rows(schema, child, where, (*seen, reference) if reference else seen))
    return rows


def spec_reference(schema: dict[str, Any]) -> str:
    """docs/reference/spec.md, from the schema."""
    words = _text(schema.get("description") or schema.get("title"))
    out = [
        "# The fabric spec",
        "",
        words,
        "",
        "An unknown key, a wrong unit or an impossible combination is refused before any node is touched.",
        "",
        "| key | type | default | meaning |",
        "|---|---|---|---|",
        *_spec_rows(schema, schema, "", ()),
        "",
        "This file is generated from `schemas/fabric_spec.schema.json` by `make docs`.",
    ]
    return "\n".join(out) + "\n"


# --- rules ---------------------------------------------------------------------------------------------------------


def rules_reference(rules: dict[str, Any]) -> str:
    """docs/reference/rules.md, from the registry of the verifier."""
    out = [
        "# Rules",
        "",
        "Each check of the verifier is a named rule. States are pass, warn, fail and unknown: what could not be",
        "read is never a pass. A rule is waived in the spec, by its id, with a reason and an end.",
        "",
        "| rule | severity | what it holds a node to |",
        "|---|---|---|",
    ]
    for rule_id in sorted(rules):
        rule = rules[rule_id]
        anchor = rule_id.lower().replace(".", "")
        out.append(f"| [`{rule_id}`](#{anchor}) | {rule.severity} | {_text(rule.title)} |")
    for rule_id in sorted(rules):
        rule = rules[rule_id]
        out += ["", f"## {rule_id}", "", f"{_text(rule.title).rstrip('.')}. Severity: {rule.severity}."]
        for heading, attribute in (("", "why"), ("Scope", "scope"), ("Source", "source"), ("What to do", "remedy")):
            value = getattr(rule, attribute, "")
            if isinstance(value, str) and value.strip():
                out += ["", f"{heading}: {_text(value)}" if heading else _text(value)]
    out += ["", "This file is generated from the rules in `plugins/module_utils/fabric/verify/` by `make docs`."]
    return "\n".join(out) + "\n"


def registry(root: Path) -> dict[str, Any]:
    """The verifier's rules, or nothing where there is no verifier yet."""
    sys.path.insert(0, str(root / "collections"))
    rules: dict[str, Any] = importlib.import_module(CORE + ".verify.catalogue").RULES
    return rules


# --- all of it -----------------------------------------------------------------------------------------------------


def documents(root: Path, rules: dict[str, Any] | None = None) -> dict[Path, str]:
    """Every generated document: path below the root, and what it must hold."""
    wanted = {}
    for specs in sorted(root.glob("roles/*/meta/argument_specs.yml")):
        role = specs.parent.parent
        wanted[(role / "README.md").relative_to(root)] = role_readme(role.name, yaml.safe_load(specs.read_text()))
    schema = root / "schemas" / "fabric_spec.schema.json"
    if schema.exists():
        wanted[Path("docs/reference/spec.md")] = spec_reference(json.loads(schema.read_text()))
    if rules:
        wanted[Path("docs/reference/rules.md")] = rules_reference(rules)
    return wanted


def stale(root: Path, wanted: dict[Path, str]) -> list[Path]:
    """The documents that are missing or not current."""
    return [path for path, text in wanted.items() if not (root / path).exists() or (root / path).read_text() != text]


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    wanted = documents(options.root, registry(options.root))
    old = stale(options.root, wanted)
    if options.check:
        for path in old:
            print(f"not current: {path} (run: make docs)")
        return 1 if old else 0
    for path in old:
        (options.root / path).parent.mkdir(parents=True, exist_ok=True)
        (options.root / path).write_text(wanted[path])
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
