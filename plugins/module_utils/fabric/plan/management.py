# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The NICs that carry the node's management, remembered for times when no session of the controller shows them."""

from __future__ import annotations

import json
from typing import Optional

from ..errors import MissingError
from ..model.facts import Netdev, NodeFacts
from ..model.plan import Plan, WriteFile
from ..ports import Port
from ..records import replace
from .files import file_step

PATH = "/etc/railwright/management.json"


def read_management(port: Port) -> Optional[str]:
    """The document as it is, ``None`` before the first run."""
    try:
        return port.read(PATH)
    except MissingError:
        return None


def with_remembered(facts: NodeFacts, document: Optional[str], session: Optional[str]) -> NodeFacts:
    """The facts with the remembered NICs among the management netdevs.

    :param session: the node's address in the controller's session; with one, what is now counts and not what was.
    """
    if document is None or session is not None:
        return facts
    try:
        macs = {nic["mac"] for nic in json.loads(document)["nics"]}
    except (ValueError, TypeError, KeyError):
        # Damaged: what carries the management without a default route is not known any more, and the next run of the
        # controller writes it again.
        return facts
    known = {netdev.name for netdev in facts.netdevs or () if _mac(netdev) in macs and netdev.kind is None}
    return replace(facts, management=tuple(sorted(known | set(facts.management))))


def plan_management(facts: NodeFacts, document: Optional[str], session: Optional[str]) -> Plan:
    """The step that writes the NICs down, which only a run with a session knows for sure."""
    nics = [netdev for netdev in facts.netdevs or () if netdev.name in facts.management and netdev.kind is None]
    if session is None or not nics:
        return Plan("network")
    text = json.dumps({"nics": [{"mac": _mac(nic), "netdev": nic.name} for nic in nics]}, indent=1) + "\n"
    names = ", ".join(nic.name for nic in nics)
    step = file_step({PATH: document}, WriteFile(PATH, text), "management", f"file {PATH}", names)
    return Plan("network", (step,) if step is not None else ())


def _mac(netdev: Netdev) -> Optional[str]:
    return netdev.permanent_mac or netdev.mac
