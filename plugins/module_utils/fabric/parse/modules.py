# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernel modules: ``/proc/modules``, ``lsmod`` with or without its header, and ``modules.builtin``."""

from __future__ import annotations

from .text import numbered, wrong

TOOL = "lsmod"


def parse(text: str) -> tuple[str, ...]:
    """Names in the kernel's order. Nothing loaded is a valid answer; one that is on its way in or out is not loaded."""
    names = []
    for number, line in numbered(text):
        words = line.split()
        if words[:2] == ["Module", "Size"]:
            continue
        if len(words) < 3 or not (words[1].isdigit() and words[2].lstrip("-").isdigit()):
            raise wrong(TOOL, number, line, "no line of the form 'NAME SIZE USERS'")
        # NAME SIZE USERS DEPENDENTS STATE ADDRESS in /proc/modules (kernel/module/procfs.c, m_show())
        if len(words) < 5 or words[4] not in ("Loading", "Unloading"):
            names.append(words[0])
    return tuple(names)


def parse_builtin(text: str) -> tuple[str, ...]:
    """Names of built-in modules, as /proc/modules would spell them.

    Each line is the path that the module's file would have (kernel Documentation/kbuild/kbuild.rst, modules.builtin).
    """
    names = (line.rpartition("/")[2].partition(".ko")[0] for line in text.replace("-", "_").splitlines())
    return tuple(filter(None, names))
