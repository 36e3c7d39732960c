# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Whole intents byte by byte, and their numbers as worked out by hand from the inputs next to them.

A golden that a code change rewrites proves nothing: the tables below were calculated, not copied. To rewrite the files
after a deliberate change, run with RAILWRIGHT_REGEN=1 and read the difference.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import decode, encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import NodeIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import fabric, host, spec

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "intent"
CASES = [
    ("roce-8rail", "gpu001"),
    ("ib-roce-storage", "gpu101"),
    ("ib-roce-storage", "gpu201"),
    ("ipv6", "node1"),
    ("p2p31", "node5"),
    ("external", "node9"),
    ("replaced-nic", "gpu004"),
]


def resolved(case: str, name: str) -> NodeIntent:
    data = json.loads((FIXTURES / case / "input.json").read_text(encoding="utf-8"))
    wanted = spec.load(data["spec"])
    hosts = [host.load(wanted, key, entry["groups"], entry["variables"]) for key, entry in data["hosts"].items()]
    return next(intent for intent in fabric.resolve_all(wanted, hosts) if intent.host == name)


@pytest.mark.parametrize(("case", "name"), CASES)
def test_the_intent_is_the_golden_one(case: str, name: str) -> None:
    intent = resolved(case, name)
    # The version moves with every release and says nothing of the spec.
    text = json.dumps(encode(replace(intent, core_version="any")), indent=2) + "\n"
    golden = FIXTURES / case / f"{name}.json"
    if os.environ.get("RAILWRIGHT_REGEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert decode(NodeIntent, json.loads(text)) == replace(intent, core_version="any")


def test_eight_rails_from_pool() -> None:
    intent = resolved("roce-8rail", "gpu001")
    assert [rail.addresses for rail in intent.rails] == [
        ("10.10.1.7/24",),
        ("10.11.1.7/24",),
        ("10.12.1.7/24",),
        ("10.13.1.7/24",),
        ("10.14.1.7/24",),
        ("10.15.1.7/24",),
        ("10.16.1.7/24",),
        ("10.17.1.7/24",),
    ]
    rail = intent.rails[4]
    assert (rail.index, rail.gpu, rail.numa, rail.ports[0].leaf) == (4, 4, 1, "su1-leaf4")
    assert (rail.gateways, rail.aggregates) == (("10.14.1.1",), ("10.14.0.0/16",))
    assert (rail.host_mtu, rail.path_mtu, rail.switch_mtu, rail.speed_gbps) == (9000, 4096, 9216, 400.0)
    assert rail.qos is not None
    assert (rail.qos.pfc, rail.qos.ecn, rail.qos.tos, rail.qos.cable_length_m) == ((3,), (3,), 106, 7)
    assert [(entry.tc, entry.priorities) for entry in rail.qos.traffic_classes] == [
        (3, (3,)),
        (6, (6,)),
        (0, (0, 1, 2, 4, 5, 7)),
    ]
    assert intent.modules == ("ib_uverbs", "rdma_ucm")


@pytest.mark.parametrize(
    ("name", "address", "leaves"),
    [
        ("gpu101", "10.20.1.11/24", ["su1-sleaf0", "su1-sleaf1"]),
        ("gpu201", "10.20.2.11/24", ["su2-sleaf0", "su2-sleaf1"]),
    ],
)
def test_infiniband_beside_bonded_storage(name: str, address: str, leaves: list[str]) -> None:
    intent = resolved("ib-roce-storage", name)
    compute, storage = intent.rails
    assert (compute.addressing, compute.addresses, compute.host_mtu, compute.switch_mtu) == ("none", (), None, None)
    assert (compute.path_mtu, compute.qos) == (4096, None)
    assert compute.infiniband is not None
    assert compute.infiniband.partitions[0].pkey == 16
    assert (storage.addresses, [port.leaf for port in storage.ports], storage.vlan) == ((address,), leaves, 100)
    assert storage.bond is not None
    assert (storage.bond.mode, storage.bond.lacp_rate, storage.bond.hash_policy) == ("802.3ad", "fast", "layer3+4")
    assert storage.qos is not None
    # PFC without DCQCN: no ECT(0), no CNPs; half for data and half for the rest by default.
    assert (storage.qos.pfc, storage.qos.ecn, storage.qos.tos, storage.qos.cnp_dscp) == ((3,), (), 104, None)
    assert [(entry.tc, entry.priorities, entry.share) for entry in storage.qos.traffic_classes] == [
        (3, (3,), 50),
        (0, (0, 1, 2, 4, 5, 6, 7), 50),
    ]
    assert intent.modules == ("8021q", "bonding", "ib_umad", "ib_uverbs", "rdma_ucm")


def test_ipv6_only() -> None:
    rail = resolved("ipv6", "node1").rails[0]
    # 258 = 0x102
    assert (rail.addresses, rail.gateways) == (("2001:db8:10::102/64",), ("2001:db8:10::1",))
    assert (rail.path_mtu, rail.families, rail.qos) == (4096, (6,), None)


def test_routed_rails_have_the_odd_end_of_their_link() -> None:
    first, second = resolved("p2p31", "node5").rails
    # link 5: 2 * 5 = 10 is the leaf, 11 the host; the second subnet starts at 128: 138 and 139
    assert first.addresses == ("172.16.0.11/31", "2001:db8:0:1::b/127")
    assert first.gateways == ("172.16.0.10", "2001:db8:0:1::a")
    assert first.aggregates == ("172.16.0.0/25", "2001:db8:0:1::/64")
    assert second.addresses == ("172.16.0.139/31", "2001:db8:0:2::b/127")
    assert second.gateways == ("172.16.0.138", "2001:db8:0:2::a")
    assert second.aggregates == ("172.16.0.0/16", "2001:db8:0:2::/64")
    assert first.path_mtu == 1024
    assert first.qos is not None
    assert (first.qos.pfc, first.qos.ecn, first.qos.tos) == ((), (3,), 106)


def test_external_addresses_come_from_the_host() -> None:
    intent = resolved("external", "node9")
    assert (intent.unit, intent.node_id) == ("east", None)
    assert [rail.addresses for rail in intent.rails] == [("10.1.2.3/24",), ("10.9.8.7/16",)]
    assert (intent.rails[0].gateways, intent.rails[1].gateways) == (("10.1.2.1",), ())
    assert intent.modules == ("ib_uverbs", "rdma_rxe", "rdma_ucm")
    assert intent.rails[0].qos is not None
    assert (intent.rails[0].qos.pfc, intent.rails[0].qos.ecn, intent.rails[0].qos.tos) == ((), (), 104)


def test_a_host_goes_before_its_profile() -> None:
    first, second = resolved("replaced-nic", "gpu004").rails
    assert first.ports[0].match[0].pci == "0000:18:00.0"
    assert [(match.pci, port.rdma_port) for port in second.ports for match in port.match] == [("0000:5f:00.0", 2)]
    assert (second.gpu, second.numa) == (3, 1)
    assert (second.host_mtu, second.addresses) == (9000, ("10.11.0.14/24",))


def test_the_hash_follows_what_the_node_should_be_and_nothing_else() -> None:
    data = json.loads((FIXTURES / "ib-roce-storage" / "input.json").read_text(encoding="utf-8"))
    before = resolved("ib-roce-storage", "gpu101").spec_hash

    def digest() -> str:
        wanted = spec.load(data["spec"])
        entry = data["hosts"]["gpu101"]
        return fabric.resolve_all(wanted, [host.load(wanted, "gpu101", entry["groups"], entry["variables"])])[
            0
        ].spec_hash

    data["spec"]["units"]["su2"]["store0"]["subnet"] = "10.20.3.0/24"
    data["spec"]["units"]["su2"]["store0"]["gateway"] = "10.20.3.1"
    assert digest() == before
    data["spec"]["rails"][1]["vlan"]["id"] = 101
    assert digest() != before
