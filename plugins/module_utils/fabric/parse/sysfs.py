# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Small values of sysfs.

Kernel Documentation/ABI/stable/sysfs-class-infiniband, and Documentation/ABI/testing/sysfs-bus-pci.
"""

from __future__ import annotations

import re
from typing import Optional

from ..errors import ParseError
from .text import LINK_LAYERS, PHYSICAL_STATES, STATES, is_number
from .text import lid as known_lid

_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) Gb/sec \(([0-9]{1,2})X(?: [A-Z0-9]+)?\)")


def state(text: str) -> str:
    """Logical state, ``4: ACTIVE`` -> ``ACTIVE``."""
    return _numbered_word("state", text, STATES)


def physical_state(text: str) -> str:
    """Physical state, ``5: LinkUp`` -> ``LinkUp``."""
    return _numbered_word("phys_state", text, PHYSICAL_STATES)


def rate(text: str) -> tuple[float, int]:
    """Total rate in Gbit/s and number of lanes: ``400 Gb/sec (4X NDR)`` -> ``(400.0, 4)``.

    The name of the generation is not used: Ethernet ports carry InfiniBand's, and a rate is what counts.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ParseError("no rate of the form '400 Gb/sec (4X NDR)'", "rate:1", text.strip()[:80])
    return float(match.group(1)), int(match.group(2))


def link_layer(text: str) -> str:
    """``Ethernet`` or ``InfiniBand``."""
    word = text.strip()
    if word not in LINK_LAYERS:
        raise ParseError(f"the link layer is none of {', '.join(LINK_LAYERS)}", "link_layer:1", word[:80])
    return word


def lid(text: str) -> Optional[int]:
    """A LID in hexadecimal, ``0x1``; ``None`` for the permissive LID of a port that has none."""
    digits = text.strip()
    if not re.fullmatch(r"0x[0-9a-f]{1,4}", digits):
        raise ParseError("no LID of the form '0x1'", "lid:1", digits[:80])
    return known_lid(int(digits, 16))


def counter(text: str) -> Optional[int]:
    """A counter; ``None`` where the device does not have it (``N/A (no PMA)``)."""
    digits = text.strip()
    if digits.startswith("N/A"):
        return None
    if not is_number(digits):
        raise ParseError("a counter is expected", "counter:1", digits[:80])
    return int(digits)


def link_speed(text: str) -> Optional[float]:
    """Speed of a PCIe link in GT/s a lane: ``16.0 GT/s PCIe``, ``8 GT/s``; ``None`` for ``Unknown``.

    The words are those of the kernel's drivers/pci/probe.c, pci_speed_string(), and of what older ones printed.
    """
    word = text.strip()
    if word.startswith("Unknown"):
        return None
    number, space, unit = word.partition(" ")
    digits = number.replace(".", "", 1)
    if not space or unit not in ("GT/s", "GT/s PCIe") or not is_number(digits):
        raise ParseError("no speed of the form '16.0 GT/s PCIe'", "link_speed:1", word[:80])
    return float(number)


def link_width(text: str) -> Optional[int]:
    """Lanes of a PCIe link; ``None`` where there is no link (0) or it is not known (255, PCIE_LNK_WIDTH_UNKNOWN)."""
    digits = text.strip()
    if not is_number(digits):
        raise ParseError("a number of lanes is expected", "link_width:1", digits[:80])
    return int(digits) if int(digits) not in (0, 255) else None


def _numbered_word(name: str, text: str, known: dict[int, str]) -> str:
    number, _, word = text.strip().partition(": ")
    if number.isascii() and number.isdigit() and known.get(int(number[:2])) == word:
        return word
    raise ParseError("the kernel's words for it are not known here", f"{name}:1", text.strip()[:80])
