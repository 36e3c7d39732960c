# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One probe of a node: all sections, each for itself, so that a bad tool never hides the rest."""

from __future__ import annotations

from typing import Optional, Sequence

from ..model.facts import Firewall, Netdev, NodeFacts, Owner
from ..ports import Port
from ..records import replace
from . import host
from .collect import Reader
from .ip import ip
from .management import management
from .netdev import netdevs
from .pci import pci
from .qos import qos
from .rdma import rdma
from .services import services
from .sysctl import sysctls
from .system import system


def probe(port: Port, detail: bool = False, session: Optional[str] = None, *, judged: bool = True) -> NodeFacts:
    """What a node is, live or recorded; it changes nothing and raises nothing for what a node lacks.

    :param detail: also the counters of RDMA ports, the accelerators, and what takes processes for every netdev:
        firmware, optics and the drivers' statistics; and the kernel's log.
    :param session: the node's own address in the controller's session, where the caller knows it better than we do.
    :param judged: also what rules alone need: path MTUs (a process), the memlock limit, LLDP neighbours, and
        who else sets what we set.
    """
    reader = Reader(port)
    network, accelerators = pci(reader, detail)
    listed, routes, rules = ip(reader)
    found = netdevs(reader, listed, detail) if listed is not None else None
    node = system(reader)
    untouched = management(reader, found, routes, session)
    modules = host.modules(reader, node.kernel)
    facts = NodeFacts(
        system=node,
        management=untouched,
        pci=network,
        netdevs=found,
        rdma=rdma(reader, detail, judged),
        modules=modules,
        memlock=host.memlock(reader) if judged else None,
        lldp=host.neighbours(reader) if judged else None,
        routes=routes,
        rules=rules,
        sysctls=sysctls(reader, found),
        firewall=_firewall(reader, found, untouched, modules) if judged else None,
        services=services(reader) if judged else None,
        owners=_owners(reader, found, untouched, node.network_manager) if judged else None,
        qos=qos(reader, found, untouched),
        accelerators=accelerators,
        unread=tuple(reader.unread),
    )
    return _detailed(reader, facts) if detail else facts


def _detailed(reader: Reader, facts: NodeFacts) -> NodeFacts:
    from . import detail  # noqa: PLC0415 - only for details

    optics = detail.optics(reader, facts.netdevs)
    statistics = detail.statistics(reader, facts.netdevs)
    log = detail.kernel_log(reader)
    unread = tuple(reader.unread)
    return replace(facts, optics=optics, statistics=statistics, kernel_log=log, unread=unread)


def _firewall(
    reader: Reader, found: Optional[Sequence[Netdev]], untouched: Sequence[str], modules: Optional[Sequence[str]]
) -> Optional[Firewall]:
    from .firewall import firewall  # noqa: PLC0415 - only rules need it

    return firewall(reader, found or (), untouched, modules)


def _owners(
    reader: Reader, found: Optional[Sequence[Netdev]], untouched: Sequence[str], manager: Optional[str]
) -> Optional[tuple[Owner, ...]]:
    from .owners import owners  # noqa: PLC0415 - a setter does not need it, and compiles what it imports

    return owners(reader, found, untouched, manager)
