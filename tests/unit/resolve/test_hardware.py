# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that cannot be what the spec wants: what is said, and the override that is offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Netdev,
    NodeFacts,
    Pci,
    RdmaDevice,
    System,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import (
    Bond,
    DeviceMatch,
    NodeIntent,
    PortIntent,
    RailIntent,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.hardware import match, overview, report


def rail(name: str, *matches: DeviceMatch, **changes: Any) -> RailIntent:
    ports = tuple(PortIntent((entry,)) for entry in matches)
    return replace(RailIntent(name, 0, "data", "roce", ports, 9000, 9216, 4096, "pool"), **changes)


def node(*rails: RailIntent) -> NodeIntent:
    return NodeIntent(1, "0.1.0", "pod", "hash", "node1", "su1", 1, rails)


def nic(bus: str, device: str = "1021") -> Pci:
    return Pci(f"0000:{bus}:00.0", "15b3", device, "mlx5_core", slot=f"s{bus}")


def netdev(bus: str, **changes: Any) -> Netdev:
    number = int(bus, 16)
    mac = f"52:54:00:00:00:{bus}"
    plain = Netdev(f"eth{bus}", number, mac=mac, permanent_mac=mac, mtu=1500, max_mtu=9978, pci=f"0000:{bus}:00.0")
    return replace(plain, **changes)


def override(name: str, *ports: str) -> str:
    return f"fabric_devices:\n  {name}:\n    ports:\n" + "".join(f"      - {port}\n" for port in ports)


TWO = node(rail("rail0", DeviceMatch(pci="0000:18:00.0")), rail("rail1", DeviceMatch(pci="0000:19:00.0")))
FACTS = NodeFacts(
    system=System(distribution="debian", release="12"),
    management=("eth01",),
    pci=(nic("01", "1572"), nic("18"), nic("19")),
    netdevs=(netdev("01"), netdev("18"), netdev("19")),
    rdma=(RdmaDevice("mlx5_0", pci="0000:18:00.0"), RdmaDevice("mlx5_1", pci="0000:19:00.0")),
)


def test_a_node_as_wanted_has_no_problem() -> None:
    found = match(TWO, FACTS)
    assert (found.problems, found.override) == ((), "")
    assert overview(found)[1] == {
        "rail": "rail1", "pci": "0000:19:00.0", "netdev": "eth19", "rdma": "mlx5_1", "addresses": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "release", "supported"),
    [
        ("debian", "12", True),
        ("debian", "13", True),
        ("debian", "11", False),
        ("debian", "120", False),
        ("ubuntu", "24.04", True),
        ("ubuntu", "20.04", False),
        ("rocky", "9.4", True),
        ("rhel", "10", True),
        ("rhel", "8.10", False),
        ("sles", "15.6", True),
        ("arch", "", False),
    ],
)
def test_distributions(name: str, release: str, supported: bool) -> None:
    problems = match(TWO, replace(FACTS, system=System(distribution=name, release=release))).problems
    assert (not problems) == supported
    assert supported or problems[0].startswith(
        f"{name} {release} is not supported. Supported are debian 12, 13; ubuntu"
    )


def test_an_unread_distribution_is_no_supported_one() -> None:
    assert match(TWO, replace(FACTS, system=System())).problems[0].startswith("the distribution could not be read")


def test_a_nic_in_another_slot_is_offered_as_override() -> None:
    nics = (nic("01", "1572"), nic("18"), nic("5f"))
    facts = replace(FACTS, pci=nics, netdevs=(netdev("01"), netdev("18"), netdev("5f")), rdma=())
    found = match(TWO, facts)
    assert found.problems == (
        "rail rail1: no NIC with PCI address 0000:19:00.0 on this node; free NICs are 0000:5f:00.0 (15b3:1021)",
    )
    assert found.override == override("rail1", '{pci: "0000:5f:00.0"}')
    assert report("node1", found).endswith(f"paste this into host_vars/node1.yml:\n{found.override}")


def test_a_nic_replaced_on_the_spot_is_known_by_its_new_mac() -> None:
    wanted = node(
        rail("rail0", DeviceMatch(pci="0000:18:00.0")),
        rail("rail1", DeviceMatch(pci="0000:19:00.0", mac="52:54:00:00:00:77")),
    )
    found = match(wanted, FACTS)
    assert "rail1" in found.problems[0]
    assert found.problems[0].endswith("; the NIC at 0000:19:00.0 is another one")
    assert found.override == override("rail1", '{pci: "0000:19:00.0", mac: "52:54:00:00:00:19"}')


def test_keys_of_the_profile_are_kept() -> None:
    wanted = node(rail("rail0", DeviceMatch(pci="0000:18:00.0")), rail("rail1", DeviceMatch(guid="0x0000000000000077")))
    facts = replace(FACTS, rdma=(RdmaDevice("mlx5_1", node_guid="946d:ae03:00a1:b2c4", pci="0000:19:00.0"),))
    assert match(wanted, facts).override == override("rail1", '{guid: "0x946dae0300a1b2c4"}')


def test_an_override_of_a_bond_keeps_the_port_that_is_there() -> None:
    wanted = node(rail("rail0", DeviceMatch(pci="0000:18:00.0"), DeviceMatch(pci="0000:aa:00.0"), bond=Bond("802.3ad")))
    assert match(wanted, FACTS).override == override("rail0", '{pci: "0000:18:00.0"}', '{pci: "0000:19:00.0"}')


def test_no_override_is_guessed() -> None:
    one_missing = node(rail("rail0", DeviceMatch(pci="0000:aa:00.0")))
    found = match(one_missing, FACTS)
    assert found.override == ""
    assert "free NICs are 0000:01" not in found.problems[0]
    both_gone = match(TWO, replace(FACTS, pci=(nic("01"),), netdevs=(netdev("01"),), rdma=()))
    assert (both_gone.override, len(both_gone.problems)) == ("", 2)
    assert both_gone.problems[0].endswith("; no other NIC is free")


def test_a_rails_subnet_never_holds_the_management() -> None:
    """10.0.2.0/24 holds 10.0.2.15; the address of a netdev that is not management's may be a rail's own."""
    own = (netdev("01", addresses=("10.0.2.15/24",)), netdev("18", addresses=("10.0.2.1/24",)), netdev("19"))
    wanted = replace(TWO, rails=(replace(TWO.rails[0], addresses=("10.0.2.1/24",)), *TWO.rails[1:]))
    problems = match(wanted, replace(FACTS, netdevs=own)).problems
    assert problems == (
        "rail rail0: its subnet 10.0.2.0/24 holds eth01's address 10.0.2.15/24, which carries the node's management. "
        "Give the rail another subnet",
    )
    assert match(wanted, replace(FACTS, management=(), netdevs=own)).problems == ()


@pytest.mark.parametrize(
    ("management", "more"),
    [
        (("eth18",), ()),
        (("eth18.7",), (Netdev("eth18.7", 50, kind="vlan", lower="eth18", vlan_id=7),)),
        (("br0",), (Netdev("br0", 50, kind="bridge"),)),
    ],
)
def test_the_management_link_is_never_a_rail(management: tuple[str, ...], more: tuple[Netdev, ...]) -> None:
    netdevs = (netdev("01"), netdev("18", master="br0"), netdev("19"), *more)
    problems = match(TWO, replace(FACTS, management=management, netdevs=netdevs)).problems
    assert len(problems) == 1
    assert problems[0].startswith("rail rail0: its NIC 0000:18:00.0 (eth18) carries the management link")


def test_an_mtu_that_the_driver_does_not_take() -> None:
    small = replace(FACTS, netdevs=(netdev("01"), netdev("18", max_mtu=4000), netdev("19", max_mtu=0)))
    assert match(TWO, small).problems == (
        "rail rail0: eth18 takes an MTU of at most 4000, the spec wants 9000. Lower host_mtu of fabric data, or update "
        "the NIC's driver",
    )


def test_two_rails_on_one_port() -> None:
    wanted = node(rail("rail0", DeviceMatch(pci="0000:18:00.0")), rail("rail1", DeviceMatch(slot="s18")))
    assert match(wanted, FACTS).problems == (
        "rail rail0: eth18 is a port of rail0 and of rail1",
        "rail rail1: eth18 is a port of rail0 and of rail1",
    )


def test_a_missing_driver_is_the_stacks_business_and_no_problem_here() -> None:
    bare = replace(FACTS, pci=(nic("18"), replace(nic("19"), driver=None)), netdevs=(netdev("18"),), rdma=())
    assert match(TWO, bare).problems == ()
