# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Small things that several parsers need: errors with a place, GUIDs, GIDs, and the words for link states."""

from __future__ import annotations

import json
import re
from typing import Any, Iterator, Optional, Sequence

from ..errors import ParseError

# Logical port states as the kernel numbers and names them: drivers/infiniband/core/sysfs.c, state_show().
STATES = {1: "DOWN", 2: "INIT", 3: "ARMED", 4: "ACTIVE", 5: "ACTIVE_DEFER"}
# Physical port states: the same file, phys_state_to_str().
PHYSICAL_STATES = {
    1: "Sleep",
    2: "Polling",
    3: "Disabled",
    4: "PortConfigurationTraining",
    5: "LinkUp",
    6: "LinkErrorRecovery",
    7: "Phy Test",
}
LINK_LAYERS = ("Ethernet", "InfiniBand")
MOST_DIGITS = 20  # of an unsigned number of 64 bits; int() itself refuses more than 4300 by a ValueError
NO_LID = 0xFFFF  # the permissive LID: what a port without a subnet manager shows (IBTA vol. 1, 4.1.3)

_FULL_GID = re.compile(r"[0-9a-f]{4}(:[0-9a-f]{4}){7}")
_HEX = re.compile(r"[0-9a-f]+")


def wrong(tool: str, number: int, line: str, why: str) -> ParseError:
    """The error for line ``number`` (from 1) of what ``tool`` printed."""
    return ParseError(why, f"{tool}:{number}", line.strip()[:200])


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1. Splits at newlines only, as tools do."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.rstrip()


def is_cut(text: str, number: int) -> bool:
    """Whether line ``number`` is the text's last and lacks its newline: of a number there, digits may be missing."""
    return text.count("\n") == number - 1


def is_number(text: str) -> bool:
    """Whether it is a number of 64 bits, in ASCII digits and nothing else."""
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


def whole_number(tool: str, number: int, line: str, text: str, base: int = 10) -> int:
    """An integer of ASCII digits; ``base`` 16 takes a leading ``0x``."""
    digits = text.lower()
    if base == 16 and digits.startswith("0x"):
        digits = digits[2:]
    if not digits.isascii() or not digits.isalnum() or len(digits) > MOST_DIGITS:
        raise wrong(tool, number, line, "a number is expected")
    try:
        return int(digits, base)
    except ValueError:
        raise wrong(tool, number, line, "a number is expected") from None


def pairs(tool: str, number: int, line: str, words: Sequence[str]) -> dict[str, str]:
    """``KEY VALUE KEY VALUE`` of one line. A key that is there twice tells that two lines ran into one."""
    found = dict(zip(words[::2], words[1::2]))
    if len(found) * 2 != len(words):
        raise wrong(tool, number, line, "a key without a value, or one that is there twice")
    return found


def parse_json(tool: str, text: str, *, unique: bool = False) -> Any:
    """JSON that a tool printed; ``unique``: no object has a key twice. Some tools print keys twice by themselves."""
    try:
        return json.loads(text, object_pairs_hook=_unique if unique else None)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ParseError("no valid JSON", f"{tool}:{line}", text.strip()[:80]) from None


def _unique(found: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(found)) != len(found):
        raise ValueError("a key that is there twice")
    return dict(found)


def guid(text: str) -> Optional[str]:
    """A GUID as ``0x`` and 16 lower-case hex digits; ``None`` when it is no GUID or all zero."""
    digits = text.strip().lower().replace(":", "").removeprefix("0x")
    if len(digits) != 16 or not _HEX.fullmatch(digits) or not digits.strip("0"):
        return None
    return f"0x{digits}"


def gid(text: str) -> Optional[str]:
    """A GID in the kernel's form, eight groups of four digits; ``None`` when it is none."""
    text = text.strip().lower()
    if _FULL_GID.fullmatch(text):
        return text
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415 - heavy, and rarely needed

    try:
        # Not .exploded: Python 3.13 writes the last four octets of a mapped address with dots.
        return IPv6Address(text).packed.hex(":", 2) if "%" not in text else None
    except AddressValueError:
        return None


def is_zero(gid_text: str) -> bool:
    """Whether a GID table entry is empty."""
    return not gid_text.strip("0: \n")


def lid(value: int) -> Optional[int]:
    """A LID, or ``None`` when the port has none."""
    return None if value == NO_LID else value


def soft_name(device: str) -> bool:
    """Whether a device's name is that of a software device; for texts that say nothing else about it (rdma-link(8))."""
    return device.startswith(("rxe", "siw"))
