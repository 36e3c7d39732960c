# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What all model classes have in common."""

from __future__ import annotations


class Model:
    """Equality, hash and text of frozen dataclasses.

    ``dataclass`` would generate and compile the same for each class, in every process on a node that imports them:
    subclasses are declared ``@dataclass(frozen=True, eq=False, repr=False)``.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
