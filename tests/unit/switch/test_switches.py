# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""From spec, nodes and inventory to a switch's intent; what contradicts is refused with place and remedy."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import SpecError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Neighbour,
    Netdev,
    NodeFacts,
    Pci,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.spec import Link
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.switch import SwitchSpec
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import switch_entry, switch_limits
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.switches import resolve_switches

from tests.unit.switch.sites import intent, site, variables


def refused(system: str = "sonic", role: str = "leaf", qos: Any = None, **more: Any) -> SpecError:
    with pytest.raises(SpecError) as caught:
        intent(system, role, qos, **more)
    return caught.value


@pytest.mark.parametrize(
    ("more", "place", "words"),
    [
        ({"switch_os": None}, "su1-leaf0: switch_os", "is missing"),
        ({"switch_os": "junos"}, "su1-leaf0: switch_os", "not known"),
        ({"switch_os_version": 5.1}, "su1-leaf0: switch_os_version", 'like "5.14"'),
        ({"switch_buffer_model": "static"}, "su1-leaf0: switch_buffer_model", "traditional, dynamic"),
        ({"switch_ports": ["Ethernet0"]}, "su1-leaf0: switch_ports", "a mapping"),
        ({"switch_ports": {"swp1": {"host": "gpu001", "rail": "rail0"}}}, "su1-leaf0: switch_ports", "Ethernet0"),
        ({"switch_ports": {"Ethernet0": {"host": "gpu001"}}}, "su1-leaf0: switch_ports.Ethernet0", "host and rail"),
        (
            {"switch_ports": {"Ethernet0": {"host": "gpu099", "rail": "rail0"}}},
            "su1-leaf0: switch_ports.Ethernet0.host",
            "no such node",
        ),
        (
            {"switch_ports": {"Ethernet0": {"host": "gpu001", "rail": "rail9"}}},
            "su1-leaf0: switch_ports.Ethernet0.rail",
            "Its rails are rail0",
        ),
        (
            {"switch_ports": {"Ethernet0": {"host": "gpu001", "rail": "rail1"}}},
            "su1-leaf0: switch_ports.Ethernet0",
            "ends on su1-leaf1",
        ),
        ({"switch_uplinks": {"Ethernet0": {"switch": "s"}}}, "su1-leaf0: switch_uplinks.Ethernet0", "Name it once"),
        ({"switch_uplinks": {"Ethernet9": {"to": "s"}}}, "su1-leaf0: switch_uplinks.Ethernet9", "the key switch"),
        ({"switch_uplinks": {"Ethernet9": {"switch": "SU1-leaf0.x"}}}, "su1-leaf0: switch_uplinks.Ethernet9", "itself"),
        ({"switch_ports": None}, "su1-leaf0: switch_ports", "LLDP"),
    ],
)
def test_what_the_inventory_gets_wrong(more: dict[str, Any], place: str, words: str) -> None:
    error = refused(**more)
    assert error.place == place
    assert words in str(error)


def test_a_leaf_or_a_spine_that_the_spec_does_not_know() -> None:
    wanted, nodes = site()
    for role, name, place in (("leaf", "other", "other"), ("spine", "spine9", "spine9: switch_uplinks")):
        entry = switch_entry.load(name, role, {"switch_os": "eos", "switch_uplinks": {"Ethernet1": {"switch": "x"}}})
        with pytest.raises(SpecError) as caught:
            resolve_switches(wanted, nodes, [entry], {})
        assert caught.value.place == place
    with pytest.raises(SpecError, match="a spine has no hosts"):
        switch_entry.load("spine0", "spine", variables("eos"))
    leaves = [switch_entry.load(name, "leaf", variables("sonic")) for name in ("su1-leaf0", "spine0")]
    with pytest.raises(SpecError, match="this is a leaf"):
        resolve_switches(wanted, nodes, leaves[:1] + leaves[1:], {})


def test_a_fabric_without_qos_is_not_managed() -> None:
    wanted, nodes = site()
    from dataclasses import replace

    bare = replace(wanted, fabrics={"compute": replace(wanted.fabrics["compute"], qos=None)})
    entry = switch_entry.load("su1-leaf0", "leaf", variables("sonic"))
    with pytest.raises(SpecError, match=r"fabric_spec\.fabrics\.compute\.qos: su1-leaf0 carries this fabric"):
        resolve_switches(bare, nodes, [entry], {})


@pytest.mark.parametrize(
    ("system", "qos", "key"),
    [
        ("cumulus", {"switch": {"pfc_watchdog": {"action": "forward"}}}, "switch.pfc_watchdog.action"),
        ("eos", {"switch": {"pfc_watchdog": {"action": "forward"}}}, "switch.pfc_watchdog.action"),
        ("cumulus", {"switch": {"pfc_watchdog": {"detection_ms": 250}}}, "switch.pfc_watchdog.detection_ms"),
        ("eos", {"switch": {"pfc_watchdog": {"detection_ms": 205}}}, "switch.pfc_watchdog.detection_ms"),
        ("sonic", {"switch": {"pfc_watchdog": {"detection_ms": 90}}}, "switch.pfc_watchdog.detection_ms"),
        ("sonic", {"cable_length": "400m"}, "cable_length or switch.uplink_cable_length"),
        (
            "eos",
            {
                "traffic_classes": [
                    {"tc": 1, "priorities": [3], "tsa": "ets", "share": 50},
                    {"tc": 0, "priorities": "rest", "tsa": "ets", "share": 50},
                ]
            },
            "traffic_classes",
        ),
        ("cumulus", {"pfc": [3, 4], "traffic_classes": None}, "pfc"),
    ],
)
def test_what_a_system_cannot_be_told(system: str, qos: dict[str, Any], key: str) -> None:
    error = refused(system, qos=qos)
    assert error.place == f"fabric_spec.fabrics.compute.qos.{key}"
    assert "su1-leaf0" in str(error)


@pytest.mark.parametrize(
    ("switch", "key"),
    [
        ({"ecn": {"min_bytes": 5, "max_bytes": 5}}, "ecn"),
        ({"ecn": {"min_bytes": 5, "max_bytes": 6, "probability": 101}}, "ecn.probability"),
        ({"buffers": {"lossless_percent": 100}}, "buffers.lossless_percent"),
        ({"pfc_watchdog": {"action": "alert"}}, "pfc_watchdog.action"),
        ({"uplink_cable_length": "10001m"}, "uplink_cable_length"),
        ({"uplink_cable_length": "99999m"}, "uplink_cable_length"),
        ({"uplink_cable_length": "0m"}, "uplink_cable_length"),
        ({"uplink_cable_length": "m"}, "uplink_cable_length"),
        ({"watchdog": {}}, ""),
    ],
)
def test_the_specs_own_section_is_judged_without_any_switch(switch: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecError) as caught:
        site({"switch": switch})
    assert caught.value.place == ".".join(filter(None, ("fabric_spec.fabrics.compute.qos.switch", key)))


def test_uplinks_may_be_longer_than_the_cables_of_nodes() -> None:
    ports = intent("cumulus", qos={"switch": {"uplink_cable_length": "10000m"}}).ports
    assert [port.cable_length_m for port in ports if port.switch] == [10000]


def test_cnps_are_where_the_nodes_nics_put_them() -> None:
    entry = switch_entry.load("su1-leaf0", "leaf", variables("sonic"))
    wanted, nodes = site({"cnp": None, "traffic_classes": None}, drivers=("bnxt_en", "bnxt_en"))
    resolved = resolve_switches(wanted, nodes, [entry], {})[0]
    # Broadcom's priority, but NVIDIA's numbering of classes: a switch has eight.
    assert (resolved.dscp_priority[48], resolved.priority_queue) == (7, (0, 0, 0, 3, 0, 0, 0, 7))
    wanted, nodes = site({"traffic_classes": None}, drivers=("mlx5_core", "bnxt_en"))
    assert resolve_switches(wanted, nodes, [entry], {})[0].dscp_priority[48] == 6


def test_thresholds_follow_the_speed_unless_the_spec_has_its_own() -> None:
    def ecn(speed: Any, **spec: Any) -> tuple[int, int, int]:
        found = switch_limits.ecn(SwitchSpec(**spec), Link(speed))
        return found.min_bytes, found.max_bytes, found.probability

    assert ecn("25G") == (100_000, 400_000, 20)
    assert ecn("100G") == (400_000, 1_600_000, 20)
    assert ecn("800G") == (3_200_000, 12_800_000, 20)
    assert ecn(None) == (150_000, 1_500_000, 100)
    assert ecn("400G", ecn=switch_limits.ANY_SPEED) == (150_000, 1_500_000, 100)


@pytest.mark.parametrize(
    ("times", "key"),
    [((60_000, 10), "restoration_ms"), ((6000, 6000), "restoration_ms"), ((200_000, 100), "detection_ms")],
)
def test_cumulus_polls_its_queues_within_bounds(times: tuple[int, int], key: str) -> None:
    watchdog = {"detection_ms": times[0], "restoration_ms": times[1]}
    with pytest.raises(SpecError, match=r"Cumulus Linux|cumulus") as caught:
        intent("cumulus", qos={"switch": {"pfc_watchdog": watchdog}})
    assert caught.value.place.endswith(key)


def test_priority_zero_is_not_the_datas() -> None:
    # A NIC puts all traffic without a mark there, whatever the leaf makes of it.
    with pytest.raises(SpecError, match=r"qos\.data\.priority: a value from 1 to 7 is expected"):
        intent("sonic", qos={"data": {"dscp": 26, "priority": 0}})


def neighbours(*heard: tuple[str, str, str]) -> NodeFacts:
    return NodeFacts(
        pci=tuple(Pci(address, "15b3", "1021") for address in ("0000:18:00.0", "0000:40:00.0")),
        netdevs=(Netdev("eth0", 2, pci="0000:18:00.0"), Netdev("eth1", 3, pci="0000:40:00.0")),
        lldp=tuple(Neighbour(*entry) for entry in heard),
    )


def test_ports_that_the_inventory_does_not_list_come_from_the_nodes() -> None:
    facts = {
        "gpu001": neighbours(("eth0", "su1-leaf0.example.net", "Ethernet16"), ("eth1", "su1-leaf1", "Ethernet0")),
        "gpu002": NodeFacts(lldp=None),
    }
    wanted = intent("sonic", facts=facts, switch_ports=None)
    assert [(port.name, port.host, port.rail) for port in wanted.ports] == [
        ("Ethernet16", "gpu001", "rail0"),
        ("Ethernet248", None, None),
    ]
    assert wanted.notes == ("su1-leaf0: no port leads to gpu002 rail0, which should end here",)


def test_a_port_that_lldp_names_otherwise_is_refused() -> None:
    error = refused(facts={"gpu001": neighbours(("eth0", "su1-leaf0", "etp1"))}, switch_ports=None)
    assert error.place == "LLDP of gpu001 on eth0"
    assert "switch_ports" in str(error)
    error = refused(facts={"gpu001": neighbours(("eth0", "su1-leaf0", "Ethernet248"))}, switch_ports=None)
    assert error.place == "su1-leaf0: switch_uplinks.Ethernet248"
    both = {name: neighbours(("eth0", "su1-leaf0", "Ethernet0")) for name in ("gpu001", "gpu002")}
    assert "is said to be there, too" in str(refused(facts=both, switch_ports=None))
