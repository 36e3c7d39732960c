# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""ifupdown's files, interfaces(5)."""

from __future__ import annotations

from typing import Optional

from ..model.base import Model
from ..records import dataclass

_STANZAS = ("iface", "mapping", "auto", "source", "source-directory", "rename", "template")


@dataclass(frozen=True, eq=False, repr=False)
class Stanza(Model):
    """One ``iface``: ``method`` is static, dhcp, manual, loopback …"""

    netdev: str
    family: str
    method: str
    address: Optional[str] = None
    mtu: Optional[str] = None


@dataclass(frozen=True, eq=False, repr=False)
class Interfaces(Model):
    """One file: its stanzas, the netdevs that come up by themselves, and the patterns of further files."""

    stanzas: tuple[Stanza, ...] = ()
    auto: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def parse(text: str) -> Interfaces:
    """A file's content. Options of no interest, and lines that ifup would refuse, are passed over."""
    stanzas: list[Stanza] = []
    auto: list[str] = []
    sources: list[str] = []
    folders: list[str] = []
    options: dict[str, str] = {}
    head: list[str] = []

    def close() -> None:
        if len(head) > 3:
            stanzas.append(Stanza(head[1], head[2], head[3], options.get("address"), options.get("mtu")))

    for line in text.replace("\\\n", " ").split("\n"):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] in _STANZAS or words[0].startswith("allow-"):
            close()
            head, options = (words if words[0] == "iface" else []), {}
            if words[0] in ("auto", "allow-auto", "allow-hotplug"):
                auto += words[1:]
            elif words[0] == "source":
                sources += words[1:]
            elif words[0] == "source-directory":
                folders += words[1:]
        elif len(words) > 1:
            options[words[0]] = words[1]
    close()
    return Interfaces(tuple(stanzas), tuple(auto), tuple(sources), tuple(folders))
