# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of ``dataclasses`` that the core needs, at a fraction of its cost.

The standard module imports ``inspect`` and ``ast``, and compiles three functions for each class: a third of what a
health check costs. Here all classes share their methods. Type checkers see the standard module, which this one
follows: its ``replace`` and ``is_dataclass`` work on these classes too, its ``fields`` does not; use :func:`names`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace

__all__ = ["dataclass", "field", "is_record", "names", "replace"]

_FIELDS = "__dataclass_fields__"
_MISSING: Any = object()


class _Field:
    """What is known about one field; ``dataclasses.replace`` looks at these attributes."""

    __slots__ = ("_field_type", "default", "default_factory", "init", "name")

    def __init__(self, default: Any = _MISSING, default_factory: Optional[Callable[[], Any]] = None) -> None:
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.init = True
        self._field_type = None


def names(record: Any) -> tuple[str, ...]:
    """Names of the fields of a class or an object, in their order."""
    return tuple(getattr(record, _FIELDS))


def is_record(value: Any) -> bool:
    """Whether this is such a class, or an object of one."""
    return hasattr(value, _FIELDS)


def _replace(record: Any, **changes: Any) -> Any:
    return type(record)(**{**vars(record), **changes})


def _field(*, default: Any = _MISSING, default_factory: Optional[Callable[[], Any]] = None) -> Any:
    return _Field(default, default_factory)


def _dataclass(cls: Any = None, *, frozen: bool = False, eq: bool = True, repr: bool = True) -> Any:  # noqa: A002
    """As ``dataclasses.dataclass`` with the same arguments."""
    if cls is None:
        return lambda decorated: _dataclass(decorated, frozen=frozen, eq=eq, repr=repr)
    fields: dict[str, _Field] = dict(getattr(cls, _FIELDS, {}))
    for name in vars(cls).get("__annotations__") or cls.__annotations__:
        default = vars(cls).get(name, _MISSING)
        fields[name] = default if isinstance(default, _Field) else _Field(default)
        fields[name].name = name
        if isinstance(default, _Field):
            delattr(cls, name)
            if default.default is not _MISSING:
                setattr(cls, name, default.default)
    setattr(cls, _FIELDS, fields)
    cls.__init__ = _init(fields)
    if repr and "__repr__" not in vars(cls):
        cls.__repr__ = _repr
    if eq and "__eq__" not in vars(cls):
        cls.__eq__ = _eq
        cls.__hash__ = _hash if frozen else None
    if frozen:
        cls.__setattr__ = _refuse_to_set
        cls.__delattr__ = _refuse_to_delete
    return cls


def _init(fields: dict[str, _Field]) -> Callable[..., None]:
    template = {name: field.default for name, field in fields.items()}
    factories = {name: field.default_factory for name, field in fields.items() if field.default_factory}
    order = tuple(fields)
    required = {name for name, field in fields.items() if field.default is _MISSING and name not in factories}

    def create(self: Any, *args: Any, **given: Any) -> None:
        values = template.copy()
        values.update(zip(order, args))
        values.update(given)
        count = len(args)
        if count > len(order) or len(values) > len(order) or (args and not given.keys().isdisjoint(order[:count])):
            raise TypeError(_surplus(self, order, len(required), args, given))
        for name, factory in factories.items():
            if values[name] is _MISSING:
                values[name] = factory()
        if count < len(required) and not required <= {*given, *order[:count]}:
            raise TypeError(_lacking(self, [name for name in order if values[name] is _MISSING]))
        self.__dict__.update(values)

    return create


def _surplus(record: Any, order: tuple[str, ...], least: int, args: tuple[Any, ...], given: dict[str, Any]) -> str:
    where = f"{type(record).__name__}.__init__()"
    unknown = next((name for name in given if name not in order), None)
    if unknown is not None:
        return f"{where} got an unexpected keyword argument {unknown!r}"
    twice = next((name for name in given if name in order[: len(args)]), None)
    if twice is not None:
        return f"{where} got multiple values for argument {twice!r}"
    takes = f"from {least + 1} to {len(order) + 1}" if least < len(order) else f"{len(order) + 1}"
    return f"{where} takes {takes} positional arguments but {len(args) + 1} were given"


def _lacking(record: Any, lacking: list[str]) -> str:
    words = [repr(name) for name in lacking]
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])}{',' * (len(words) > 2)} and {words[-1]}"
    plural = "s" if len(words) > 1 else ""
    return f"{type(record).__name__}.__init__() missing {len(words)} required positional argument{plural}: {listed}"


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _eq(self: Any, other: Any) -> Any:
    return vars(self) == vars(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(tuple(vars(self).values()))


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise AttributeError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise AttributeError(f"cannot delete field {name!r}")


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace
