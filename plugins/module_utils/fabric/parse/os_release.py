# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``/etc/os-release`` (os-release(5))."""

from __future__ import annotations


def parse(text: str) -> dict[str, str]:
    """Keys and values, quotes removed; comments and lines that assign nothing are skipped, as a shell would."""
    values = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if not equals or not key.isidentifier():
            continue
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        values[key] = value
    return values
