# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Loaded kernel modules: ``/proc/modules``, and ``lsmod`` with or without its header."""

from __future__ import annotations

from .text import numbered, wrong

TOOL = "lsmod"


def parse(text: str) -> tuple[str, ...]:
    """Names in the kernel's order. Nothing loaded is a valid answer."""
    names = []
    for number, line in numbered(text):
        words = line.split()
        if words[:2] == ["Module", "Size"]:
            continue
        if len(words) < 3 or not (words[1].isdigit() and words[2].lstrip("-").isdigit()):
            raise wrong(TOOL, number, line, "no line of the form 'NAME SIZE USERS'")
        names.append(words[0])
    return tuple(names)
