# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the rails' network settings, in the files and on the live links."""

from __future__ import annotations

from ..errors import ReadError, RefusedError
from ..model.base import Model
from ..model.facts import Netdev, NodeFacts, Owner
from ..model.intent import NodeIntent
from ..model.network import BOND, VLAN, Link
from ..model.plan import Action, Plan, RemoveFile, Step, WriteFile
from ..ports import Port
from ..probe.collect import Reader
from ..probe.owners_network import network_owners
from ..records import dataclass, field, replace
from ..resolve.bind import BoundRail, bind
from .files import Files, file_step, read_files
from .links import lag_note, rail_links
from .live import delete, live_steps, made_anew
from .owners import notes
from .protect import carries_management, refuse_links
from .providers import NetworkProvider, network_provider
from .routes import route_steps, stray_steps, undo_routes

RECONFIGURE = "the link is configured again: RDMA connections over it may break"


@dataclass(frozen=True, eq=False, repr=False)
class NodeNetwork(Model):
    """What the plan needs beside the facts.

    ``obstacle`` is what keeps the network manager from making the links; ``owners`` else configure the rails' netdevs.
    """

    files: Files = field(default_factory=dict)
    obstacle: str = ""
    owners: tuple[Owner, ...] = ()


def read_network(port: Port, intent: NodeIntent, facts: NodeFacts) -> NodeNetwork:
    """The files of the intent's rails as they are, and those that an earlier spec left for other rails."""
    provider, netdevs = network_provider(facts), facts.netdevs or ()
    links = tuple(rail_links(rail, netdevs) for rail in bind(intent, facts) if not _left_alone(rail))
    wanted = tuple(file.path for rail in links for file in provider.render(rail, netdevs))
    files = read_files(port, tuple(dict.fromkeys((*wanted, *provider.present(port)))))
    every = tuple(link for rail in links for link in rail)
    present = [link.netdev for link in every if link.netdev is not None]
    others = network_owners(Reader(port), present, facts.system.network_manager)
    return NodeNetwork(files, provider.obstacle(port, every), tuple(others))


def plan_network(intent: NodeIntent, facts: NodeFacts, node: NodeNetwork, interrupted: bool = False) -> Plan:
    """Steps towards the intent's rails.

    Drift on the live links is found as well as drift in the files. After an interrupted run (``interrupted``) every
    rail is settled again, because files may be in place that the network manager never read.

    :raises RefusedError: when a rail's netdev carries the management of the node, or its network manager is not known.
    :raises ReadError: when the netdevs, or which of them carry the management, could not be read.
    """
    if facts.netdevs is None:
        raise ReadError("the network devices could not be read", "netdevs")
    if any(item.subject == "management" for item in facts.unread):
        raise ReadError("which link carries the management could not be read", "management")
    work = _Work(facts, facts.netdevs, network_provider(facts), node)
    bound = bind(intent, facts)
    for rail in bound:
        reason = _left_alone(rail)
        if reason:
            work.notes.append(f"{rail.intent.name}: left alone, because {reason}")
            work.kept.add(rail.intent.name)
        else:
            work.rail(rail_links(rail, facts.netdevs), interrupted)
    work.left_over({rail.intent.name for rail in bound})
    work.steps += stray_steps(tuple(work.links), facts)
    work.notes += notes(node.owners, [link for link in work.links if link.rail not in work.touched])
    return work.plan()


class _Work:
    """Steps, notes and touched links so far."""

    def __init__(
        self, facts: NodeFacts, netdevs: tuple[Netdev, ...], provider: NetworkProvider, node: NodeNetwork
    ) -> None:
        self.facts = facts
        self.netdevs = netdevs
        self.provider = provider
        self.node = node
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.touched: dict[str, tuple[Link, ...]] = {}
        self.links: list[Link] = []
        self.gone: dict[str, Netdev] = {}
        self.kept: set[str] = set()
        self.written: set[str] = set()
        self.undo: list[Action] = []

    def rail(self, links: tuple[Link, ...], interrupted: bool) -> None:
        """One rail: its files, what stands in its links' way, and drift."""
        name = links[0].rail
        refuse_links(links, self.facts)
        lag = lag_note(links)
        self.notes += [lag] if lag else []
        files = self.provider.render(links, self.netdevs)
        self.written |= {file.path for file in files}
        self.links += links
        anew = made_anew(links)
        made = {step.setting for step in anew}
        links = _without(links, {link.name for link in links if f"{link.kind} {link.name}" in made})
        # What goes is known by the files that made it: a run that ends in between must find them as they were.
        found = [*self._replaced(files, links), *anew]
        for file in files:
            step = file_step(self.node.files, file, name, f"file {file.path}", _words(links))
            found += [step] if step is not None else []
        found += [step for step in live_steps(links) if step.setting not in made]
        routes = route_steps(links, self.facts)
        found += [step for step in routes if not step.actions]
        if not found and interrupted:
            found = [Step(name, "settings in force", "unknown after an interrupted run", "yes")]
        if found:
            self.touched[name] = links
        self.steps += [replace(step, disruptive=RECONFIGURE) for step in found]
        self.steps += [step for step in routes if step.actions]
        self.undo += undo_routes(links, self.facts)

    def _replaced(self, files: tuple[WriteFile, ...], links: tuple[Link, ...]) -> list[Step]:
        """Bonds and VLANs that the present text of the files made, and the new one does not know."""
        changed = (
            text for text in (self.node.files.get(f.path) for f in files if f.text != self.node.files.get(f.path))
        )
        about = self.provider.netdevs(tuple(text for text in changed if text is not None), self.netdevs)
        names = {link.name for link in links}
        old = [netdev for netdev in about if netdev.kind in (BOND, VLAN) and netdev.name not in names]
        self.gone.update((netdev.name, netdev) for netdev in old)
        return [
            Step(
                links[0].rail,
                f"{netdev.kind} {netdev.name}",
                "of an earlier state of the rail",
                "",
                (delete(netdev.name),),
            )
            for netdev in old
        ]

    def left_over(self, rails: set[str]) -> None:
        """Files of ours that no rail wants any more, with the bonds and VLANs that they made.

        The first file that matches a link wins (systemd.network(5)): one that is left over may hide a rail's own.
        """
        ours = {link.name for link in self.links}
        for path, text in self.node.files.items():
            name = self.provider.rail(path)
            if text is None or path in self.written or name in self.kept:
                continue
            about = self.provider.netdevs((text,), self.netdevs)
            cut = [netdev.name for netdev in about if carries_management(netdev, self.facts)]
            if cut:
                self.notes.append(f"{path}: left alone, because {cut[0]} carries the node's management by now")
                continue
            before = "of an earlier state of the rail" if name in rails else "a rail of an earlier spec"
            gone = [netdev for netdev in about if netdev.name not in ours and netdev.kind in (BOND, VLAN)]
            deletes = tuple(delete(netdev.name) for netdev in gone if netdev.name not in self.gone)
            self.steps.append(Step(name, f"file {path}", before, "", (*deletes, RemoveFile(path)), RECONFIGURE))
            self.gone.update((netdev.name, netdev) for netdev in about if netdev.name not in ours)
            for link in self.links:
                if any(netdev.name == link.name for netdev in about):
                    whole = tuple(other for other in self.links if other.rail == link.rail)
                    self.touched.setdefault(link.rail, whole)

    def plan(self) -> Plan:
        """The whole.

        :raises RefusedError: when something stands in the way of a change.
        """
        disrupted = any(step.disruptive for step in self.steps)
        if disrupted and self.node.obstacle:
            raise RefusedError(self.node.obstacle, "network manager of the node")
        touched = tuple(link for links in self.touched.values() for link in links)
        removed = tuple(action.path for step in self.steps for action in step.actions if isinstance(action, RemoveFile))
        settle = self.provider.settle(touched, tuple(self.gone.values()), removed) if disrupted else ()
        made = tuple(delete(link.name) for link in reversed(touched) if link.netdev is None)
        return Plan("network", tuple(self.steps), settle, tuple(self.notes), (*self.undo, *made))


def _without(links: tuple[Link, ...], deleted: set[str]) -> tuple[Link, ...]:
    """The links as they are when some are deleted; what is on top of one goes with it."""
    return tuple(
        replace(link, netdev=None) if link.name in deleted or link.lower in deleted else link for link in links
    )


def _words(links: tuple[Link, ...]) -> str:
    top = links[-1]
    mtu = f"MTU {top.mtu}" if top.mtu is not None else "MTU as it is"
    return f"{mtu}, {', '.join(top.addresses) or 'no address'}"


def _left_alone(rail: BoundRail) -> str:
    """Why this version does not configure the rail; empty when it does."""
    intent = rail.intent
    if intent.transport != "roce":
        return "IPoIB is verified only in this version"
    if intent.addressing == "dhcp":
        return "addresses from DHCP are verified only"
    problem = next((port.problem for port in rail.ports if port.problem), "")
    return problem or ("" if all(port.netdev is not None for port in rail.ports) else "its netdev is not there")
