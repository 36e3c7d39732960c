# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The inventory as the resolver wants it: which hosts there are, their groups, and the few variables that matter."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from ansible.errors import AnsibleError

from ..module_utils.fabric.errors import SpecError
from ..module_utils.fabric.model.intent import NodeIntent
from ..module_utils.fabric.model.spec import FabricSpec, Host
from ..module_utils.fabric.resolve import fabric, host, intent, spec
from .spec_schema import check, plain

NODES = "gpu_nodes"
SUBNET_MANAGERS = "subnet_managers"


def load_spec(task_vars: Mapping[str, Any]) -> FabricSpec:
    """The spec of a task's variables, held against the schema.

    :raises SpecError: when it is missing, does not fit the schema, or contradicts itself.
    """
    raw = variables(task_vars, str(task_vars["inventory_hostname"]), ("fabric_spec",))
    spec.check_version(raw.get("fabric_spec"))
    check(raw)
    return spec.load(raw["fabric_spec"])


def resolve_site(task_vars: Mapping[str, Any]) -> tuple[NodeIntent, ...]:
    """The intents of all nodes of the inventory, whether in the play or not. Linear in the number of hosts.

    :raises SpecError: for the first thing that is wrong with spec, hosts, or both together.
    """
    wanted = load_spec(task_vars)
    groups = task_vars["groups"]
    names = groups.get(NODES, [])
    if not names:
        raise SpecError("the group is empty", NODES, remedy="List the nodes in it")
    memberships: dict[str, list[str]] = {name: [] for name in names}
    for group, members in groups.items():
        for name in members:
            if name in memberships:
                memberships[name].append(group)
    hosts = [_host(wanted, task_vars, name, memberships[name]) for name in names]
    return fabric.resolve_all(wanted, hosts, groups.get(SUBNET_MANAGERS, []))


def resolve_host(task_vars: Mapping[str, Any]) -> NodeIntent:
    """The intent of the task's own host, from its own variables.

    :raises SpecError: as :func:`resolve_site`, without what only all hosts together can tell.
    """
    wanted = load_spec(task_vars)
    name = str(task_vars["inventory_hostname"])
    return intent.resolve(wanted, _host(wanted, task_vars, name, task_vars["group_names"]))


def _host(wanted: FabricSpec, task_vars: Mapping[str, Any], name: str, groups: Iterable[str]) -> Host:
    given = variables(task_vars, name, host.VARIABLES)
    try:
        check(given)
    except SpecError as error:
        raise SpecError(error.message, f"{name}: {error.place}", error.value, error.remedy) from None
    return host.load(wanted, name, groups, given)


def variables(task_vars: Mapping[str, Any], name: str, wanted: Iterable[str]) -> dict[str, Any]:
    """The named variables of a host, plain; each is templated by itself, the rest of the host's stays untouched."""
    known = task_vars["hostvars"][name]
    found: dict[str, Any] = {}
    for key in wanted:
        if key in known:
            try:
                found[key] = plain(known[key], key)
            except AnsibleError as error:
                raise SpecError(f"the variable cannot be templated: {error}", f"{name}: {key}") from None
    return found
