# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about what a rail is addressed by: IP addresses and the RoCE v2 GIDs made from them."""

from __future__ import annotations

from typing import Optional

from ..model.facts import Gid
from ..model.finding import Finding
from ..resolve.bind import BoundRail
from .rule import Rule
from .view import View, place

ADDRESS = Rule(
    "rail.address",
    "The rail has the addresses of the spec, and no others",
    "fail",
    "local",
    "Peers find the rail by its address, and RoCE makes its GIDs from it; a second address moves GID indices.",
    "Run site.yml (role rail_network) for this node.",
    "fabric_spec.units.*.*.subnet and fabric_node_id, or fabric_addresses",
)
GID = Rule(
    "rail.gid",
    "Each address of the rail has a RoCE v2 GID on the rail's network device",
    "fail",
    "local",
    "NCCL and perftest send from a GID: without the right one they fail, or use RoCE v1 or another network.",
    "Set the address again (role rail_network); if the GID still does not come, reload the NIC's driver.",
    "kernel Documentation/ABI/stable/sysfs-class-infiniband: gids, gid_attrs/types, gid_attrs/ndevs",
)


def address(view: View, rail: BoundRail) -> Optional[Finding]:
    """Expected against present addresses; link-local ones are the kernel's own affair."""
    intent = rail.intent
    if intent.addressing == "none":
        return None
    host, name, netdev = view.host, intent.name, rail.netdev
    expected = ", ".join(intent.addresses) or "an address from DHCP"
    if netdev is None:
        found = view.missing(f"the addresses of {place(rail)}", "netdevs", place(rail))
        return ADDRESS.unknown(host, name, expected=expected, found=found)
    have = tuple(item for item in netdev.addresses if not link_local(item))
    found = f"{netdev.name} " + (", ".join(have) or "none")
    if intent.addressing == "dhcp":
        if have:
            return ADDRESS.passed(host, name, found=found)
        return ADDRESS.broken(
            host,
            name,
            expected=expected,
            found=found,
            cause="no DHCP server answered",
            remedy="Check the DHCP server of this rail.",
        )
    missing = [item for item in intent.addresses if item not in have]
    extra = [item for item in have if item not in intent.addresses]
    if missing:
        return ADDRESS.broken(
            host, name, expected=expected, found=found, cause=_why(view, rail, missing[0], extra), device=netdev.name
        )
    if extra:
        return ADDRESS.broken(
            host,
            name,
            expected=expected,
            found=found,
            cause=f"{', '.join(extra)} is not in the spec",
            remedy=f"ip address del {extra[0]} dev {netdev.name}, and take it out of whatever sets it.",
            warn=True,
            device=netdev.name,
        )
    return ADDRESS.passed(host, name, found=found)


def _why(view: View, rail: BoundRail, missing: str, extra: list[str]) -> str:
    """The nearest explanation of an address that is not there."""
    bare = missing.partition("/")[0]
    for item in extra:
        if item.partition("/")[0] == bare:
            return f"the prefix length is wrong: {item} instead of {missing}"
    for netdev in view.facts.netdevs or ():
        if netdev.name != rail.netdev_name and any(item.partition("/")[0] == bare for item in netdev.addresses):
            return f"{missing} sits on {netdev.name} instead"
    if extra:
        return f"another address is set instead: {', '.join(extra)}"
    return f"{missing} was removed from {place(rail)}, or never set"


def gid(view: View, rail: BoundRail) -> Optional[Finding]:
    """A RoCE v2 GID of every address, held for the netdev that carries the rail."""
    intent = rail.intent
    if intent.transport != "roce" or intent.addressing == "none":
        return None
    host, name = view.host, intent.name
    present = rail.netdev.addresses if rail.netdev is not None else ()
    wanted = intent.addresses or tuple(item for item in present if not link_local(item))
    expected = ", ".join(f"RoCE v2 GID of {item.partition('/')[0]} on {place(rail)}" for item in wanted)
    if rail.rdma is None or rail.port is None or not wanted:
        subjects = ("rdma", rail.rdma.name) if rail.rdma else ("rdma",)
        return GID.unknown(host, name, expected=expected, found=view.missing("the GID table", *subjects))
    verdicts = [_one(view, rail, item.partition("/")[0], expected) for item in wanted]
    worst = [finding for finding in verdicts if finding is not None]
    if worst:
        return next((finding for finding in worst if finding.state != "unknown"), worst[0])
    indices = {item.partition("/")[0]: gid_indices(rail, item) for item in wanted}
    found = f"{rail.rdma.name} index {', '.join(str(index) for held in indices.values() for index in held)}"
    twice = [item for item, held in indices.items() if len(held) > 1]
    if twice:
        return GID.broken(
            host,
            name,
            expected=expected,
            found=found,
            cause=f"the RoCE v2 GID of {', '.join(twice)} is there twice: an old entry was never taken out",
            remedy="Reload the NIC's driver when no job runs: the table is then made anew.",
            warn=True,
            device=rail.rdma.name,
        )
    return GID.passed(host, name, found=found)


def gid_indices(rail: BoundRail, address: str) -> tuple[int, ...]:
    """Where the RoCE v2 GIDs of an address on the rail's netdev are in the table: one index when all is well."""
    gid = gid_of(address)
    return tuple(
        entry.index
        for entry in (rail.port.gids if rail.port is not None else ())
        if entry.gid.lower() == gid and entry.kind == "RoCE v2" and entry.netdev == rail.netdev_name
    )


def _one(view: View, rail: BoundRail, bare: str, expected: str) -> Optional[Finding]:
    """The finding about one address, or nothing when its GID is good."""
    host, name, port, rdma = view.host, rail.intent.name, rail.port, rail.rdma
    entries: list[Gid] = [entry for entry in port.gids if entry.gid.lower() == gid_of(bare)] if port else []
    device = rdma.name if rdma else ""
    if any(entry.kind == "RoCE v2" and entry.netdev == rail.netdev_name for entry in entries):
        return None
    if any(entry.kind is None or entry.netdev is None for entry in entries):
        found = view.missing(f"type or network device of the GID of {bare}", "rdma", device)
        return GID.unknown(host, name, expected=expected, found=found)
    if not entries:
        found, cause = f"{device} has no GID of {bare}", "the RDMA port did not take the address up"
        if port is not None and port.gids and all(entry.gid[:4].lower() == "fe80" for entry in port.gids):
            found += ", only link-local ones"
            cause = "the RDMA port knows no address of the rail: what runs over it would use a link-local GID"
    elif all(entry.kind != "RoCE v2" for entry in entries):
        found, cause = f"{device} has {entries[0].kind} only for {bare}", "RoCE v2 is off on this device"
    else:
        where = next(entry.netdev for entry in entries if entry.kind == "RoCE v2")
        found, cause = f"the GID of {bare} is on {where}", "the address sits on another network device"
    return GID.broken(host, name, expected=expected, found=found, cause=cause, device=device)


def link_local(address: str) -> bool:
    """Whether an address is link-local (RFC 3927, RFC 4291)."""
    return address.startswith("169.254.") or address[:4].lower() in ("fe80", "fe90", "fea0", "feb0")


def gid_of(address: str) -> str:
    """The GID of an IP address as sysfs writes it: eight groups of four lower-case digits; IPv4 mapped (RFC 4291)."""
    bare = address.partition("/")[0]
    if ":" not in bare:
        a, b, c, d = (int(part) for part in bare.split("."))
        return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"
    head, gap, tail = bare.lower().partition("::")
    front = head.split(":") if head else []
    back = tail.split(":") if tail else []
    middle = ["0"] * (8 - len(front) - len(back)) if gap else []
    return ":".join(part.rjust(4, "0") for part in (*front, *middle, *back))
