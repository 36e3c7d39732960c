# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails are found by hardware, never by name; what is not there is said, not guessed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Netdev,
    NodeFacts,
    Pci,
    RdmaDevice,
    RdmaPort,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import (
    Bond,
    DeviceMatch,
    NodeIntent,
    PortIntent,
    RailIntent,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.bind import bind

A, B = "0000:18:00.0", "0000:18:00.1"
PCI = (
    Pci(A, "15b3", "1021", "mlx5_core", slot="3", path="0000:17:01.0/0000:18:00.0"),
    Pci(B, "15b3", "1021", "mlx5_core", slot="3"),
)
NETDEVS = (
    Netdev("lo", 1),
    Netdev("eth7", 2, mac="52:54:00:00:01:01", permanent_mac="52:54:00:00:01:01", pci=A),
    Netdev("eth2", 3, mac="52:54:00:00:01:02", permanent_mac="52:54:00:00:01:02", pci=B),
)
RDMA = (
    RdmaDevice("mlx5_9", node_guid="5254:00ff:fe00:0101", pci=A, ports=(RdmaPort(1, netdev="eth7"),)),
    RdmaDevice("mlx5_0", node_guid="5254:00ff:fe00:0102", pci=B, ports=(RdmaPort(1, netdev="eth2"),)),
)
FACTS = NodeFacts(pci=PCI, netdevs=NETDEVS, rdma=RDMA)


def rail(*matches: DeviceMatch, **changes: object) -> RailIntent:
    ports = tuple(PortIntent((match,)) for match in matches)
    plain = RailIntent("rail0", 0, "compute", "roce", ports, 9000, 9216, 4096, "pool")
    return replace(plain, **changes)  # type: ignore[arg-type]


def bound(one: RailIntent, facts: NodeFacts = FACTS):
    return bind(NodeIntent(1, "0.1.0", "pod", "hash", "node1", "su1", 1, (one,)), facts)[0]


@pytest.mark.parametrize(
    "match",
    [
        DeviceMatch(pci=A),
        DeviceMatch(mac="52:54:00:00:01:01"),
        DeviceMatch(guid="0x525400fffe000101"),
        DeviceMatch(path="0000:17:01.0/0000:18:00.0"),
        DeviceMatch(slot="3", mac="52:54:00:00:01:01"),
    ],
)
def test_each_key_finds_the_function_whatever_its_names(match: DeviceMatch) -> None:
    result = bound(rail(match))
    assert (result.netdev_name, result.rdma and result.rdma.name) == ("eth7", "mlx5_9")
    assert result.ports[0].pci == PCI[0]
    assert result.port is not None
    assert result.ports[0].problem == ""


def test_all_keys_of_a_match_must_hold() -> None:
    result = bound(rail(DeviceMatch(pci=A, mac="52:54:00:00:01:02")))
    assert not result.ports[0].found
    assert result.ports[0].problem == ("no NIC with PCI address 0000:18:00.0 and MAC 52:54:00:00:01:02 on this node")


def test_a_slot_of_a_dual_port_nic_is_ambiguous() -> None:
    assert "fits several NICs (0000:18:00.0, 0000:18:00.1)" in bound(rail(DeviceMatch(slot="3"))).ports[0].problem


def test_the_first_alternative_that_is_there_wins() -> None:
    port = PortIntent((DeviceMatch(pci="0000:aa:00.0"), DeviceMatch(pci=B), DeviceMatch(pci=A)))
    assert bound(replace(rail(), ports=(port,))).netdev_name == "eth2"


def test_absent_and_unread_are_not_the_same() -> None:
    match = DeviceMatch(pci="0000:aa:00.0")
    assert bound(rail(match)).ports[0].problem == "no NIC with PCI address 0000:aa:00.0 on this node"
    assert "pci could not be read" in bound(rail(match), replace(FACTS, pci=None)).ports[0].problem


def test_a_function_without_driver_is_found_but_not_bound() -> None:
    facts = NodeFacts(pci=(replace(PCI[0], driver=None),), netdevs=(), rdma=())
    port = bound(rail(DeviceMatch(pci=A)), facts).ports[0]
    assert port.found
    assert port.problem == "0000:18:00.0 is there, but no driver holds it"
    assert bound(rail(DeviceMatch(pci=A), transport="infiniband"), facts).ports[0].problem == ""


def test_a_bonded_port_is_found_by_its_permanent_mac() -> None:
    slaves = tuple(replace(netdev, mac="52:54:00:00:01:01", master="store0") for netdev in NETDEVS[1:])
    facts = replace(FACTS, netdevs=(*slaves, Netdev("store0", 9, kind="bond"), Netdev("other", 10, kind="bond")))
    one = rail(
        DeviceMatch(mac="52:54:00:00:01:01"), DeviceMatch(mac="52:54:00:00:01:02"), name="store0", bond=Bond("802.3ad")
    )
    result = bound(one, facts)
    assert [port.netdev.name for port in result.ports if port.netdev] == ["eth7", "eth2"]
    assert (result.netdev_name, result.netdev) == ("store0", facts.netdevs[2] if facts.netdevs else None)


def test_the_rdma_device_of_a_bond_is_the_one_on_the_bond() -> None:
    slaves = tuple(replace(netdev, master="store0") for netdev in NETDEVS[1:])
    lag = RdmaDevice("mlx5_bond_0", pci=B, ports=(RdmaPort(1, netdev="store0"),))
    facts = replace(FACTS, netdevs=(*slaves, Netdev("store0", 9, kind="bond")), rdma=(RDMA[0], lag))
    one = rail(DeviceMatch(pci=A), DeviceMatch(pci=B), name="store0", bond=Bond("802.3ad"))
    assert bound(one, facts).rdma == lag


def test_a_bond_and_vlan_that_are_not_there_yet_have_the_name_they_will_get() -> None:
    one = rail(DeviceMatch(pci=A), DeviceMatch(pci=B), name="store0", bond=Bond("802.3ad"), vlan=100)
    result = bound(one)
    assert (result.netdev_name, result.netdev) == ("store0.100", None)


def test_a_vlan_is_found_by_its_id_and_lower_device() -> None:
    other = Netdev("rail0.7", 8, kind="vlan", vlan_id=7, lower="eth7")
    vlan = Netdev("data", 9, kind="vlan", vlan_id=100, lower="eth7")
    foreign = Netdev("foreign", 7, kind="vlan", vlan_id=100, lower="eth2")
    result = bound(rail(DeviceMatch(pci=A), vlan=100), replace(FACTS, netdevs=(*NETDEVS, foreign, other, vlan)))
    assert (result.netdev_name, result.netdev) == ("data", vlan)


def test_soft_roce_is_found_by_its_parent_and_prefers_its_own_name() -> None:
    rxe = RdmaDevice("rxe_rail0", soft=True, parent="eth7", ports=(RdmaPort(1),))
    foreign = RdmaDevice("rxe0", soft=True, parent="eth7", ports=(RdmaPort(1),))
    elsewhere = RdmaDevice("rxe_rail0", soft=True, parent="eth2", ports=(RdmaPort(1),))
    one = rail(DeviceMatch(pci=A), soft_roce=True)
    assert bound(one, replace(FACTS, rdma=(foreign, rxe))).rdma == rxe
    assert bound(one, replace(FACTS, rdma=(foreign,))).rdma == foreign
    assert bound(one, replace(FACTS, rdma=(elsewhere,))).rdma is None


def test_representors_do_not_hide_the_uplink() -> None:
    representor = Netdev("eth7_0", 9, pci=A)
    assert bound(rail(DeviceMatch(pci=A)), replace(FACTS, netdevs=(representor, *NETDEVS))).netdev_name == "eth7"
    no_rdma = replace(FACTS, netdevs=(representor, *NETDEVS), rdma=())
    assert "several network devices (eth7, eth7_0)" in bound(rail(DeviceMatch(pci=A)), no_rdma).ports[0].problem


def test_one_port_is_no_port_of_two_rails() -> None:
    rails = (rail(DeviceMatch(pci=A)), rail(DeviceMatch(mac="52:54:00:00:01:01"), name="rail1"))
    third = rail(DeviceMatch(pci=B), name="rail2")
    wanted = NodeIntent(1, "0.1.0", "pod", "", "node1", "su1", 1, (*rails, third))
    found = bind(wanted, FACTS)
    assert [one.ports[0].problem for one in found] == ["eth7 is a port of rail0 and of rail1"] * 2 + [""]
    assert [one.netdev_name for one in found] == [None, None, "eth2"]
    assert found[0].ports[0].pci == PCI[0]


def test_two_rdma_ports_of_one_function_are_two_ports() -> None:
    device = RdmaDevice("mlx5_9", pci=A, ports=(RdmaPort(1), RdmaPort(2)))
    rails = tuple(
        rail(name=f"ib{number}", transport="infiniband", ports=(PortIntent((DeviceMatch(pci=A),), number),))
        for number in (1, 2)
    )
    wanted = NodeIntent(1, "0.1.0", "pod", "", "node1", "su1", 1, rails)
    found = bind(wanted, NodeFacts(pci=PCI, netdevs=(), rdma=(device,)))
    assert [(one.ports[0].problem, one.port.number) for one in found] == [("", 1), ("", 2)]
