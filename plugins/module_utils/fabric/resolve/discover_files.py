# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The inventory of discovered nodes, as files with comments: hosts.yml, one profile a model, and a first spec."""

from __future__ import annotations

import json
import re
from typing import Any, Iterable, Mapping, Optional, Sequence

from .discover import ETHERNET, Candidate, Node, natural

EDIT = "# EDIT:"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "none", "y", "n")


def inventory_files(
    nodes: Sequence[Node], soft_roce: bool, connection: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Text by path below the inventory's folder; the same nodes give the same bytes.

    :param connection: variables such as ``ansible_host`` to carry over, by host.
    """
    order = [rail.name for rail in _rails(nodes)]
    plans = {
        unit: _plan([node for node in nodes if node.unit == unit], number, order) for number, unit in _numbered(nodes)
    }
    files = {"hosts.yml": _hosts(nodes, plans, connection)}
    for model in sorted({node.model for node in nodes}):
        files[f"group_vars/hw_{model}.yml"] = _profile([node for node in nodes if node.model == model], soft_roce)
    files["group_vars/all/fabric.yml"] = _spec(nodes, plans, soft_roce)
    return files


def scalar(value: Any) -> str:
    """A YAML scalar, quoted unless it is a plain word: unquoted PCI addresses and MACs would be read as numbers."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value)


class _Plan:
    """Addresses of one unit: the node ids by host, the subnet by rail, and whether they were found or are proposed."""

    def __init__(self, ids: dict[str, int], subnets: dict[str, str], found: bool) -> None:
        self.ids = ids
        self.subnets = subnets
        self.found = found


def _numbered(nodes: Sequence[Node]) -> Iterable[tuple[int, str]]:
    return enumerate(sorted({node.unit for node in nodes}, key=natural), 1)


def _plan(nodes: Sequence[Node], unit: int, order: Sequence[str]) -> _Plan:
    """What the nodes' own addresses say, when all of a unit say the same; otherwise a proposal."""
    names = [rail.name for rail in _rails(nodes) if rail.layer == ETHERNET]
    found = _present(nodes, names)
    if found is not None:
        return found
    # 250 hosts fit into a /24 beside a gateway; a larger unit gets sixteen of them.
    wide = len(nodes) > 250
    place = {name: 100 + order.index(name) for name in names}
    subnets = {
        name: f"10.{second}.{unit * 16 % 256}.0/20" if wide else f"10.{second}.{unit}.0/24"
        for name, second in place.items()
    }
    return _Plan({node.host: 10 + number for number, node in enumerate(nodes, 1)}, subnets, False)


def _present(nodes: Sequence[Node], names: Sequence[str]) -> Optional[_Plan]:
    from ipaddress import ip_interface  # noqa: PLC0415 - heavy, and only discovery needs it here

    ids: dict[str, int] = {}
    subnets: dict[str, str] = {}
    for node in nodes:
        for rail in node.rails:
            if rail.name not in names:
                continue
            own = [ip_interface(address) for address in rail.addresses if ":" not in address]
            if len(own) != 1:
                return None
            number = int(own[0].ip) - int(own[0].network.network_address)
            if ids.setdefault(node.host, number) != number:
                return None
            if subnets.setdefault(rail.name, str(own[0].network)) != str(own[0].network):
                return None
    unique = len(set(ids.values())) == len(nodes) and len(set(subnets.values())) == len(names)
    return _Plan(ids, subnets, True) if names and unique else None


def _rails(nodes: Sequence[Node]) -> list[Candidate]:
    """The first description of every rail that a node has, in their order."""
    found: dict[str, Candidate] = {}
    for node in sorted(nodes, key=lambda node: -len(node.rails)):
        for rail in node.rails:
            found.setdefault(rail.name, rail)
    return list(found.values())


def _hosts(nodes: Sequence[Node], plans: Mapping[str, _Plan], connection: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        "---",
        "# Written by playbooks/discover.yml from live nodes. A host is in one unit (su…) and one model (hw_…).",
        "# fabric_node_id is unique in its unit: a host's address on a rail is the rail's subnet plus that number.",
        "all:",
        "  children:",
        "    gpu_nodes:",
        "      children:",
    ]
    for unit in sorted(plans, key=natural):
        leaves = sorted({leaf for node in nodes if node.unit == unit for leaf in node.leaves}, key=natural)
        lines.append(f"        # leaf switches by LLDP: {', '.join(leaves) or 'unknown'}")
        lines += [f"        {scalar(unit)}:", "          hosts:"]
        for node in nodes:
            if node.unit == unit:
                values = {"fabric_node_id": plans[unit].ids[node.host], **connection.get(node.host, {})}
                pairs = ", ".join(f"{key}: {scalar(value)}" for key, value in values.items())
                lines.append(f"            {scalar(node.host)}: {{{pairs}}}")
    for model in sorted({node.model for node in nodes}):
        lines += [f"    hw_{model}:", "      hosts:"]
        lines += [f"        {scalar(node.host)}:" for node in nodes if node.model == model]
    return "\n".join(lines) + "\n"


def _profile(nodes: Sequence[Node], soft_roce: bool) -> str:
    first = nodes[0]
    lines = [
        "---",
        f"# Written by playbooks/discover.yml from {first.host}"
        + (f" and {len(nodes) - 1} more that {'is' if len(nodes) == 2 else 'are'} alike." if len(nodes) > 1 else "."),
        f"{EDIT} take out what is no rail, and put the rest into the order of your leaf switches.",
        "fabric_profile:",
        f"  model: {scalar(first.model)}",
    ]
    if soft_roce:
        lines.append("  soft_roce: true")
    lines.append("  rails:")
    for rail in first.rails:
        ports = ", ".join(
            f"{{pci: {scalar(pci)}}}" if rail.rdma_port == 1 else f"{{pci: {scalar(pci)}, rdma_port: {rail.rdma_port}}}"
            for pci in rail.ports
        )
        hints = "".join(
            f", {key}: {value}" for key, value in (("gpu", rail.gpu), ("numa", rail.numa)) if value is not None
        )
        lines.append(f"    # {_comment(rail)}")
        lines.append(f"    {rail.name}: {{ports: [{ports}]{hints}}}")
    return "\n".join(lines) + "\n"


def _comment(rail: Candidate) -> str:
    parts = [rail.layer, rail.netdev or "no netdev"]
    if rail.rate_gbps:
        parts.append(f"{rail.rate_gbps:g} Gbit/s")
    leaves = [leaf for leaf in rail.leaves if leaf]
    parts.append(f"leaf {', '.join(leaves)}" if leaves else "leaf unknown")
    return ", ".join(parts)


def _spec(nodes: Sequence[Node], plans: Mapping[str, _Plan], soft_roce: bool) -> str:
    rails = _rails(nodes)
    layers = sorted({rail.layer for rail in rails}, key=lambda layer: layer == ETHERNET)
    fabrics = {layer: "compute" if layer == layers[0] else "storage" for layer in layers}
    lines = [
        "---",
        "# Written by playbooks/discover.yml: a first spec. schemas/fabric_spec.schema.json is its contract.",
        "fabric_spec:",
        "  schema: 1",
        f"  name: pod1 {EDIT} the site's name",
        "  fabrics:",
    ]
    for layer in layers:
        lines += _fabric(fabrics[layer], layer, [rail for rail in rails if rail.layer == layer], soft_roce)
    lines.append("  rails:")
    for rail in rails:
        bond = f", bond: {{mode: {scalar(rail.bond)}}}" if rail.bond else ""
        lines.append(f"    - {{name: {rail.name}, fabric: {fabrics[rail.layer]}{bond}}}")
    lines.append("  units:")
    for unit in sorted(plans, key=natural):
        plan = plans[unit]
        if plan.subnets and not plan.found:
            lines.append(f"    {EDIT} these subnets are proposals")
        lines.append(f"    {scalar(unit)}:")
        members = [node for node in nodes if node.unit == unit]
        for rail in _rails(members):
            values = [f"subnet: {scalar(plan.subnets[rail.name])}"] if rail.name in plan.subnets else []
            leaf = _leaf(members, rail.name)
            values += [f"leaf: {leaf}"] if leaf else []
            lines.append(f"      {rail.name}: {{{', '.join(values)}}}")
    lines.append("  addressing: {mode: pool}")
    return "\n".join(lines) + "\n"


def _fabric(name: str, layer: str, rails: Sequence[Candidate], soft_roce: bool) -> list[str]:
    speeds = sorted({int(rail.rate_gbps) for rail in rails if rail.rate_gbps and rail.rate_gbps >= 1})
    link = [f"speed: {speeds[0]}G"] if speeds else []
    remark = (
        f" {EDIT} links of several speeds were found: {', '.join(f'{s}G' for s in speeds)}" if len(speeds) > 1 else ""
    )
    lines = [f"    {name}:"]
    if layer != ETHERNET:
        lines.append("      transport: infiniband")
        lines += [f"      link: {{{link[0]}}}{remark}"] if link else []
        lines.append(f"      infiniband: {{subnet_managers: external}} {EDIT} hosts, switch, ufm or external")
        return lines
    lines.append("      transport: roce")
    lines.append(f"      link: {{{', '.join([*link, f'host_mtu: {_mtu(rails, soft_roce)}'])}}}{remark}")
    if not soft_roce:
        lines.append(f"      qos: {{profile: pfc+dcqcn}} {EDIT} pfc+dcqcn, pfc, dcqcn or lossy")
    return lines


def _mtu(rails: Sequence[Candidate], soft_roce: bool) -> int:
    """What all rails have now when it is enough for a path MTU of 4096, otherwise the usual jumbo size."""
    least = 4200  # 4096 and RoCE's headers, as host_mtu of the schema explains
    common = {rail.mtu for rail in rails}
    mtu = common.pop() if len(common) == 1 else None
    if mtu and least <= mtu <= 9194:
        return mtu
    return least if soft_roce else 9000


def _leaf(nodes: Sequence[Node], name: str) -> Optional[str]:
    """The rail's leaf, or one a port, when all nodes that saw one saw the same."""
    seen = {
        rail.leaves for node in nodes for rail in node.rails if rail.name == name and all(rail.leaves) and rail.leaves
    }
    if len(seen) != 1:
        return None
    leaves = [scalar(leaf) for leaf in seen.pop()]
    return leaves[0] if len(leaves) == 1 else f"[{', '.join(leaves)}]"
