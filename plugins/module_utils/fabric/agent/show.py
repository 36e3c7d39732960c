# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright show``: what the node is, as tables of its rails and their lossless settings, or as JSON."""

from __future__ import annotations

import json
from typing import Optional, Sequence, TextIO

from ..errors import IntentError
from ..model.codec import encode
from ..model.document import load
from ..model.facts import Netdev, NodeFacts, RdmaDevice, RdmaPort
from ..ports import Port
from ..probe.node import probe
from ..resolve.bind import bind
from .options import Options
from .show_qos import HEADINGS as QOS_HEADINGS
from .show_qos import qos_rows

HEADINGS = ("rail", "PCI", "netdev", "link", "MTU", "addresses", "RDMA", "port", "path MTU")
Row = tuple[str, ...]


def show(port: Port, options: Options, out: TextIO) -> int:
    """Rails of the intent with what carries them; without an intent, every NIC."""
    facts = probe(port)
    if "--json" in options:
        out.write(json.dumps(encode(facts), indent=1) + "\n")
        return 0
    try:
        rails = bind(load(port), facts)
        rows = [
            _row(
                rail.intent.name,
                bound.pci.address if bound.pci else bound.problem,
                bound.netdev,
                bound.rdma,
                bound.port,
            )
            for rail in rails
            for bound in rail.ports
        ]
    except IntentError as error:
        out.write(f"{error}\n")
        rows = _hardware(facts)
    _table(out, HEADINGS, rows)
    lossless = qos_rows(facts, {row[2]: row[0] for row in rows})
    if lossless:
        out.write("\n")
        _table(out, QOS_HEADINGS, lossless)
    out.writelines(f"not read: {entry.source}: {entry.reason}\n" for entry in facts.unread)
    return 0


def _table(out: TextIO, headings: Row, rows: Sequence[Row]) -> None:
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    for row in (headings, *rows):
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths))
        out.write(f"{line.rstrip()}\n")


def _row(rail: str, pci: str, netdev: Optional[Netdev], rdma: Optional[RdmaDevice], port: Optional[RdmaPort]) -> Row:
    link = ("-", "-", "-", "-")
    if netdev is not None:
        link = (netdev.name, netdev.operstate or "?", str(netdev.mtu or "?"), " ".join(netdev.addresses) or "-")
    device = (rdma.name if rdma else "-", (port.state if port else None) or "-")
    return (rail, pci, *link, *device, str(port.active_mtu) if port and port.active_mtu else "-")


def _hardware(facts: NodeFacts) -> list[Row]:
    rows: list[Row] = []
    for netdev in facts.netdevs or ():
        if netdev.pci is None:
            continue
        device = next((dev for dev in facts.rdma or () if netdev.name == dev.parent or netdev.pci == dev.pci), None)
        first = device.ports[0] if device is not None and device.ports else None
        rows.append(_row("-", netdev.pci, netdev, device, first))
    return rows
