# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of the perftest tools (ib_write_bw, ib_read_bw, ib_send_bw and their latency twins).

Shapes are those that perftest's src/perftest_parameters.c and src/perftest_resources.c print, 4.5 to 25.x. MB/sec and
MiB/sec both mean 2^20 bytes there ("MiB=2^20 byte, while Gb=10^9 bits", its ``--help``).
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Optional

from ..errors import ParseError
from ..records import dataclass, replace
from .perftest_errors import Failure, find_failure

MIB_TO_GBIT = 1048576 * 8 / 1e9

_RULE = re.compile(r"-{20,}$")
_TITLE = re.compile(r"\s+(?P<title>[A-Za-z_ ]+(?:BW|Latency) Test)(?: for .*)?$")
_KEY = re.compile(r"\s*(?P<key>[A-Za-z][\w*' ./-]*?)\s*: *(?P<value>[^\t]*?)(?:\t|\s{2,}|$)")
_ADDRESS = re.compile(r"\s*(?P<side>local|remote) address: +LID (?P<lid>\S+)")
_GID = re.compile(r"\s*GID: *(?P<gid>\S+)\s*$")
_SIXTEEN = re.compile(r"(?:\d{2,3}:){15}\d{2,3}", re.ASCII)
_ROW = re.compile(r"\s*\d+\s")
_UNIT = re.compile(r"BW average\[(?P<unit>[^\]]+)\]")


@dataclass(frozen=True)
class Row:
    """One message size. Bandwidth in Gbit/s, rate in million messages a second, latency in microseconds.

    ``peak`` is ``None`` when the run did not measure it.
    """

    size: int
    iterations: int
    average: Optional[float] = None
    peak: Optional[float] = None
    message_rate: Optional[float] = None
    t_min: Optional[float] = None
    t_max: Optional[float] = None
    t_typical: Optional[float] = None
    t_avg: Optional[float] = None
    t_stdev: Optional[float] = None
    p99: Optional[float] = None
    p999: Optional[float] = None


@dataclass(frozen=True)
class Perftest:
    """One run. ``mtu`` in bytes; GIDs as the kernel writes them (eight groups of four hex digits).

    ``bidirectional`` results are the sum of both directions. ``complete`` is false when the table was cut off;
    ``failure`` is the most telling error of the run.
    """

    test: Optional[str] = None
    bidirectional: bool = False
    device: Optional[str] = None
    link_type: Optional[str] = None
    mtu: Optional[int] = None
    gid_index: Optional[int] = None
    connection: Optional[str] = None
    queue_pairs: Optional[int] = None
    local_gid: Optional[str] = None
    remote_gid: Optional[str] = None
    rows: tuple[Row, ...] = ()
    complete: bool = False
    failure: Optional[Failure] = None

    @property
    def ok(self) -> bool:
        """Whether the run came to its end and measured something."""
        return self.complete and bool(self.rows) and self.failure is None

    @property
    def best(self) -> Optional[Row]:
        """The row with the highest average bandwidth: a run over all sizes is judged there, not at the first size."""
        measured = [row for row in self.rows if row.average is not None]
        return max(measured, key=lambda row: row.average or 0.0) if measured else None


def parse_perftest(out: str, err: str = "") -> Perftest:
    """A run in text form; what went wrong is in ``failure``, not raised.

    :raises ParseError: when this is no output of perftest, or a line of its table is of an unknown shape.
    """
    reader = _Reader()
    for number, line in enumerate(out.splitlines(), 1):
        reader.line(number, line.rstrip())
    result = reader.result()
    failure = find_failure(out + "\n" + err, result.local_gid, result.remote_gid)
    if not result.test and failure is None:
        raise ParseError("this is not the output of a perftest tool", "perftest:1", (out or err)[:200])
    return replace(result, failure=failure)


class _Reader:
    """Goes through the text once. The table ends with a rule as long as the first one; a shorter one was cut off."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.title = ""
        self.gids: dict[str, str] = {}
        self.side = ""
        self.rows: list[Row] = []
        self.unit = ""
        self.table = ""
        self.rule = ""
        self.complete = False

    def line(self, number: int, line: str) -> None:
        if _RULE.match(line):
            self.rule = self.rule or line
            self.complete = bool(self.rows) and line == self.rule
            return
        if line.lstrip().startswith("#bytes"):
            self._columns(number, line)
        elif self.table and _ROW.match(line):
            self.complete = False
            self.rows.append(_row(number, line, self.table, self.unit))
        elif not self.table:
            self._header(number, line)
        elif _TITLE.match(line):
            raise ParseError("a second run in the output of one", f"perftest:{number}", line[:200])

    def _columns(self, number: int, line: str) -> None:
        if "t_min[usec]" in line and "t_avg[usec]" in line:
            self.table = "latency"
            return
        unit = _UNIT.search(line)
        if unit is None or unit["unit"] not in ("Gb/sec", "MB/sec", "MiB/sec"):
            raise ParseError("perftest prints a table of an unknown kind", f"perftest:{number}", line[:200])
        self.table, self.unit = "bandwidth", unit["unit"]

    def _header(self, number: int, line: str) -> None:
        title, address, gid = _TITLE.match(line), _ADDRESS.match(line), _GID.match(line)
        if title:
            self.title = title["title"].strip()
        elif address:
            self.side = address["side"]
        elif gid:
            self.gids[self.side] = _gid(number, gid["gid"])
        else:
            for found in _KEY.finditer(line):
                self.fields.setdefault(found["key"].strip().lower(), found["value"].strip())

    def result(self) -> Perftest:
        mtu, index, queues = (self.fields.get(key, "") for key in ("mtu", "gid index", "number of qps"))
        return Perftest(
            test=self.title or None,
            bidirectional="Bidirectional" in self.title,
            device=self.fields.get("device") or None,
            link_type=self.fields.get("link type") or None,
            mtu=_int(mtu.replace("[B]", "")),
            gid_index=_int(index),
            connection=self.fields.get("connection type") or None,
            queue_pairs=_int(queues),
            local_gid=self.gids.get("local"),
            remote_gid=self.gids.get("remote"),
            rows=tuple(self.rows),
            complete=self.complete and bool(self.title),
        )


def _row(number: int, line: str, table: str, unit: str) -> Row:
    words = line.split()
    try:
        size, iterations = int(words[0]), int(words[1])
        values = [float(word) for word in words[2:]]
    except (ValueError, IndexError):
        raise ParseError("a table line is not made of numbers", f"perftest:{number}", line[:200]) from None
    if not all(isfinite(value) for value in values):
        raise ParseError("a table line is not made of numbers", f"perftest:{number}", line[:200])
    # With CPU utilization there is one more column. Two lines that ran into one have more.
    if table == "latency" and len(values) in (7, 8):
        return Row(size, iterations, None, None, None, *values[:7])
    if table == "bandwidth" and len(values) in (3, 4):
        factor = 1.0 if unit == "Gb/sec" else MIB_TO_GBIT
        return Row(size, iterations, values[1] * factor, values[0] * factor or None, values[2])
    raise ParseError("a line of perftest's table has not the columns of one result", f"perftest:{number}", line[:200])


def _gid(number: int, text: str) -> str:
    """A GID: the sixteen bytes in decimal, two digits at least, with colons."""
    parts = text.split(":")
    if not _SIXTEEN.fullmatch(text) or any(int(part) > 255 for part in parts):
        raise ParseError("perftest prints a GID of an unknown shape", f"perftest:{number}", text[:200])
    digits = "".join(f"{int(part):02x}" for part in parts)
    return ":".join(digits[at : at + 4] for at in range(0, 32, 4))


def _int(text: str) -> Optional[int]:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
