# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What filters packets on rails: nftables, with firewalld and ufw over it, and the older iptables.

Nothing is loaded for the sake of the question: nft and iptables-save would load modules, and a kernel without those
modules filters nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence

from ..errors import MissingError
from ..model.facts import Filtered, Firewall, Netdev
from ..parse.ip_address import HARDWARE
from ..resolve.derive import FIRST_TEST_PORT, ROCE_PORT
from ..resolve.openings import MOST_RAILS
from .collect import Reader

if TYPE_CHECKING:
    from ..parse.filters import Chain

NFT = ("nft", "-j", "-t", "list", "ruleset")
# RoCE v2, and the ports that test servers listen on: which of them is a netdev's follows from the rail that it carries.
# A NIC takes RoCE before any filter of the kernel sees it; soft RoCE, and all that goes over TCP, passes the filters.
PORTS = (("udp", ROCE_PORT), *(("tcp", FIRST_TEST_PORT + index) for index in range(MOST_RAILS)))
_TOOLS = {"ip": "iptables", "ip6": "ip6tables"}
_TABLES = ("filter", "raw", "mangle")


def firewall(
    reader: Reader, netdevs: Sequence[Netdev], management: Sequence[str], modules: Optional[Sequence[str]]
) -> Optional[Firewall]:
    """What becomes of packets to :data:`PORTS`, on every netdev with an address that may be a rail's.

    ``None`` without a note: nothing filters. Without the kernel's modules nothing is asked, and a note says so.
    """
    if modules is None:
        reader.note(MissingError("not asked, since it is not known what is loaded", "firewall"), "firewall")
        return None
    legacy = [family for family, tool in _TOOLS.items() if any(f"{tool[:-1]}_{table}" in modules for table in _TABLES)]
    if "nf_tables" not in modules and not legacy:
        return None
    told = [_nftables(reader)] if "nf_tables" in modules else []
    told += [_saved(reader, family, "legacy") for family in legacy]
    chains: list[Chain] = []
    for part in told:
        if part is None:
            return None
        chains += part
    if not any(chain.hook for chain in chains):
        return None
    return Firewall(_backend(chains), tuple(_judged(chains, netdevs, management)))


def _judged(chains: Sequence[Chain], netdevs: Sequence[Netdev], management: Sequence[str]) -> list[Filtered]:
    from ..parse import filters  # noqa: PLC0415 - most nodes filter nothing, and a health check pays for each import

    found = []
    for netdev in netdevs:
        if netdev.kind not in (*HARDWARE, "bond", "vlan") or netdev.master or netdev.name in management:
            continue
        for address in netdev.addresses:
            if address.startswith("fe80"):
                continue
            for protocol, port in PORTS:
                state, rule = filters.judge(chains, filters.Packet(netdev.name, protocol, port, address))
                found.append(Filtered(netdev.name, address, protocol, port, state, rule))
    return found


def _nftables(reader: Reader) -> Optional[list[Chain]]:
    """Chains of nftables. Tables that iptables wrote are asked of iptables-save: nft shows only their outline."""
    from ..parse import nft  # noqa: PLC0415

    told = reader.tool(NFT, nft.parse, "firewall")
    if told is None:
        return None
    chains = list(told)
    for family in _TOOLS:
        theirs = {chain.table for chain in chains if chain.family == family and nft.is_extended(chain)}
        if theirs:
            saved = _saved(reader, family, "nft")
            if saved is None:
                return None
            chains = [chain for chain in chains if chain.family != family or chain.table not in theirs]
            chains += [chain for chain in saved if chain.table in theirs]
    return chains


def _saved(reader: Reader, family: str, variant: str) -> Optional[list[Chain]]:
    from ..parse import iptables_save  # noqa: PLC0415

    argv = (f"{_TOOLS[family]}-{variant}-save",)
    told = reader.tool(argv, lambda text: iptables_save.parse(text, family), "firewall")
    return None if told is None else list(told)


def _backend(chains: Sequence[Chain]) -> str:
    if any(chain.table == "firewalld" for chain in chains):
        return "firewalld"
    if any(chain.name.startswith("ufw") for chain in chains):
        return "ufw"
    return "iptables" if any(chain.hook and chain.name.isupper() for chain in chains) else "nftables"
