# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the names of the rails' netdevs and RDMA devices: for every boot to come, and on request at once."""

from __future__ import annotations

import re
from typing import Callable, Optional, Union

from ..errors import MissingError, ReadError
from ..model.facts import NodeFacts
from ..model.intent import NodeIntent
from ..model.plan import Action, Plan, RemoveFile, Run, Step, WriteFile
from ..ports import Port
from ..records import dataclass
from ..resolve.bind import bind
from .boot_image import BootImage, read_image
from .files import Files, file_step, read_files
from .names import NetdevName, RdmaName, netdev_names, rdma_names
from .rdma_rules import PACKAGED, RULES, render_rules, written_rule
from .renames import rename_netdevs, rename_rdma, up_again
from .selinux import relabel, relabels

LINKS = "/etc/systemd/network"
UDEV = "/etc/udev/rules.d"
# The first .link file that fits is the only one that counts (systemd.link(5)): this one comes before those of netplan
# (10-netplan-…), of distributions (70-…, 73-…) and systemd's own (99-default).
PREFIX, SUFFIX = "09-railwright-", ".link"
_ASSIGNED = r'(?:^|[\s,])NAME:?="([^"]*)"'


@dataclass(frozen=True)
class NamingState:
    """What the plan needs beside the facts.

    ``files`` are ours, ``strangers`` the files of others that may name devices before ours do, by path.
    """

    files: Files
    strangers: Files
    packaged: Optional[str] = None
    image: Optional[BootImage] = None
    labels: bool = False


def link_path(netdev: str) -> str:
    """The file that gives a netdev its name; named after it, since a rail may have several ports."""
    return f"{LINKS}/{PREFIX}{netdev}{SUFFIX}"


def link_text(name: NetdevName) -> str:
    """That file's text; all but the name is as in systemd's own 99-default.link, which no longer counts."""
    lines = [
        "# Managed by Railwright (role rail_naming): the next run undoes what is changed here.",
        "[Match]",
        *name.match,
        "",
        "[Link]",
        f"Description=Railwright rail {name.rail}",
        f"Name={name.name}",
        "AlternativeNamesPolicy=database onboard slot path",
        "MACAddressPolicy=persistent",
    ]
    return "\n".join(lines) + "\n"


def read_naming(port: Port, kernel: Optional[str]) -> NamingState:
    """The state as it is.

    :param kernel: the running release, whose initramfs is looked at.
    :raises ReadError: when a file is there and cannot be read.
    """
    links = [f"{LINKS}/{name}" for name in _names(port, LINKS) if name.endswith(SUFFIX)]
    ours = [path for path in links if path.startswith(f"{LINKS}/{PREFIX}")]
    rules = [f"{UDEV}/{name}" for name in _names(port, UDEV) if name.endswith(".rules")]
    files = read_files(port, (*ours, RULES))
    strangers = [path for path in links if path < f"{LINKS}/{PREFIX}"] + [path for path in rules if path != RULES]
    packaged = read_files(port, PACKAGED)
    return NamingState(
        files,
        read_files(port, tuple(strangers)),
        next((text for text in packaged.values() if text is not None), None),
        read_image(port, kernel, [path for path, text in files.items() if text is not None]),
        relabels(port),
    )


def plan_naming(
    intent: NodeIntent,
    facts: NodeFacts,
    state: NamingState,
    *,
    live: bool = False,
    rebuild: bool = True,
    interrupted: bool = False,
    in_image: Callable[[BootImage, tuple[str, ...]], bool] = lambda image, drivers: True,
) -> Plan:
    """Steps towards the intent's names.

    :param live: rename now what is named otherwise; without it, names come with the next boot, and a note says so.
    :param rebuild: make the initramfs again where it holds the old names; without it, a note says that it must be.
    :param in_image: whether NICs of these drivers are named in the image; asked only when that matters.
    :raises SpecError: for a name that no device may have.
    :raises RefusedError: when the management link would be renamed, or a name belongs to another device.
    :raises ReadError: when the devices, or which of them carry the management, could not be read.
    """
    rails = bind(intent, facts)
    ports = [port.intent for rail in rails for port in rail.ports]
    wanted = any(port.netdev or port.rdma for port in ports)
    if not wanted and not any(text is not None for text in state.files.values()):
        return Plan("naming")
    _readable(facts)
    netdevs, notes = netdev_names(rails, facts)
    devices, more = rdma_names(rails, facts)
    notes += more
    steps = _link_steps(netdevs, {port.netdev for port in ports}, state.files, live)
    steps += _rule_steps(intent, devices, state)
    settle: list[Action] = [Run(("udevadm", "control", "--reload"))] if steps else []
    settle += relabel(steps) if state.labels else ()
    image = state.image
    nics = [port.netdev for rail in rails for port in rail.ports if port.netdev is not None]
    drivers = tuple(sorted({nic.driver for nic in nics if nic.driver is not None}))
    if image is not None and (steps or image.newer or interrupted) and in_image(image, drivers):
        if rebuild:
            files = "naming files" if steps else None
            old = "names of an earlier spec or of none"
            steps.append(Step("boot", f"initramfs {image.path}", old, "made anew", (image.rebuild,), depends_on=files))
        else:
            notes.append(f"boot: {image.path} has the old names; {' '.join(image.rebuild.argv)} before the next boot")
    if live:
        steps += rename_netdevs(netdevs, facts.netdevs or (), facts.system.kernel)
        steps += rename_rdma(devices, (device.name for device in facts.rdma or ()))
    else:
        names: list[Union[NetdevName, RdmaName]] = [*netdevs, *devices]
        pending = [item for item in names if item.now not in ("", item.name)]
        notes += [f"{item.rail}: {item.now} gets the name {item.name} at the next boot" for item in pending]
    notes += _rivals(netdevs, devices, state.strangers)
    return Plan("naming", tuple(steps), tuple(settle), tuple(notes), up_again(steps))


def _readable(facts: NodeFacts) -> None:
    for section, what in (("netdevs", "network devices"), ("rdma", "RDMA devices")):
        if getattr(facts, section) is None:
            raise ReadError(f"the {what} could not be read", section)
    if any(item.subject == "management" for item in facts.unread):
        raise ReadError("which link carries the management could not be read", "management")


def _link_steps(names: list[NetdevName], wanted: set[Optional[str]], files: Files, live: bool) -> list[Step]:
    steps = []
    for item in names:
        after = item.name if live or item.now == item.name else f"{item.name} from the next boot on"
        file = WriteFile(link_path(item.name), link_text(item))
        step = file_step(files, file, item.rail, f"name of netdev {item.now} at boot", after)
        steps += [step] if step is not None else []
    for path, text in files.items():
        name = path[len(f"{LINKS}/{PREFIX}") : -len(SUFFIX)]
        if path != RULES and text is not None and name not in wanted:
            steps.append(Step(name, f"file {path}", "a name of an earlier spec", "", (RemoveFile(path),)))
    return steps


def _rule_steps(intent: NodeIntent, devices: list[RdmaName], state: NamingState) -> list[Step]:
    have = state.files.get(RULES)
    matches = {item.name: item.match for item in devices}
    rules: dict[str, str] = {}
    for rail in intent.rails:
        for port in rail.ports:
            if port.rdma is None or rail.soft_roce:
                continue
            kept = written_rule(have, port.rdma)
            match = matches.get(port.rdma, kept if kept not in matches.values() else None)
            if match is not None:
                rules[port.rdma] = match
    text = render_rules(((match, name) for name, match in rules.items()), have, state.packaged)
    subject, setting = "boot", "names of RDMA devices"
    if text is None:
        return [Step(subject, setting, "ours", "the package's", (RemoveFile(RULES),))] if have is not None else []
    step = file_step(state.files, WriteFile(RULES, text), subject, setting, ", ".join(rules) or "the site's")
    return [step] if step is not None else []


def _rivals(netdevs: list[NetdevName], devices: list[RdmaName], strangers: Files) -> list[str]:
    """Notes about files of others that name the same devices, and before ours."""
    notes = []
    for path, text in strangers.items():
        lines = [line.strip() for line in (text or "").splitlines() if not line.lstrip().startswith("#")]
        for item in netdevs:
            marks = [mark.lower() for mark in (item.netdev.permanent_mac or item.netdev.mac, item.netdev.pci) if mark]
            for line in lines:
                about = any(mark in line.lower() for mark in marks)
                if about and (_assigned(line, item.name) if path.startswith(UDEV) else "=" in line):
                    notes.append(f"{item.rail}: {path} names {item.now} as well and wins: {line[:120]}")
        for device in devices:
            pci = device.device.pci if device.device is not None else None
            notes += [
                f"{device.rail}: {path} names {device.now} as well: {line[:120]}"
                for line in lines
                if "rdma_rename" in line and pci and pci in line
            ]
    return notes


def _assigned(line: str, but: str) -> bool:
    """Whether a rule of udev gives another name than ``but`` (udev(7): ``NAME=``, not ``NAME==``)."""
    return any(name != but for name in re.findall(_ASSIGNED, line))


def _names(port: Port, folder: str) -> list[str]:
    try:
        return port.listdir(folder)
    except MissingError:
        return []
