# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about the software below the rails: kernel modules, limits, services, and others that set the same things."""

from __future__ import annotations

from typing import Optional

from ..model.facts import Owner
from ..model.finding import Finding
from ..model.intent import NodeIntent
from ..resolve import derive, sysctls
from ..resolve.bind import BoundRail
from .rule import Rule
from .view import View

MODULES = Rule(
    "stack.modules",
    "The kernel modules of the RDMA stack are loaded",
    "fail",
    "local",
    "Without them there are no RDMA devices, or no user-space access to them.",
    "Run site.yml (role rdma_stack); modprobe NAME shows the kernel's message.",
    "kernel Documentation/infiniband/user_verbs.rst",
)
MEMLOCK = Rule(
    "stack.memlock",
    "A login session may lock as much memory as RDMA needs",
    "fail",
    "local",
    "RDMA pins the memory it uses: with a low limit, registration fails in the middle of a job.",
    "Run site.yml (role rdma_stack), then log in again; for a batch system raise the limit of its daemon as well.",
    "kernel Documentation/infiniband/user_verbs.rst (memory pinning); limits.conf(5)",
)

LIMITS = Rule(
    "stack.service_limits",
    "Services that start jobs and containers may lock as much memory as RDMA needs",
    "fail",
    "local",
    "Jobs have the limit of the service that starts them: they fail where the same test in a login session works.",
    "Run site.yml (role rdma_stack), then restart the service when no job runs on it.",
    "systemd.exec(5), LimitMEMLOCK=; limits.conf(5): PAM's limits do not reach services",
)
ULPS = Rule(
    "stack.ulps",
    "No storage module is loaded that the site does not use",
    "warn",
    "local",
    "It holds the RDMA core: the driver stack cannot be exchanged or restarted while it is loaded.",
    "Name it in fabric_spec.storage_ulps when it is used; else modprobe -r it (role rdma_stack keeps it out at boot).",
    "fabric_spec.storage_ulps; openibd of MLNX_OFED refuses to stop while one is loaded",
)
SERVICES = Rule(
    "stack.services",
    "The services that set the node up have not failed",
    "fail",
    "local",
    "A service that failed at boot left settings out that nobody sees until a job runs into them.",
    "systemctl status NAME and journalctl -u NAME say why; then systemctl restart NAME.",
    "systemctl(1): the unit's state is failed",
)
OWNERS = Rule(
    "node.owners",
    "Nobody else sets the rails' settings at the next boot",
    "fail",
    "local",
    "Two owners of one setting take turns: what is right now is wrong after a reboot.",
    "Take the setting out of the named file, or give that file up; then run site.yml for this node.",
    "sysctl.d(5), systemd.network(5), interfaces(5): which file wins",
)
NOT_RESTORED = "railwright-apply failed"
# A failure of any other service of interest leaves the rails as they are.
OURS = ("railwright", "openibd", "rdma")


def modules(view: View, intent: NodeIntent) -> Optional[Finding]:
    """Each module of the intent is in the kernel; dash and underscore are one (modprobe(8))."""
    if not intent.modules:
        return None
    expected = ", ".join(intent.modules)
    if view.facts.modules is None:
        return MODULES.unknown(view.host, expected=expected, found=view.missing("modules", "modules"))
    loaded = {name.replace("-", "_") for name in view.facts.modules}
    missing = [name for name in intent.modules if name.replace("-", "_") not in loaded]
    if missing:
        found = f"{', '.join(missing)} not loaded"
        return MODULES.broken(view.host, expected=expected, found=found, cause="not loaded at boot, or unloaded since")
    return MODULES.passed(view.host, found=expected)


def memlock(view: View, intent: NodeIntent) -> Optional[Finding]:
    """The limit is at least what the intent asks for; numbers are kbytes, as in limits.conf(5)."""
    want, have = intent.memlock, view.facts.memlock
    if have is None:
        return MEMLOCK.unknown(view.host, expected=want, found=view.missing("the memory lock limit", "memlock"))
    if have == "unlimited" or (want.isdigit() and have.isdigit() and int(have) >= int(want)):
        return MEMLOCK.passed(view.host, found=have)
    return MEMLOCK.broken(view.host, expected=want, found=have, cause="no limits file grants it")


def ulps(view: View, intent: NodeIntent) -> Optional[Finding]:
    """Modules of storage over RDMA that are loaded and not in the intent."""
    if view.facts.modules is None:
        return ULPS.unknown(view.host, found=view.missing("modules", "modules"))
    used = {derive.ULP_ALIASES.get(name, name) for name in intent.storage_ulps}
    expected = ", ".join(sorted(used)) or "none"
    storage = {derive.ULP_ALIASES.get(name, name) for name in derive.STORAGE_ULPS}
    loaded = {name.replace("-", "_") for name in view.facts.modules} & storage
    extra = sorted(loaded - used)
    if extra:
        cause = "a package or another service loads it; it blocks a change of the driver stack"
        return ULPS.broken(view.host, expected=expected, found=", ".join(extra), cause=cause)
    return ULPS.passed(view.host, found=", ".join(sorted(loaded)) or "none")


def service_limits(view: View, intent: NodeIntent) -> Optional[Finding]:
    """Limits of the services whose limit was read: those that start jobs, as far as they run."""
    if view.facts.services is None:
        return _unread(view, LIMITS)
    judged = [service for service in view.facts.services if service.memlock is not None]
    blind = [service.name for service in view.facts.services if service.memlock is None and view.unread(service.name)]
    if not judged and not blind:
        return None
    # The intent has kbytes as limits.conf(5), the facts bytes.
    want = int(intent.memlock) * 1024 if intent.memlock.isdigit() else -1
    expected = f"{intent.memlock} for {', '.join([service.name for service in judged] + blind)}"
    low = [service for service in judged if not _enough(service.memlock, want)]
    if low:
        found = ", ".join(f"{service.name} {service.memlock} bytes" for service in low)
        cause = "no drop-in of the unit raises it, or the service was not restarted since"
        return LIMITS.broken(view.host, expected=expected, found=found, cause=cause)
    if blind:
        found = view.missing(f"the limit of {', '.join(blind)}", "services", *blind)
        return LIMITS.unknown(view.host, expected=expected, found=found)
    return LIMITS.passed(view.host, found=expected)


def _enough(have: Optional[int], want: int) -> bool:
    return have is not None and (have == -1 or (want != -1 and have >= want))


def _unread(view: View, rule: Rule) -> Optional[Finding]:
    """Nothing was looked at is no finding, could not be read is unknown."""
    if view.facts.services is None and view.unread("services"):
        return rule.unknown(view.host, found=view.missing("the services", "services"))
    return None


def services(view: View, _intent: NodeIntent) -> Optional[Finding]:
    """Units that failed; only ours and those of the driver stack are a failure of the node."""
    if view.facts.services is None:
        return _unread(view, SERVICES)
    failed = [service.name for service in view.facts.services if service.state == "failed"]
    if failed:
        own = [name for name in failed if name.startswith(OURS)]
        name = (own or failed)[0]
        return SERVICES.broken(
            view.host,
            expected="none failed",
            found=NOT_RESTORED if failed == ["railwright-apply"] else f"{', '.join(failed)} failed",
            cause=f"{name} ended with an error",
            remedy=SERVICES.remedy.replace("NAME", name),
            warn=not own,
        )
    unknown = [service.name for service in view.facts.services if service.state is None]
    if unknown:
        return SERVICES.unknown(
            view.host, found=view.missing(f"the state of {', '.join(unknown)}", "services", *unknown)
        )
    return SERVICES.passed(view.host)


def owners(view: View, intent: NodeIntent, rails: tuple[BoundRail, ...]) -> list[Finding]:
    """Others that win at the next boot with a value that does not serve the rails.

    While the right value is still in force it is a warning; once the other one is, it is the cause of what it breaks.
    """
    told = view.facts.owners
    if told is None:
        found = view.missing("who else sets the rails' settings", "owners")
        return [OWNERS.unknown(view.host, found=found)] if view.unread("owners") else []
    harmful = [owner for owner in told if owner.wins and _harms(owner, intent, rails)]
    if not harmful:
        return [OWNERS.passed(view.host, found=f"{len(told)} others, none of them wins" if told else "none")]
    sources = ", ".join(dict.fromkeys(owner.source for owner in harmful))
    in_force = any(_in_force(view, owner) for owner in harmful)
    settings = ", ".join(dict.fromkeys(owner.setting for owner in harmful))
    places = {_rail_of(owner, rails) for owner in harmful}
    when = (
        "has set it over Railwright's own value" if in_force else "comes after Railwright's own file at the next boot"
    )
    return [
        OWNERS.broken(
            view.host,
            # One file may hit all rails: it is one fault.
            places.pop() if len(places) == 1 else None,
            expected="Railwright's files win",
            found=", ".join(f"{owner.setting} = {owner.value} by {owner.source}" for owner in harmful),
            cause=f"{sources} {when}",
            remedy=f"Take {settings} out of {sources}, then run site.yml for this node.",
            warn=not in_force,
        )
    ]


def _rail_of(owner: Owner, rails: tuple[BoundRail, ...]) -> Optional[str]:
    for rail in rails:
        name = rail.netdev_name
        if name and owner.setting.startswith((f"{name}.", sysctls.conf(name, ""))):
            return rail.intent.name
    return None


def _in_force(view: View, owner: Owner) -> bool:
    if owner.setting.startswith("net."):
        return (view.facts.sysctls or {}).get(owner.setting) == owner.value
    name, _dot, setting = owner.setting.rpartition(".")
    for netdev in view.facts.netdevs or ():
        if netdev.name == name:
            return owner.value == str(netdev.mtu) if setting == "mtu" else owner.value in netdev.addresses
    return False


def _harms(owner: Owner, intent: NodeIntent, rails: tuple[BoundRail, ...]) -> bool:
    """Whether its value, were it in force, would not serve a rail."""
    netdevs = {rail.intent.name: rail.netdev_name for rail in rails if rail.netdev_name is not None}
    wanted = sysctls.wanted(intent, netdevs)
    for key, value in wanted.items():
        overall = sysctls.conf("all", key.rpartition(".")[2]) if ".conf." in key else key
        if owner.setting in (key, overall):
            # Beside it our value is in force on the netdev, and the kernel's own in "all".
            have = {overall: "0", key: value, owner.setting: owner.value}
            if sysctls.good(key, value, have) is False:
                return True
    netdev, _dot, setting = owner.setting.rpartition(".")
    for rail in rails:
        if netdev and netdev == rail.netdev_name:
            if setting == "mtu":
                return owner.value != str(rail.intent.host_mtu)
            return set(owner.value.split(", ")) != set(rail.intent.addresses)
    return False
