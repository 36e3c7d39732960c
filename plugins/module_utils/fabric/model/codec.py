# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Dataclasses to plain JSON data and back, one implementation for intent, facts, findings and reports."""

from __future__ import annotations

import typing
from functools import lru_cache
from typing import Any, Type, TypeVar, Union

from ..errors import FabricError, IntentError
from ..records import is_record, names

T = TypeVar("T")


def encode(value: Any) -> Any:
    """Plain data (dict, list, str, int, float, bool, None) of a model object; keys in field order."""
    if is_record(value) and not isinstance(value, type):
        return {field: encode(getattr(value, field)) for field in names(value)}
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    return value


def decode(cls: Type[T], data: Any, place: str = "document", error: Type[FabricError] = IntentError) -> T:
    """A model object of plain data.

    :raises error: for an unknown key, a missing key or a wrong type, naming the path below ``place``.
    """
    return typing.cast(T, _decode(cls, data, place, error))


@lru_cache(maxsize=None)
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _decode(kind: Any, data: Any, place: str, error: Type[FabricError]) -> Any:
    if kind is Any:
        return data
    origin = typing.get_origin(kind)
    if origin is Union:
        if data is None:
            return None
        kind = next(arg for arg in typing.get_args(kind) if arg is not type(None))
        return _decode(kind, data, place, error)
    if origin is tuple:
        if not isinstance(data, (list, tuple)):
            raise error("a list is expected", place, repr(data))
        item = typing.get_args(kind)[0]
        return tuple(_decode(item, entry, f"{place}[{n}]", error) for n, entry in enumerate(data))
    if origin is dict:
        if not isinstance(data, dict):
            raise error("a mapping is expected", place, repr(data))
        item = typing.get_args(kind)[1]
        return {key: _decode(item, entry, f"{place}.{key}", error) for key, entry in data.items()}
    if is_record(kind):
        return _decode_object(typing.cast(type, kind), data, place, error)
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise error(f"a value of type {kind.__name__} is expected", place, repr(data))
    return data


def _decode_object(cls: type, data: Any, place: str, error: Type[FabricError]) -> Any:
    if not isinstance(data, dict):
        raise error("a mapping is expected", place, repr(data))
    known = names(cls)
    unknown = [key for key in data if key not in known]
    if unknown:
        raise error(f"unknown key {unknown[0]!r}; known are {', '.join(known)}", place)
    hints = _hints(cls)
    values = {key: _decode(hints[key], item, f"{place}.{key}", error) for key, item in data.items()}
    try:
        return cls(**values)
    except TypeError as missing:
        raise error(str(missing).rpartition("__init__() ")[2], place) from None
