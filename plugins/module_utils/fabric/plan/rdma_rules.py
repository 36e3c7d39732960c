# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""udev's rules for the names of RDMA devices: ours first, then those of rdma-core or of the site.

rdma-core renames every RDMA device in 60-rdma-persistent-naming.rules; a file of that name in /etc takes its place, as
its documentation advises (linux-rdma/rdma-core: Documentation/udev.md, "Stable names"), and dracut copies it by that
name. A file of our own beside it would rename a device twice in one event. The second call still has the kernel's name
of the device, which the kernel may have given to the next one meanwhile: it would rename that one.
"""

from __future__ import annotations

from typing import Iterable, Optional

NAME = "60-rdma-persistent-naming.rules"
RULES = f"/etc/udev/rules.d/{NAME}"
PACKAGED = (f"/usr/lib/udev/rules.d/{NAME}", f"/lib/udev/rules.d/{NAME}")

_BEGIN = "# Railwright begins (role rail_naming): the next run undoes what is changed up to the line that ends it."
_END = "# Railwright ends."
_COPY = f"# What follows is the package's own {NAME}."
_OTHERS, _NAMED = 'LABEL="railwright_others"', 'LABEL="railwright_named"'
# What rdma-core has since its version 23, for a node on which it is not installed yet.
_DEFAULT = 'ACTION=="add", SUBSYSTEM=="infiniband", PROGRAM="rdma_rename %k NAME_FALLBACK"\n'


def render_rules(names: Iterable[tuple[str, str]], have: Optional[str], packaged: Optional[str]) -> Optional[str]:
    """The file that gives RDMA devices their names, ``(conditions, name)`` each; ``None`` when no file is needed.

    :param have: the file as it is. What the site wrote there stays, behind our part.
    :param packaged: the file that it stands in front of, whose rules hold for all other devices.
    """
    rest, copied = _without_ours(have)
    own = None if have is None or copied else rest
    lines = [f'{match}, PROGRAM="rdma_rename %k NAME_FIXED {name}", GOTO="railwright_named"' for match, name in names]
    if not lines:
        return own
    head = [_BEGIN, 'ACTION!="add", GOTO="railwright_others"', 'SUBSYSTEM!="infiniband", GOTO="railwright_others"']
    head += [*lines, _OTHERS, _END, *([] if own is not None else [_COPY])]
    tail = own if own is not None else packaged if packaged is not None else _DEFAULT
    return "\n".join(head) + "\n" + tail + ("" if tail.endswith("\n") or not tail else "\n") + _NAMED + "\n"


def written_rule(have: Optional[str], name: str) -> Optional[str]:
    """The conditions under which the file gives this name now: a NIC that is away for a while keeps its rule."""
    for line in (have or "").partition(_END)[0].splitlines():
        match, program, rest = line.partition(', PROGRAM="rdma_rename %k NAME_FIXED ')
        if program and rest.partition('"')[0] == name:
            return match
    return None


def _without_ours(have: Optional[str]) -> tuple[str, bool]:
    """The file without our part, and whether the rest is a copy of the package's."""
    before, begins, ours = (have or "").partition(_BEGIN + "\n")
    if not begins:
        return before, False
    rest = ours.partition(_END + "\n")[2]
    copied = rest.startswith(_COPY + "\n")
    return before + rest.replace(_NAMED + "\n", ""), copied
