# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of iputils ping, IPv4 and IPv6; the formats are those of its ping.c, ping6_common.c and ping_common.c."""

from __future__ import annotations

import re
from typing import Optional

from ..errors import ParseError
from ..records import dataclass

_HEADER = re.compile(
    r"PING \S+ ?\((?P<peer>[^)\s]+)\)(?: from (?P<source>\S+)(?: \S+)?)? ?: "
    r"(?P<size>\d{1,9})(?:\(\d+\))? (?:data )?bytes"
)
_REPLY = re.compile(r"\d+ bytes from .+: icmp_seq=\d+ ")
_LOCAL_TOO_LONG = re.compile(r"local error: [Mm]essage too long(?:, mtu[:=] ?(?P<mtu>\d{1,9}))?$")
_TOO_BIG = re.compile(
    r"From (?P<router>\S+).*(?:Frag needed and DF set \(mtu = (?P<four>\d{1,9})\)|Packet too big: mtu=(?P<six>\d{1,9}))"
)
_UNREACHABLE = re.compile(
    r"From (?P<router>\S+).*? (?P<what>(?:Destination .*[Uu]nreachable|Time (?:to live )?exceeded|Packet filtered"
    r"|Address unreachable|Port unreachable|No route|Administratively prohibited|Source address failed).*)$"
)
_SEND_FAILED = re.compile(r"(?:sendmsg|sendto): (?P<what>.+)$")
_FATAL = re.compile(r"(?:\S*ping6?: |(?=connect: ))(?P<what>.+)$")
_STATISTICS = re.compile(
    r"(?P<sent>\d{1,9}) packets transmitted, (?P<received>\d{1,9}) received,(?: \+\d+ duplicates,)?"
    r"(?: \+(?P<corrupted>\d{1,9}) corrupted,)?(?: \+\d+ errors,)?"
    r"(?: [\d.]+% packet loss)?,? time \d+ms$"
)
_RTT = re.compile(
    r"(?:rtt|round-trip) min/avg/max/mdev = [\d.]+/(?P<average>\d{1,9}\.\d{1,9})/[\d.]+/[\d.]+ ms(?:, .*)?$"
)


@dataclass(frozen=True)
class Ping:
    """What one ping run says. ``size`` is the payload in bytes, without the ICMP and IP headers.

    ``local_mtu`` is set when this host itself refused the size (0 when it did not say at which MTU); ``path_mtu`` when
    a router did. ``unreachable`` and ``send_error`` are the last such message. ``fatal`` says why nothing was sent.
    """

    peer: Optional[str] = None
    source: Optional[str] = None
    size: Optional[int] = None
    sent: int = 0
    received: int = 0
    corrupted: int = 0
    average_ms: Optional[float] = None
    local_mtu: Optional[int] = None
    path_mtu: Optional[int] = None
    path_mtu_from: Optional[str] = None
    unreachable: Optional[str] = None
    send_error: Optional[str] = None
    fatal: Optional[str] = None

    @property
    def ok(self) -> bool:
        """Whether every packet came back whole."""
        return self.sent > 0 and self.received == self.sent and not self.corrupted and not self.fatal


def parse_ping(out: str, err: str = "") -> Ping:
    """The run that standard output and standard error show.

    :raises ParseError: when the output is cut off, or is not that of iputils ping.
    """
    header = _HEADER.match(out.lstrip("\n"))
    if header is None:
        return Ping(fatal=_fatal(out, err))
    lines = out.splitlines() + err.splitlines()
    notes = _notes(lines)
    statistics = average = None
    replied = False
    for line in out.splitlines():
        replied = replied or bool(_REPLY.match(line))
        statistics = _STATISTICS.match(line) or statistics
        rtt = _RTT.match(line)
        average = float(rtt["average"]) if rtt else average
    if statistics is None:
        raise ParseError("the statistics of ping are missing: its output was cut off", _place(lines), _last(lines))
    received = int(statistics["received"])
    if received and average is None and " time=" in out:
        raise ParseError("ping's round-trip times are missing: its output was cut off", _place(lines), _last(lines))
    if received and not replied:
        raise ParseError("ping counts replies, but shows none", _place(lines), _last(lines))
    return Ping(
        peer=header["peer"],
        source=header["source"],
        size=int(header["size"]),
        sent=int(statistics["sent"]),
        received=received,
        corrupted=int(statistics["corrupted"] or 0),
        average_ms=average,
        local_mtu=notes.local_mtu,
        path_mtu=notes.path_mtu,
        path_mtu_from=notes.path_mtu_from,
        unreachable=notes.unreachable,
        send_error=notes.send_error,
    )


def _notes(lines: list[str]) -> Ping:
    """What the lines between header and statistics report; the last one of a kind counts."""
    local_mtu = path_mtu = router = unreachable = send_error = None
    for line in lines:
        local, big, gone, failed = (
            pattern.search(line) for pattern in (_LOCAL_TOO_LONG, _TOO_BIG, _UNREACHABLE, _SEND_FAILED)
        )
        if local:
            local_mtu = int(local["mtu"] or 0)
        elif big:
            path_mtu, router = int(big["four"] or big["six"]), big["router"].rstrip(":")
        elif gone:
            unreachable = f"{gone['what'].strip()} (from {gone['router'].rstrip(':')})"
        elif failed:
            # Where the error queue was not read, the local refusal comes as the errno of sendmsg, without the MTU.
            if failed["what"].strip() == "Message too long":
                local_mtu = local_mtu or 0
            else:
                send_error = failed["what"].strip()
    return Ping(
        local_mtu=local_mtu, path_mtu=path_mtu, path_mtu_from=router, unreachable=unreachable, send_error=send_error
    )


def _fatal(out: str, err: str) -> str:
    """Why ping did not start."""
    lines = [line for line in (err + "\n" + out).splitlines() if line.strip()]
    for line in lines:
        found = _FATAL.match(line.strip())
        if found:
            return found["what"]
    raise ParseError(
        "this is not the output of iputils ping", _place(lines), _last(lines), "Install iputils (package iputils-ping)"
    )


def _place(lines: list[str]) -> str:
    return f"ping:{len(lines)}"


def _last(lines: list[str]) -> str:
    return lines[-1][:200] if lines else ""
