# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import SpecError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Neighbour,
    NodeFacts,
    Pci,
    Unread,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.discover import (
    discover,
    natural,
    nearest,
    sanitize,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.discover_files import (
    inventory_files,
    scalar,
)

from tests.unit import trees

FEW = [replace(nic, gid_table=4) for nic in trees.rail_nics()]


def facts(build, path, **options):
    return probe(RecordedPort(str(build(path, **options))), detail=True)


@pytest.fixture(scope="module")
def eight(tmp_path_factory):
    return facts(trees.eight_rails, tmp_path_factory.mktemp("tree"), nics=FEW)


def with_leaves(node, unit):
    lldp = tuple(Neighbour(n.netdev, f"{unit}-leaf{k}", n.port) for k, n in enumerate(node.lldp))
    return replace(node, lldp=lldp)


def readdressed(node, host):
    def address(text):
        return text.replace(".0.1/24", f".0.{host}/24")

    return replace(node, netdevs=tuple(replace(n, addresses=tuple(map(address, n.addresses))) for n in node.netdevs))


def test_rails_are_the_rdma_nics_by_pci_address(eight):
    (node,) = discover({"gpu1": eight})
    assert node.names == tuple(f"rail{n}" for n in range(8))
    assert [rail.ports for rail in node.rails] == [(nic.pci,) for nic in trees.rail_nics()]
    assert [rail.gpu for rail in node.rails] == list(range(8))
    assert [rail.numa for rail in node.rails] == [0] * 4 + [1] * 4
    assert (node.model, node.unit) == ("poweredge_xe9680", "su1")


def test_management_is_no_rail(eight):
    (node,) = discover({"gpu1": replace(eight, management=("eno1", "enp24s0np0"))})
    assert node.rails[0].ports == ("0000:29:00.0",)
    assert len(node.rails) == 7


def test_another_layout_is_another_model(eight):
    fewer = replace(eight, rdma=eight.rdma[:7])
    nodes = discover({"gpu10": eight, "gpu2": fewer, "gpu1": eight})
    assert [(node.host, node.model) for node in nodes] == [
        ("gpu1", "poweredge_xe9680"),
        ("gpu2", "poweredge_xe9680_b"),
        ("gpu10", "poweredge_xe9680"),
    ]
    # a unit's nodes all have the same rails
    assert [node.unit for node in nodes] == ["su1", "su2", "su1"]


def test_units_are_nodes_that_share_leaves(eight):
    one, two = with_leaves(eight, "a"), with_leaves(eight, "b")
    silent = replace(eight, lldp=None)
    nodes = discover({"n1": two, "n2": one, "n3": two, "n4": silent})
    assert [node.unit for node in nodes] == ["su1", "su2", "su1", "su1"]
    # one rail down on each side: they still meet over the third node
    left = replace(one, lldp=one.lldp[:1])
    right = replace(one, lldp=one.lldp[1:2])
    assert {node.unit for node in discover({"n1": left, "n2": right, "n3": one})} == {"su1"}


def test_ethernet_beside_infiniband_is_storage(tmp_path):
    compute = facts(trees.infiniband, tmp_path / "ib")
    storage = facts(trees.bonded, tmp_path / "bond")
    nodes = discover({"gpu1": compute, "store1": storage})
    assert nodes[0].names[0] == "rail0"
    assert nodes[1].names == ("store0",)
    assert nodes[1].rails[0].ports == ("0000:18:00.0", "0000:18:00.1")
    text = inventory_files(nodes, False, {})["group_vars/all/fabric.yml"]
    assert '- {name: store0, fabric: storage, bond: {mode: "802.3ad"}}' in text
    assert "infiniband: {subnet_managers: external} # EDIT:" in text


def test_soft_roce_takes_plain_nics_only_when_told(tmp_path):
    node = facts(trees.soft_roce, tmp_path)
    with pytest.raises(SpecError, match="discover_soft_roce"):
        discover({"node1": node})
    (found,) = discover({"node1": node}, soft_roce=True)
    assert [rail.ports for rail in found.rails] == [("0000:01:00.0",), ("0000:02:00.0",)]
    assert "soft_roce: true" in inventory_files([found], True, {})[f"group_vars/hw_{found.model}.yml"]


def test_a_node_that_could_not_be_read_is_no_node_without_nics(eight):
    unread = NodeFacts(unread=(Unread("ip", "hung", "netdevs"),))
    with pytest.raises(SpecError, match="could not be read: ip: hung"):
        discover({"n": unread}, soft_roce=True)
    with pytest.raises(SpecError, match="no node was read"):
        discover({})


def test_addresses_that_agree_become_subnets_and_numbers(eight):
    files = inventory_files(discover({"n1": eight, "n2": readdressed(eight, 7)}), False, {})
    assert "n1: {fabric_node_id: 1}" in files["hosts.yml"]
    assert "n2: {fabric_node_id: 7}" in files["hosts.yml"]
    assert 'rail3: {subnet: "10.3.0.0/24", leaf: su1-leaf3}' in files["group_vars/all/fabric.yml"]
    assert "proposals" not in files["group_vars/all/fabric.yml"]


def test_addresses_that_contradict_are_not_used(eight):
    files = inventory_files(discover({"n1": eight, "n2": eight}), False, {"n1": {"ansible_host": "192.0.2.1"}})
    assert 'n1: {fabric_node_id: 11, ansible_host: "192.0.2.1"}' in files["hosts.yml"]
    assert "n2: {fabric_node_id: 12}" in files["hosts.yml"]
    spec = files["group_vars/all/fabric.yml"]
    assert 'rail3: {subnet: "10.103.1.0/24", leaf: su1-leaf3}' in spec
    assert "# EDIT: these subnets are proposals" in spec


def test_the_same_nodes_give_the_same_bytes(eight):
    one = inventory_files(discover({"n1": eight, "n2": eight}), False, {})
    assert inventory_files(discover({"n2": eight, "n1": eight}), False, {}) == one


def test_nearest_accelerator():
    gpus = [Pci("a", "", "", path="r0/s/a"), Pci("b", "", "", path="r0/s/b"), Pci("c", "", "", path="r1/c")]
    assert nearest("r1/n", gpus) == 2
    assert nearest("r0/s/n", gpus) is None
    assert nearest("r9/n", gpus) is None
    assert nearest(None, gpus) is None


def test_words():
    assert sanitize("PowerEdge XE9680") == "poweredge_xe9680"
    assert sanitize("  ") == sanitize(None) == "node"
    assert sorted(["n10", "n9", "n1a"], key=natural) == ["n1a", "n9", "n10"]
    assert [scalar(value) for value in ("su1", "on", "0000:18:00.0", 22, "a b", "1e5")] == [
        "su1",
        '"on"',
        '"0000:18:00.0"',
        "22",
        '"a b"',
        '"1e5"',
    ]
