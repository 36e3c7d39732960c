# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Which netdevs carry the session or a default route: those are never touched."""

from __future__ import annotations

from typing import Optional, Sequence

from ..errors import ParseError, ReadError
from ..model.facts import Netdev, Route
from ..parse.ip_route import MAIN
from ..ports import Port
from .collect import Reader

_UP, _REJECT = 0x1, 0x200  # RTF_UP, RTF_REJECT: linux/route.h, linux/ipv6_route.h


def management(
    reader: Reader, netdevs: Optional[Sequence[Netdev]], routes: Optional[Sequence[Route]], session: Optional[str]
) -> tuple[str, ...]:
    """Names of the management netdevs, with the devices below them (bond members, a VLAN's lower device).

    :param routes: as ip told them; the kernel's own files are read all the same, so that a tool that fails leaves no
        management netdev out.
    :param session: this node's address in the controller's session; looked for when it is not given.
    """
    names = set(reader.value("/proc/net/route", _default4, "management") or ())
    if reader.port.exists("/proc/net/ipv6_route"):
        others = set(reader.value("/proc/net/ipv6_route", _default6, "management") or ()) - names
        if others:
            # That file mixes all tables, and a rail's own table may hold a default route: only the main one counts.
            names |= others if routes is None else others & set(_in_main(routes))
    given, session = session is not None, session or own_session(reader.port)
    if session:
        names |= {netdev.name for netdev in netdevs or () if session in _locals(netdev)}
        if given and not names and not session.startswith(("127.", "::1")):
            reader.note(
                ReadError("no default route, and no network device has the session's address", session), "management"
            )
    return _with_lower(names, netdevs or ())


def session_address(ssh_connection: Optional[str]) -> Optional[str]:
    """The node's own address in SSH_CONNECTION, ``client port server port`` (ssh(1))."""
    words = (ssh_connection or "").split()
    return words[2].partition("%")[0] if len(words) == 4 else None


def client_address(ssh_connection: Optional[str]) -> Optional[str]:
    """The controller's address in SSH_CONNECTION; ``None`` for a link-local one, to which no route leads."""
    words = (ssh_connection or "").split()
    return words[0] if len(words) == 4 and "%" not in words[0] else None


def own_session(port: Port) -> Optional[str]:
    """The node's own address in the SSH session that we run in, or ``None`` when there is none."""
    return session_address(own_connection(port))


def own_connection(port: Port) -> Optional[str]:
    """SSH_CONNECTION of the session that we run in, or ``None`` when there is none.

    sudo drops SSH_CONNECTION from our environment, but not from the ones of our ancestors.
    """
    pid = "self"
    try:
        while pid not in ("0", "1"):
            for item in port.read(f"/proc/{pid}/environ").split("\0"):
                if item.startswith("SSH_CONNECTION="):
                    return item.partition("=")[2]
            # pid (command) state parent …, proc(5); a command may hold spaces and parentheses
            pid = port.read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1]
    except (ReadError, IndexError):
        pass
    return None


def _default4(text: str) -> list[str]:
    rows = [line.split() for line in text.splitlines()[1:] if line.strip()]
    try:
        return [row[0] for row in rows if int(row[1], 16) == 0 and int(row[7], 16) == 0 and _valid(row[3])]
    except (IndexError, ValueError):
        raise ParseError("no routing table as the kernel prints it", "route:1", text[:80]) from None


def _default6(text: str) -> list[str]:
    rows = [line.split() for line in text.splitlines() if line.strip()]
    try:
        return [
            row[9]
            for row in rows
            if int(row[0], 16) == 0 and int(row[1], 16) == 0 and _valid(row[8]) and row[9] != "lo"
        ]
    except (IndexError, ValueError):
        raise ParseError("no routing table as the kernel prints it", "ipv6_route:1", text[:80]) from None


def _valid(flags: str) -> bool:
    return int(flags, 16) & (_UP | _REJECT) == _UP


def _in_main(routes: Sequence[Route]) -> list[str]:
    return [route.netdev for route in routes if route.destination == "::/0" and route.table == MAIN and route.netdev]


def _locals(netdev: Netdev) -> set[str]:
    return {address.partition("/")[0] for address in netdev.addresses}


def _with_lower(names: set[str], netdevs: Sequence[Netdev]) -> tuple[str, ...]:
    while True:
        more = {netdev.lower for netdev in netdevs if netdev.name in names and netdev.lower}
        more |= {netdev.name for netdev in netdevs if netdev.master in names}
        if more <= names:
            return tuple(sorted(names))
        names |= more
