# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Small files about lossless settings.

Of OFED's drivers ``/sys/class/net/<netdev>/qos`` and ``ecn`` (Mellanox/mlnx-tools python/mlnx_qos reads the tables the
same way) and ``/sys/class/infiniband/<device>/tc``; of the kernel debugfs ``mlx5/<pci>/cc_params``
(drivers/infiniband/hw/mlx5/cong.c), configfs ``rdma_cm`` (Documentation/ABI/testing/configfs-rdma_cm), and
``/sys/kernel/security/lockdown`` (security/lockdown/lockdown.c).
"""

from __future__ import annotations

from typing import Optional

from ..errors import ParseError
from .text import is_number, numbered, wrong

GID_TYPES = ("IB/RoCE v1", "RoCE v2")
_LOCKDOWN = ("none", "integrity", "confidentiality")
_UNSET = -1


def trust(text: str) -> str:
    """``dscp`` or ``pcp``."""
    word = text.strip()
    if word not in ("dscp", "pcp"):
        raise ParseError("the trust state is neither dscp nor pcp", "trust:1", word[:80])
    return word


def dscp2prio(text: str) -> tuple[tuple[int, int], ...]:
    """(DSCP, priority) of all DSCPs, sorted: a headline, then ``26 3``."""
    column = _column("dscp2prio", text, 64)
    _within("dscp2prio", max(column), 7)
    return tuple(enumerate(column))


def prio2buffer(text: str) -> tuple[int, ...]:
    """The receive buffer of each priority: a headline, then ``3 1``."""
    column = _column("prio2buffer", text, 8)
    _within("prio2buffer", max(column), 7)
    return column


def buffer_size(text: str) -> tuple[tuple[int, ...], Optional[int]]:
    """Bytes of each receive buffer, and of all of the port: headlines, then number, size, xoff and xon of each."""
    total = None
    for number, line in numbered(text):
        words, equals, value = line.partition("=")
        if equals and words.strip() == "Port buffer size":
            total = _number("buffer_size", number, line, value)
    return _column("buffer_size", text, 8), total


def flag(text: str) -> bool:
    """``0`` or ``1``."""
    word = text.strip()
    if word not in ("0", "1"):
        raise ParseError("0 or 1 is expected", "flag:1", word[:80])
    return word == "1"


def number(text: str) -> int:
    """A number that is not negative."""
    return _number("number", 1, text, text)


def traffic_class(text: str) -> int:
    """The traffic class of all queue pairs, ``Global tclass=106``; -1 when none is set.

    Rules for single connections may follow on further lines.
    """
    if not text.strip():
        return _UNSET
    number, line = next(numbered(text))
    name, equals, value = line.partition("#")[0].partition("=")
    if not equals:
        raise wrong("traffic_class", number, line, "no line of the form 'Global tclass=106'")
    if name.strip() != "Global tclass":
        return _UNSET  # rules alone
    return _within("traffic_class", _number("traffic_class", number, line, value), 255)


def cm_tos(text: str) -> int:
    """RDMA-CM's default ToS byte."""
    return _within("default_roce_tos", number(text), 255)


def cm_mode(text: str) -> str:
    """RDMA-CM's default GID type, as cma_roce_mode prints it too: ``RoCE v2`` or ``IB/RoCE v1``."""
    word = text.strip()
    if word not in GID_TYPES:
        raise ParseError(f"none of {', '.join(GID_TYPES)}", "default_roce_mode:1", word[:80])
    return word


def lockdown(text: str) -> str:
    """The mode in force, which stands in brackets: ``none [integrity] confidentiality``."""
    chosen = [word[1:-1] for word in text.split() if word.startswith("[") and word.endswith("]")]
    if len(chosen) != 1 or chosen[0] not in _LOCKDOWN:
        raise ParseError("no mode of kernel lockdown", "lockdown:1", text.strip()[:80])
    return chosen[0]


def _column(name: str, text: str, count: int) -> tuple[int, ...]:
    """The second of the numbers of each line, of which the first counts from 0; headlines come before them."""
    lines = [line for line in text.split("\n") if line]
    first = next((number for number, line in enumerate(lines) if line[0].isdigit()), len(lines))
    rows = [line.split() for line in lines[first:]]
    if len(rows) != count:
        raise ParseError(f"{len(rows)} of {count} lines", f"{name}:1", text.strip()[:80])
    for number, row in enumerate(rows):
        if len(row) < 2 or row[0] != str(number):
            raise wrong(name, first + number + 1, lines[first + number], f"the values of {number} are expected")
    digits = "".join(map("".join, rows))
    if not digits.isascii() or not digits.isdigit() or len(digits) > 4096:
        raise ParseError("lines of numbers are expected", f"{name}:1", text.strip()[:80])
    return tuple([int(row[1]) for row in rows])


def _number(name: str, number: int, line: str, text: str) -> int:
    digits = text.strip()
    if not is_number(digits):
        raise wrong(name, number, line, "a number is expected")
    return int(digits)


def _within(name: str, value: int, highest: int) -> int:
    if value > highest:
        raise ParseError(f"a number up to {highest} is expected", f"{name}:1", str(value))
    return value
