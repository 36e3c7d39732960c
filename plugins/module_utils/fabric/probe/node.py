# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One probe of a node: all sections, each for itself, so that a bad tool never hides the rest."""

from __future__ import annotations

from typing import Optional

from ..model.facts import NodeFacts
from ..ports import Port
from . import host
from .collect import Reader
from .ip import ip
from .management import management
from .netdev import netdevs
from .pci import pci
from .rdma import rdma
from .sysctl import sysctls
from .system import system


def probe(port: Port, detail: bool = False, session: Optional[str] = None, *, judged: bool = True) -> NodeFacts:
    """What a node is, live or recorded; it changes nothing and raises nothing for what a node lacks.

    :param detail: also the counters of RDMA ports, the firmware of netdevs and the accelerators.
    :param session: the node's own address in the controller's session, where the caller knows it better than we do.
    :param judged: also what rules alone need: path MTUs (a process), the memlock limit and LLDP neighbours.
    """
    reader = Reader(port)
    network, accelerators = pci(reader, detail)
    listed, routes, rules = ip(reader)
    found = netdevs(reader, listed, detail) if listed is not None else None
    node = system(reader)
    return NodeFacts(
        system=node,
        management=management(reader, found, routes, session),
        pci=network,
        netdevs=found,
        rdma=rdma(reader, detail, judged),
        modules=host.modules(reader, node.kernel),
        memlock=host.memlock(reader) if judged else None,
        lldp=host.neighbours(reader) if judged else None,
        routes=routes,
        rules=rules,
        sysctls=sysctls(reader, found),
        accelerators=accelerators,
        unread=tuple(reader.unread),
    )
