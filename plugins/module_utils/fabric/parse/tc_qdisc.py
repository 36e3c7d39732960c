# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``tc qdisc show dev X``: the root's mqprio, which maps priorities to traffic classes and queues, tc-mqprio(8)."""

from __future__ import annotations

import re
from typing import Optional

from ..errors import ParseError
from ..records import dataclass
from .text import numbered, wrong

TOOL = "tc qdisc"
_HEAD = re.compile(
    r"qdisc mqprio ([0-9a-f]{1,4}): (?:dev (\S+) )?root (?:refcnt [0-9]+ )?tc ([0-9]{1,2}) map((?: [0-9]{1,2}){16})"
)
_OTHER = re.compile(r"qdisc (\S+) ([0-9a-f]{1,4}): (?:dev \S+ )?(?:root|parent ([0-9a-f]{0,4}:[0-9a-f]{0,4}))(?: .*)?")
_QUEUES = re.compile(r"queues:((?: ?\([0-9]{1,5}:[0-9]{1,5}\))+)")
_PAIR = re.compile(r"\(([0-9]{1,5}):([0-9]{1,5})\)")
_WORD = re.compile(r"(mode|shaper): ?([a-z_]+)")


@dataclass(frozen=True)
class Mqprio:
    """``queues`` are first and last of each class. ``None``: not printed, as by an old tc.

    ``children`` are kind and class (``8001:1``) of the qdiscs below it, in their order.
    """

    handle: str
    tcs: int
    prio_tc: tuple[int, ...]
    queues: tuple[tuple[int, int], ...]
    mode: Optional[str] = None
    shaper: Optional[str] = None
    children: tuple[tuple[str, str], ...] = ()


def parse(text: str) -> Optional[Mqprio]:
    """The root's mqprio; ``None`` when the root is another one.

    :raises ParseError: for an output without a root, or with more than one mqprio, or one that is cut.
    """
    head: Optional[re.Match[str]] = None
    queues: Optional[list[tuple[int, int]]] = None
    words_of: dict[str, str] = {}
    children = []
    other = False
    for number, line in numbered(text):
        words = line.strip()
        start, ranges, word, below = (form.fullmatch(words) for form in (_HEAD, _QUEUES, _WORD, _OTHER))
        if start is not None and head is None:
            head = start
        elif ranges is not None and head is not None and queues is None:
            queues = [(int(pair[1]), int(pair[2])) for pair in _PAIR.finditer(ranges[1])]
        elif word is not None and head is not None and word[1] not in words_of:
            words_of[word[1]] = word[2]
        elif below is not None and below[1] != "mqprio":
            other = other or below[3] is None
            if below[3] is not None:
                children.append((below[1], below[3]))
        else:
            raise wrong(TOOL, number, line, "a line that is not known here")
    if head is None:
        if not other:
            raise ParseError("no qdisc at the root", f"{TOOL}:1", text.strip()[:80])
        return None
    classes, count = tuple(map(int, head[4].split())), int(head[3])
    if queues is None or len(queues) != count or max(classes) >= count or any(last < first for first, last in queues):
        raise ParseError("queues and classes do not fit together", f"{TOOL}:1", head[0][:80])
    own = tuple(child for child in children if child[1].partition(":")[0] == head[1])
    return Mqprio(head[1], count, classes, tuple(queues), words_of.get("mode"), words_of.get("shaper"), own)
