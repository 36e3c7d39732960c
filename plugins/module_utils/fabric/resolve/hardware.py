# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a node can be what its intent wants: its distribution, and the NICs that its rails name."""

from __future__ import annotations

from collections import Counter
from typing import Iterable, Optional

from ..model.facts import Netdev, NodeFacts, Pci
from ..model.intent import DeviceMatch, NodeIntent
from ..records import dataclass, replace
from .bind import BoundPort, BoundRail, bind
from .management import management_within
from .prefix import network

# ID of os-release -> supported VERSION_IDs; "9" holds every 9.x. The one list of supported distributions.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "debian": ("12", "13"),
    "ubuntu": ("22.04", "24.04", "26.04"),
    "rhel": ("9", "10"),
    "rocky": ("9", "10"),
    "almalinux": ("9", "10"),
    "sles": ("15",),
}


@dataclass(frozen=True)
class Match:
    """The rails of a node bound to its hardware, what stands in the way, and the override that may fix it.

    ``override`` is YAML to paste into the host's variables, or empty when it would be a guess.
    """

    rails: tuple[BoundRail, ...]
    problems: tuple[str, ...]
    override: str = ""


def match(intent: NodeIntent, facts: NodeFacts) -> Match:
    """Judge one node. Never raises: every problem is a sentence that names rail, value and remedy."""
    rails = bind(intent, facts)
    free = _unclaimed(rails, facts)
    problems = [*_distribution(facts)]
    missing: list[tuple[BoundRail, BoundPort]] = []
    for rail in rails:
        problems.extend(_subnets(rail, facts))
        for port in rail.ports:
            if not port.found:
                missing.append((rail, port))
            elif port.problem and any(netdev.pci == _address(port) for netdev in facts.netdevs or ()):
                # A NIC without any netdev only waits for its driver: the stack's role brings it.
                problems.append(f"rail {rail.intent.name}: {port.problem}")
            problems.extend(_netdev(rail, port, facts))
    similar = _similar(rails, free)
    problems.extend(f"rail {rail.intent.name}: {port.problem}; {_offer(port, similar)}" for rail, port in missing)
    return Match(rails, tuple(problems), _override(rails, missing, similar, facts))


def report(host: str, found: Match) -> str:
    """The problems as one message, and the override to paste."""
    text = f"{host} cannot be what the spec wants: " + "; ".join(found.problems)
    if found.override:
        text += f". If the NIC was replaced, paste this into host_vars/{host}.yml:\n{found.override}"
    return text


def overview(found: Match) -> list[dict[str, Optional[str]]]:
    """Which hardware carries which rail, one line a rail, as names."""
    return [
        {
            "rail": rail.intent.name,
            "pci": ", ".join(_address(port) or "-" for port in rail.ports),
            "netdev": rail.netdev_name,
            "rdma": rail.rdma.name if rail.rdma else None,
            "addresses": ", ".join(rail.intent.addresses),
        }
        for rail in found.rails
    ]


def _distribution(facts: NodeFacts) -> Iterable[str]:
    name, release = facts.system.distribution, facts.system.release or ""
    supported = "; ".join(f"{known} {', '.join(releases)}" for known, releases in DISTRIBUTIONS.items())
    if name is None:
        yield f"the distribution could not be read from os-release. Supported are {supported}"
    elif not any(release == known or release.startswith(f"{known}.") for known in DISTRIBUTIONS.get(name, ())):
        yield f"{name} {release} is not supported. Supported are {supported}"


def _address(port: BoundPort) -> Optional[str]:
    """PCI address of what a port is bound to."""
    return next((item for item in (port.pci and port.pci.address, port.netdev and port.netdev.pci) if item), None)


def _management(facts: NodeFacts) -> set[str]:
    """Netdevs that carry the management link, with the devices below them: VLANs' lower ones, bonds' ports."""
    carriers = set(facts.management)
    size = 0
    while size != len(carriers):
        size = len(carriers)
        for netdev in facts.netdevs or ():
            if netdev.name in carriers and netdev.lower:
                carriers.add(netdev.lower)
            if netdev.master in carriers:
                carriers.add(netdev.name)
    return carriers


def _subnets(rail: BoundRail, facts: NodeFacts) -> Iterable[str]:
    for address in rail.intent.addresses:
        cut = management_within(address, facts)
        if cut is not None:
            yield (
                f"rail {rail.intent.name}: its subnet {network(address)} holds {cut[0]}'s address {cut[1]}, which "
                "carries the node's management. Give the rail another subnet"
            )


def _netdev(rail: BoundRail, port: BoundPort, facts: NodeFacts) -> Iterable[str]:
    netdev, name = port.netdev, rail.intent.name
    if netdev is None:
        return
    if netdev.name in _management(facts):
        yield (
            f"rail {name}: its NIC {_label(netdev.pci or netdev.name, netdev)} carries the management link and is "
            "never touched. Give the rail another NIC"
        )
    wanted = rail.intent.host_mtu
    # Drivers without a limit of their own say 0 (kernel net/core/dev.c, dev_validate_mtu()).
    if wanted and netdev.max_mtu and netdev.max_mtu < wanted:
        yield (
            f"rail {name}: {netdev.name} takes an MTU of at most {netdev.max_mtu}, the spec wants {wanted}. "
            f"Lower host_mtu of fabric {rail.intent.fabric}, or update the NIC's driver"
        )


def _unclaimed(rails: tuple[BoundRail, ...], facts: NodeFacts) -> list[Pci]:
    """NIC functions that no rail has and that do not carry the management link, by address."""
    claimed = {_address(port) for rail in rails for port in rail.ports}
    carriers = _management(facts)
    claimed.update(netdev.pci for netdev in facts.netdevs or () if netdev.name in carriers)
    return sorted((pci for pci in facts.pci or () if pci.address not in claimed), key=lambda pci: pci.address)


def _similar(rails: tuple[BoundRail, ...], free: list[Pci]) -> list[Pci]:
    """Of the free functions those of the model that most rails have; all of them when none is."""
    models = Counter((port.pci.vendor, port.pci.device) for rail in rails for port in rail.ports if port.pci)
    for model, _count in models.most_common():
        same = [pci for pci in free if (pci.vendor, pci.device) == model]
        if same:
            return same
    return free


def _offer(port: BoundPort, similar: list[Pci]) -> str:
    wanted = next((match.pci for match in port.intent.match if match.pci), None)
    if wanted in {pci.address for pci in similar}:
        return f"the NIC at {wanted} is another one"
    if not similar:
        return "no other NIC is free"
    return "free NICs are " + ", ".join(f"{pci.address} ({pci.vendor}:{pci.device})" for pci in similar)


def _label(where: str, netdev: Netdev) -> str:
    return where if where == netdev.name else f"{where} ({netdev.name})"


def _override(
    rails: tuple[BoundRail, ...], missing: list[tuple[BoundRail, BoundPort]], similar: list[Pci], facts: NodeFacts
) -> str:
    """``fabric_devices`` as YAML, when there are as many free NICs as missing ones; both in their order."""
    if not missing or len(similar) != len(missing):
        return ""
    # Where the address that was wanted holds a free NIC, that one was replaced on the spot.
    free = {pci.address: pci for pci in similar}
    chosen: dict[int, Pci] = {}
    for _rail, port in missing:
        for wanted in port.intent.match:
            if wanted.pci in free and id(port) not in chosen:
                chosen[id(port)] = free.pop(str(wanted.pci))
    for _rail, port in missing:
        if id(port) not in chosen:
            chosen[id(port)] = free.pop(min(free))
    lines = ["fabric_devices:"]
    for rail in rails:
        if not any(rail is lacking for lacking, _port in missing):
            continue
        lines += [f"  {rail.intent.name}:", "    ports:"]
        for port in rail.ports:
            matches = (_rematch(port, chosen[id(port)], facts),) if id(port) in chosen else port.intent.match
            lines.append(f"      - {_flow(matches, port.intent.rdma_port)}")
    return "\n".join(lines) + "\n"


def _rematch(port: BoundPort, pci: Pci, facts: NodeFacts) -> DeviceMatch:
    """The new NIC by the keys that the old one was known by, where the facts have them; by its PCI address at least."""
    keys = port.intent.match[0]
    netdev = next((netdev for netdev in facts.netdevs or () if netdev.pci == pci.address), None)
    device = next((device for device in facts.rdma or () if device.pci == pci.address and not device.soft), None)
    found = DeviceMatch(
        slot=pci.slot if keys.slot else None,
        path=pci.path if keys.path else None,
        mac=(netdev.permanent_mac or netdev.mac) if keys.mac and netdev else None,
        guid=f"0x{device.node_guid.replace(':', '')}" if keys.guid and device and device.node_guid else None,
    )
    return replace(found, pci=pci.address) if keys.pci or found == DeviceMatch() else found


def _flow(matches: tuple[DeviceMatch, ...], rdma_port: int) -> str:
    """A port as YAML in flow style, every value quoted."""
    texts = [
        ", ".join(f'{key}: "{value}"' for key, value in vars(entry).items() if value is not None) for entry in matches
    ]
    number = f", rdma_port: {rdma_port}" if rdma_port != 1 else ""
    if len(texts) == 1:
        return f"{{{texts[0]}{number}}}"
    return f"{{match: [{', '.join(f'{{{text}}}' for text in texts)}]{number}}}"
