# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The inventory's variables against schemas/fabric_spec.schema.json: one clear message for what is wrong first."""

from __future__ import annotations

import datetime as dt
import difflib
import json
import math
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from ..module_utils.fabric.errors import FabricError, SpecError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

# The links of the collection lead to the checkout's plugins/; the schemas lie beside it, as in an installed artifact.
SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "fabric_spec.schema.json"

TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
END = r"\Z"
ADDRESSES = {"pci": "PCI address", "mac": "MAC address", "path": "PCIe path", "slot": "slot", "guid": "GUID"}


def plain(value: Any, place: str) -> Any:
    """Variables as plain data: builtin types only, dates as ISO text.

    :raises SpecError: for a key that YAML did not read as text, and for a number that no bound holds.
    """
    if isinstance(value, Mapping):
        return {_key(key, place): plain(entry, _join(place, str(key))) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, f"{place}[{number}]") for number, entry in enumerate(value)]
    if isinstance(value, dt.date):  # YAML reads an unquoted 2027-03-31 as a date, which is what it is
        return value.isoformat()[:10]
    if isinstance(value, float) and not math.isfinite(value):  # YAML's .nan is neither below nor above any limit
        raise SpecError("a finite number is expected", place, str(value))
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def check(variables: Mapping[str, Any]) -> None:
    """Plain variables (``fabric_spec``, ``fabric_profile`` …) against the schema.

    :raises SpecError: naming the path, the value and what is allowed.
    """
    errors = list(_validator().iter_errors(dict(variables)))
    if errors:
        raise _explain(max(errors, key=_weight))


@lru_cache(maxsize=1)
def _validator() -> Draft202012Validator:
    try:
        from jsonschema import Draft202012Validator as Validator  # noqa: PLC0415 - the controller may lack it
    except ImportError:
        raise FabricError(
            "the Python package jsonschema is not installed on the controller",
            remedy="pip install -r requirements.txt",
        ) from None
    return Validator(_whole(json.loads(SCHEMA.read_text(encoding="utf-8"))))


def _whole(schema: Any) -> Any:
    """The schema with patterns that end where the text does: Python's ``$`` lets a line feed follow, ECMA 262's not."""
    if isinstance(schema, list):
        return [_whole(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    whole = {key: _whole(entry) for key, entry in schema.items()}
    if isinstance(whole.get("pattern"), str):
        whole["pattern"] = whole["pattern"].replace("$", END)
    if "patternProperties" in whole:
        whole["patternProperties"] = {key.replace("$", END): entry for key, entry in whole["patternProperties"].items()}
    return whole


def _key(key: Any, place: str) -> str:
    if isinstance(key, bool):
        words = "yes, on, true or y" if key else "no, off, false or n"
        raise SpecError(f"YAML read a key as {str(key).lower()}", place, remedy=f"It was written {words}: quote it")
    if not isinstance(key, str):
        kind = "a whole number" if isinstance(key, int) else "no text"
        raise SpecError(f"YAML read a key as {kind}", place, str(key), f'Quote it, "{key}":, or use a name')
    return str(key)


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _path(error: ValidationError) -> str:
    place = ""
    for step in error.absolute_path:
        place = f"{place}[{step}]" if isinstance(step, int) else _join(place, str(step))
    return place


def _weight(error: ValidationError) -> tuple[bool, bool, int]:
    """What a reader should hear first: eaten values, unknown keys (a misspelt one is missing too), shallow ones."""
    return _eaten(error), error.validator in ("additionalProperties", "type"), -len(error.absolute_path)


def _eaten(error: ValidationError) -> bool:
    """Whether YAML read a number where an address was written."""
    return error.validator == "type" and _last(error) in ADDRESSES and isinstance(error.instance, (int, float))


def _last(error: ValidationError) -> str:
    return str(error.absolute_path[-1]) if error.absolute_path else ""


def _explain(error: ValidationError) -> SpecError:
    if error.validator == "anyOf":
        # The alternative of the right type tells more than "none of them".
        closer = [inner for inner in error.context if inner.validator != "type"]
        if closer:
            return _explain(max(closer, key=_weight))
    place, value = _path(error), error.instance
    if error.validator == "additionalProperties":
        return _unknown_key(error, place)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in value)
        hint = error.schema["properties"].get(missing, {}).get("description", "")
        return SpecError(f"the key {missing} is missing", place, remedy=hint.rstrip("."))
    if _eaten(error):
        name = ADDRESSES[_last(error)]
        return SpecError(
            f"YAML read an unquoted {name} as a number",
            place,
            str(value),
            f'Quote it: {_last(error)}: "{_meant(error)}"',
        )
    return SpecError(_allowed(error), place, _short(value), _hint(error))


def _unknown_key(error: ValidationError, place: str) -> SpecError:
    known = list(error.schema.get("properties", {}))
    patterns = list(error.schema.get("patternProperties", {}))
    unknown = next(key for key in error.instance if key not in known and not _fits(key, patterns))
    close = difflib.get_close_matches(unknown, known, 1)
    if patterns and not known:
        return SpecError("this name is not allowed", place, unknown, f"Names follow {patterns[0].replace(END, '$')}")
    remedy = f"Did you mean {close[0]}?" if close else f"Known are {', '.join(known)}"
    return SpecError(f"unknown key {unknown}", place or unknown, remedy=remedy)


def _fits(key: str, patterns: list[str]) -> bool:
    import re  # noqa: PLC0415

    return any(re.search(pattern, key) for pattern in patterns)


def _allowed(error: ValidationError) -> str:
    """What the failed keyword allows, in words."""
    limit = error.validator_value
    if error.validator == "type":
        return f"{TYPES[limit]} is expected"
    if error.validator == "enum":
        return f"allowed are {', '.join(_short(choice) for choice in limit)}"
    if error.validator == "anyOf":
        kinds = [TYPES[inner.validator_value] for inner in error.context]
        return f"{' or '.join(kinds)} is expected"
    words = {
        "const": f"{limit!r} is expected",
        "minimum": f"at least {limit} is expected",
        "maximum": f"at most {limit} is expected",
        "exclusiveMinimum": f"more than {limit} is expected",
        "minLength": "this must not be empty",
        "minItems": f"at least {limit} entry is expected",
        "maxItems": f"at most {limit} entries are expected",
        "minProperties": "this must not be empty",
        "uniqueItems": "an entry is there twice",
        "pattern": "this is not written as expected",
    }
    return words.get(str(error.validator), error.message)


def _hint(error: ValidationError) -> str:
    """Description and example of the place, from the schema itself."""
    description = str(error.schema.get("description", "")).rstrip(".")
    examples = error.schema.get("examples", [])
    example = f"Write it like {_short(examples[0])}" if examples else ""
    return ". ".join(part for part in (description, example) if part)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def _meant(error: ValidationError) -> str:
    """What was probably written: YAML 1.1 reads digits with colons as a number to the base of sixty."""
    key, value = _last(error), error.instance
    if key == "guid":
        return f"0x{int(value):016x}"
    if key == "slot":
        return str(value)
    digits: list[int] = []
    rest = int(value)
    for _position in range(5 if key == "mac" else 2):
        digits.insert(0, rest % 60)
        rest //= 60
    if key == "mac":
        return ":".join(f"{digit:02d}" for digit in [rest, *digits])
    return f"{rest:04d}:{digits[0]:02d}:{digits[1]:02d}.{round(value % 1 * 10)}"
