# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What contradicts itself is refused with one message that names place, value and remedy."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import SpecError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import NodeIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import fabric, host, spec
from hypothesis import given
from hypothesis import strategies as st

GOOD: dict[str, Any] = {
    "schema": 1,
    "name": "pod",
    "fabrics": {
        "data": {"transport": "roce", "link": {"speed": "400G"}, "qos": {"profile": "pfc+dcqcn"}},
        "ib": {"transport": "infiniband", "infiniband": {"subnet_managers": "hosts"}},
    },
    "rails": [{"name": "rail0", "fabric": "data"}, {"name": "ib0", "fabric": "ib"}],
    "units": {
        "su1": {"rail0": {"subnet": "10.10.1.0/24", "gateway": "10.10.1.1", "aggregate": "10.10.0.0/16"}},
        "su2": {"rail0": {"subnet": "10.10.2.0/24"}},
    },
    "addressing": {"mode": "pool"},
}
VARIABLES: dict[str, Any] = {
    "fabric_node_id": 5,
    "fabric_profile": {
        "model": "x",
        "rails": {"rail0": {"ports": [{"pci": "0000:18:00.0"}]}, "ib0": {"ports": [{"pci": "0000:19:00.0"}]}},
    },
}
GROUPS = ["gpu_nodes", "su1", "hw_x"]
REMOVE = object()


def changed(base: dict[str, Any], *changes: tuple[str, Any]) -> dict[str, Any]:
    data = copy.deepcopy(base)
    for path, value in changes:
        *steps, last = path.split("/")
        place: Any = data
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
        if value is REMOVE:
            del place[last]
        elif isinstance(place, list):
            place[int(last)] = value
        else:
            place[last] = value
    return data


def resolved(raw: Any, variables: Any = VARIABLES, groups: Any = GROUPS) -> NodeIntent:
    wanted = spec.load(raw)
    return fabric.resolve_all(wanted, [host.load(wanted, "node1", groups, variables)], ["node1"])[0]


def message(raw: Any, variables: Any = VARIABLES, groups: Any = GROUPS) -> str:
    with pytest.raises(SpecError) as caught:
        resolved(raw, variables, groups)
    return str(caught.value)


def test_the_base_of_these_tests_is_good() -> None:
    assert resolved(GOOD).rails[0].addresses == ("10.10.1.5/24",)


TC = "fabrics/data/qos/traffic_classes"
CLASSES = [
    {"tc": 3, "priorities": [3], "tsa": "ets", "share": 50},
    {"tc": 0, "priorities": "rest", "tsa": "ets", "share": 50},
]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("schema", 2)], "fabric_spec.schema: this version of Railwright knows schema 1 only (found '2')"),
        ([("schema", True)], "fabric_spec.schema: this version of Railwright knows schema 1 only"),
        ([("colour", "red")], "fabric_spec: unknown key 'colour'"),
        (
            [("addressing/mode", "unnumbered")],
            "fabric_spec.addressing.mode: unnumbered rails are reserved, not yet there",
        ),
        ([("addressing/families", [6, 4])], "fabric_spec.addressing.families: families are [4], [6] or [4, 6]"),
        (
            [("fabrics/data/link/host_mtu", 300)],
            "fabric_spec.fabrics.data.link.host_mtu: RoCE needs an MTU of at least 352",
        ),
        (
            [("addressing/families", [4, 6]), ("fabrics/data/link/host_mtu", 1000)],
            "fabric_spec.fabrics.data.link.host_mtu: IPv6 needs an MTU of at least 1280 bytes (found '1000')",
        ),
        (
            [("fabrics/ib/link/host_mtu", 4092)],
            "fabric_spec.fabrics.ib.link.host_mtu: the MTU of IP over InfiniBand follows",
        ),
        (
            [("fabrics/ib/infiniband", REMOVE)],
            "fabric_spec.fabrics.ib: an InfiniBand fabric needs its section infiniband",
        ),
        ([("fabrics/ib/qos/profile", "pfc")], "fabric_spec.fabrics.ib.qos: qos is for RoCE"),
        (
            [("fabrics/data/infiniband/subnet_managers", "ufm")],
            "fabric_spec.fabrics.data.infiniband: a RoCE fabric has no",
        ),
        ([("rails/1/name", "rail0")], "fabric_spec.rails[1].name: this rail is there twice (found 'rail0')"),
        ([("rails/0/fabric", "date")], "fabric_spec.rails[0].fabric: there is no such fabric (found 'date')"),
        ([("rails/1/vlan", {"id": 5})], "fabric_spec.rails[1].vlan: InfiniBand has partitions, not VLANs"),
        (
            [("rails/1/bond", {"mode": "802.3ad"})],
            "fabric_spec.rails[1].bond.mode: InfiniBand ports bond in mode active-b",
        ),
        ([("fabrics/data/qos", {"profile": "pfc", "cnp": {"dscp": 48, "priority": 6}})], "cnp belongs to DCQCN"),
        ([("fabrics/data/qos/cnp", {"dscp": 48, "priority": 3})], "qos.cnp.priority: CNPs must not share the priority"),
        (
            [("fabrics/data/qos/cnp", {"dscp": 26, "priority": 6})],
            "qos.cnp.dscp: data and CNPs cannot have the same DSCP",
        ),
        ([(TC, [*CLASSES, CLASSES[1]])], "traffic_classes: only one traffic class can have the rest"),
        ([(TC, CLASSES[:1])], "traffic_classes: no traffic class has priority 0, 1, 2, 4, 5, 6, 7"),
        (
            [(TC, [{**CLASSES[0], "share": 60}, CLASSES[1]])],
            "shares of the ets classes must add up to 100 (found '110')",
        ),
        (
            [(TC, [{**CLASSES[0], "tsa": "strict"}, CLASSES[1]])],
            "traffic_classes[0]: a traffic class with tsa strict has no",
        ),
        (
            [(TC, [*CLASSES, {**CLASSES[0], "tc": 5}])],
            "traffic_classes[2].priorities: priority 3 is in traffic classes 3",
        ),
        ([(TC, [CLASSES[0], {**CLASSES[1], "tc": 3}])], "traffic_classes[1].tc: this traffic class is there twice"),
        ([("units/su1/rail9", {})], "fabric_spec.units.su1: there is no rail rail9"),
        ([("units/su2/rail0", {})], "fabric_spec.units.su2.rail0: mode pool needs an IPv4 subnet here. Add subnet"),
        (
            [("units/su2/rail0/subnet", "10.10.2.9/24")],
            "this subnet has host bits set (found '10.10.2.9/24'). The network is 10",
        ),
        (
            [("units/su2/rail0/subnet", "10.10.2.0/33")],
            "units.su2.rail0.subnet: this is no subnet (found '10.10.2.0/33')",
        ),
        (
            [("units/su2/rail0/subnet", "10.10.1.128/25")],
            "subnet: this subnet overlaps 10.10.1.0/24 of fabric_spec.units.su1",
        ),
        (
            [("units/su2/rail0/subnet", "10.0.0.0/8")],
            "su1.rail0.subnet: this subnet overlaps 10.0.0.0/8 of fabric_spec.unit",
        ),
        ([("units/su2/rail0/subnet", "2001:db8::/64")], "addressing.families does not have 6 (found '2001:db8::/64')"),
        (
            [("units/su1/rail0/gateway", "10.10.2.1")],
            "units.su1.rail0.gateway: this is no host address of 10.10.1.0/24",
        ),
        (
            [("units/su1/rail0/gateway", "10.10.1.255")],
            "units.su1.rail0.gateway: this is no host address of 10.10.1.0/24",
        ),
        ([("units/su1/rail0/gateway", "10.10.1.5")], "rail0.gateway: this is the address of node1 (found '10.10.1.5')"),
        (
            [("units/su1/rail0/gateway", REMOVE)],
            "units.su1.rail0.aggregate: what is reached through the gateway needs an",
        ),
        ([("units/su1/rail0/aggregate", "10.11.0.0/16")], "aggregate does not hold the rail's subnet 10.10.1.0/24"),
        ([("units/su1/rail0/leaf", ["a", "b"])], "units.su1.rail0.leaf: 2 leaves for a rail of 1 ports on node1"),
        ([("addressing/mode", "p2p31")], "units.su1.rail0.gateway: in mode p2p31 the gateway is the leaf's end"),
        ([("addressing/mode", "none")], "units.su1.rail0: mode none has no addresses"),
        (
            [("addressing/mode", "external"), ("fabrics/ib/addressing", {"mode": "none"})],
            "node1: fabric_addresses.rail0: mode external needs the host's IPv4 address. Add rail0 to",
        ),
        (
            [("waivers", [{"rule": "rail.mut", "reason": "x", "until": "2027-02-03"}])],
            "waivers[0].rule: there is no such rule (found 'rail.mut'). Near ones are rail.mtu",
        ),
        (
            [("waivers", [{"rule": "rail.mtu", "reason": "x", "until": "2027-02-30"}])],
            "waivers[0].until: this is no date",
        ),
        (
            [("waivers", [{"rule": "rail.mtu", "reason": "x", "until": "2027-02-03", "rail": "r9"}])],
            "waivers[0].rail: there is no",
        ),
    ],
)
def test_a_spec_that_contradicts_itself(changes: list[tuple[str, Any]], expected: str) -> None:
    assert expected in message(changed(GOOD, *changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("fabric_node_id", REMOVE)], "node1: fabric_node_id: the host has no number. Set fabric_node_id"),
        ([("fabric_node_id", "5")], "node1: fabric_node_id: a whole number is expected"),
        (
            [("fabric_node_id", 255)],
            "this number gives no host address in 10.10.1.0/24 of rail0 (found '255'). Use a number",
        ),
        ([("fabric_node_id", 0)], "this number gives no host address in 10.10.1.0/24 of rail0 (found '0')"),
        ([("fabric_node_id", 256)], "this number gives no host address in 10.10.1.0/24 of rail0 (found '256')"),
        ([("fabric_node_id", 1)], "gateway: this is the address of node1 (found '10.10.1.1')"),
        ([("fabric_unit", "su9")], "node1: fabric_unit: there is no such unit (found 'su9'). Units are su1, su2"),
        (
            [("fabric_profile", REMOVE)],
            "node1: fabric_profile: the hardware profile is not defined. Write it to group_vars/h",
        ),
        ([("fabric_profile/rails/rail0", REMOVE)], "the hardware profile has no NIC for this rail (found 'rail0')"),
        (
            [("fabric_profile/rails/rail0/ports", [{}])],
            "fabric_profile.rails.rail0.ports[0]: the port does not say which NIC",
        ),
        ([("fabric_profile/rails/rail0/ports", [])], "fabric_profile.rails.rail0.ports: a rail has at least one port"),
        (
            [("fabric_profile/rails/rail0/ports", [{"pci": "0000:18:00.0"}, {"pci": "0000:18:00.1"}])],
            "node1: rail rail0: 2 ports, but no bond",
        ),
        ([("fabric_devices", {"rail0": {"ports": [{"pci": "0000:19:00.0"}]}})], "rail0 and ib0 name the same port"),
        (
            [("fabric_devices", {"rail0": {"ports": [{"name": "eth0"}]}})],
            "node1: fabric_devices.rail0.ports[0]: unknown key",
        ),
        (
            [("fabric_devices", {"rail7": {"ports": [{"pci": "0000:01:00.0"}]}})],
            "node1: fabric_devices: there is no such rail (found 'rail7')",
        ),
        (
            [("fabric_addresses", {"rail7": ["10.0.0.1/8"]})],
            "node1: fabric_addresses: there is no such rail (found 'rail7')",
        ),
        (
            [("fabric_addresses", {"rail0": "10.0.0.1/8"})],
            "node1: fabric_addresses.rail0: a list of addresses is expected",
        ),
    ],
)
def test_a_host_that_does_not_fit(changes: list[tuple[str, Any]], expected: str) -> None:
    assert expected in message(GOOD, changed(VARIABLES, *changes))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["gpu_nodes", "hw_x"], "node1: the host is in no unit. Put it into one group named like a unit (su1, su2)"),
        (["su1", "su2", "hw_x"], "node1: the host is in two units (found 'su1, su2')"),
        (["su1"], "node1: a host is in exactly one group of its hardware (found 'none')"),
        (["su1", "hw_x", "hw_y"], "node1: a host is in exactly one group of its hardware (found 'hw_x, hw_y')"),
    ],
)
def test_a_host_in_the_wrong_groups(groups: list[str], expected: str) -> None:
    assert expected in message(GOOD, groups=groups)


def test_fabric_unit_settles_two_groups() -> None:
    assert resolved(GOOD, changed(VARIABLES, ("fabric_unit", "su2")), ["su1", "su2", "hw_x"]).unit == "su2"


def test_soft_roce_and_vlan_exclude_each_other() -> None:
    raw = changed(GOOD, ("rails/0/vlan", {"id": 7}))
    assert resolved(raw).rails[0].vlan == 7
    assert "soft RoCE does not run over a VLAN" in message(raw, changed(VARIABLES, ("fabric_profile/soft_roce", True)))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.1.2.300/24", "this is no interface address (found '10.1.2.300/24')"),
        ("10.1.2.0/24", "this names the network, not a host"),
        ("2001:db8::5/64", "one address of IPv4 is expected"),
        ("10.9.9.9/24", "the address is not in the rail's subnet 10.10.1.0/24"),
    ],
)
def test_an_external_address_that_does_not_fit(address: str, expected: str) -> None:
    raw = changed(GOOD, ("addressing/mode", "external"), ("fabrics/ib/addressing", {"mode": "none"}))
    assert expected in message(raw, changed(VARIABLES, ("fabric_addresses", {"rail0": [address]})))


def test_a_gateway_beyond_an_external_address_is_refused() -> None:
    raw = changed(
        GOOD,
        ("addressing/mode", "external"),
        ("fabrics/ib/addressing", {"mode": "none"}),
        ("units/su1/rail0/subnet", []),
    )
    variables = changed(VARIABLES, ("fabric_addresses", {"rail0": ["10.10.7.5/24"]}))
    assert "gateway: node1 cannot reach it from 10.10.7.5/24" in message(raw, variables)


def test_dhcp_has_no_addresses_and_keeps_its_routes() -> None:
    raw = changed(GOOD, ("addressing/mode", "dhcp"))
    rail = resolved(raw, changed(VARIABLES, ("fabric_node_id", REMOVE))).rails[0]
    assert (rail.addressing, rail.addresses, rail.gateways) == ("dhcp", (), ("10.10.1.1",))


def test_the_spec_must_be_there() -> None:
    assert message(None).startswith(
        "fabric_spec: the fabric spec is not defined. Write it to group_vars/all/fabric.yml"
    )


def hosts(wanted: Any, *numbers: tuple[str, str, int]) -> list[Any]:
    return [
        host.load(wanted, name, [unit, "hw_x"], changed(VARIABLES, ("fabric_node_id", number)))
        for name, unit, number in numbers
    ]


def test_a_number_is_unique_in_its_unit_only() -> None:
    wanted = spec.load(GOOD)
    assert len(fabric.resolve_all(wanted, hosts(wanted, ("a", "su1", 5), ("b", "su2", 5)), ["a"])) == 2
    with pytest.raises(SpecError, match=r"^b: fabric_node_id: a has this number in unit su1, too \(found '5'\)"):
        fabric.resolve_all(wanted, hosts(wanted, ("a", "su1", 5), ("b", "su1", 5)), ["a"])


def test_an_address_is_there_once_in_a_network_over_two_units() -> None:
    flat = changed(GOOD, ("units/su1/rail0", {"subnet": "10.10.2.0/24"}))
    wanted = spec.load(flat)
    assert len(fabric.resolve_all(wanted, hosts(wanted, ("a", "su1", 5), ("b", "su2", 6)), ["a"])) == 2
    with pytest.raises(SpecError, match=r"^b: rail rail0: a has this address on rail0, too \(found '10.10.2.5'\)"):
        fabric.resolve_all(wanted, hosts(wanted, ("a", "su1", 5), ("b", "su2", 5)), ["a"])


def test_the_gateway_of_another_unit_is_no_hosts_address() -> None:
    flat = changed(GOOD, ("units/su1/rail0", {"subnet": "10.10.2.0/24", "gateway": "10.10.2.9"}))
    wanted = spec.load(flat)
    with pytest.raises(SpecError, match=r"^b: rail rail0: this is the gateway of fabric_spec.units.su1.rail0"):
        fabric.resolve_all(wanted, hosts(wanted, ("b", "su2", 9)), ["a"])


@pytest.mark.parametrize("name", ["a", "su1-leaf0", "sm1"])
def test_a_waiver_is_for_somebody_who_is_there(name: str) -> None:
    waiver = {"rule": "rail.mtu", "reason": "old switch", "until": "2027-03-31", "host": name}
    raw = changed(GOOD, ("waivers", [waiver]), ("units/su1/rail0/leaf", "su1-leaf0"))
    wanted = spec.load(raw)
    assert fabric.resolve_all(wanted, hosts(wanted, ("a", "su1", 5)), ["sm1"])
    strange = spec.load(changed(raw, ("waivers/0/host", "a1")))
    with pytest.raises(SpecError, match=r"^fabric_spec.waivers\[0\].host: there is no such host .* \(found 'a1'\)"):
        fabric.resolve_all(strange, hosts(strange, ("a", "su1", 5)), ["sm1"])


def test_a_subnet_without_a_host_address_is_no_matter_of_the_number() -> None:
    with pytest.raises(SpecError, match=r"Give rail0 a larger subnet than 10\.10\.7\.0/32"):
        resolved(changed(GOOD, ("units/su1/rail0", {"subnet": "10.10.7.0/32"})))


def test_subnet_managers_on_hosts_need_hosts() -> None:
    wanted = spec.load(GOOD)
    with pytest.raises(SpecError, match="hosts run the subnet managers, but the group subnet_managers is empty"):
        fabric.resolve_all(wanted, hosts(wanted, ("a", "su1", 5)), [])


@given(st.integers(1, 254))
def test_pool_addresses_are_in_the_subnet_and_follow_the_number(number: int) -> None:
    raw = changed(GOOD, ("units/su1/rail0", {"subnet": "10.10.1.0/24"}))
    assert resolved(raw, changed(VARIABLES, ("fabric_node_id", number))).rails[0].addresses == (f"10.10.1.{number}/24",)


def test_a_thousand_hosts_take_linear_time() -> None:
    raw = changed(GOOD, ("units/su1/rail0", {"subnet": "10.10.0.0/18"}), ("units/su2/rail0/subnet", "10.11.0.0/18"))
    wanted = spec.load(raw)

    def seconds(count: int) -> float:
        many = hosts(wanted, *((f"n{number}", "su1", number + 1) for number in range(count)))
        started = time.process_time()
        fabric.resolve_all(wanted, many, ["a"])
        return time.process_time() - started

    seconds(100)
    assert seconds(2000) < 20 * max(seconds(250), 0.001)


@pytest.mark.parametrize(
    "subnet",
    ["224.0.1.0/24", "127.0.0.0/24", "0.0.0.0/24", "0.0.0.0/0", "fe80::/64", "::ffff:10.0.0.0/120", "ff05::/64"],
)
def test_a_subnet_of_another_use(subnet: str) -> None:
    families = [6 if ":" in subnet else 4]
    raw = changed(GOOD, ("addressing/families", families), ("units", {"su1": {"rail0": {"subnet": subnet}}}))
    assert "fabric_spec.units.su1.rail0.subnet: hosts have no addresses of" in message(raw)


@pytest.mark.parametrize("name", ["all", "default", "lo"])
def test_a_rail_with_the_name_of_something_else(name: str) -> None:
    assert "fabric_spec.rails[1].name: bonds and VLANs are named" in message(changed(GOOD, ("rails/1/name", name)))


def test_no_rail_has_a_table_of_the_kernels() -> None:
    raw = changed(GOOD, ("rails", [{"name": f"r{number}", "fabric": "ib"} for number in range(154)]))
    assert "fabric_spec.rails: each rail may need a routing table, and there are 153" in message(raw)


def test_no_rail_has_the_default_route() -> None:
    raw = changed(GOOD, ("units/su1/rail0/aggregate", "0.0.0.0/0"))
    assert "fabric_spec.units.su1.rail0.aggregate: a rail has no default route" in message(raw)


EXTERNAL = changed(
    GOOD,
    ("addressing/mode", "external"),
    ("rails/1/fabric", "data"),
    ("units", {"su1": {}}),
)


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (("10.10.1.5/24", "10.10.1.5/24"), "rail0 and ib0 have the same address (found '10.10.1.5/24')"),
        (("10.10.1.5/24", "10.10.1.6/16"), "its subnet overlaps 10.10.1.0/24 of rail0 (found '10.10.1.6/16')"),
        (("10.10.1.5/16", "10.10.1.6/24"), "its subnet overlaps 10.10.0.0/16 of rail0 (found '10.10.1.6/24')"),
        (("10.10.1.5/24", "127.0.0.1/8"), "hosts have no addresses of 127.0.0.0/8, the loopback"),
    ],
)
def test_addresses_of_one_host(addresses: tuple[str, str], expected: str) -> None:
    given_addresses = {"rail0": [addresses[0]], "ib0": [addresses[1]]}
    assert expected in message(EXTERNAL, changed(VARIABLES, ("fabric_addresses", given_addresses)))


def test_two_rails_of_one_subnet_are_told_apart_by_tables() -> None:
    addresses = {"rail0": ["10.10.1.5/24"], "ib0": ["10.10.1.6/24"]}
    rails = resolved(EXTERNAL, changed(VARIABLES, ("fabric_addresses", addresses))).rails
    assert [rail.table for rail in rails] == [100, 101]


def test_ipv6_is_spelled_as_the_kernel_does() -> None:
    entry = {"subnet": "FD00:0::/64", "gateway": "FD00::0001", "aggregate": "FD00:0:0::/48"}
    raw = changed(GOOD, ("addressing/families", [6]), ("units", {"su1": {"rail0": entry}}))
    rail = resolved(raw).rails[0]
    assert (rail.addresses, rail.gateways, rail.aggregates) == (("fd00::5/64",), ("fd00::1",), ("fd00::/48",))
