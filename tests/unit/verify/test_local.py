# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Each local rule: good, bad, unknown, and a node that only a wrong rule would call good."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import IntentError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.document import PATH, dump, load
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Gid,
    NodeFacts,
    Service,
    Unread,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import ibstat
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.address import gid_of
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.host import current
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import check_local, judge_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.cases import case as field_case
from tests.unit.fakes import FakePort
from tests.unit.verify import nodes

SOFT, HARD = nodes.facts(), nodes.facts(soft=False)


def case(rule, state, facts, *words, soft=True, rail="rail0", name="", **intent):
    """One row: the facts, the state that the rule must give, and words that the finding must hold."""
    mark = pytest.mark.rule(rule, state)
    node = nodes.intent(soft=soft, **intent)
    return pytest.param((rule, state, rail), node, facts, words, marks=mark, id=f"{rule}-{name or state}")


def one_rail(**changes):
    return {"rails": (replace(nodes.intent().rails[0], **changes),)}


def ib_rail():
    rail = replace(nodes.intent(soft=False).rails[0], transport="infiniband", host_mtu=None, addressing="none")
    return {"rails": (replace(rail, addresses=()),)}


def without(facts, rail=0, **sections):
    """Facts without what is named of one rail."""
    kept = {
        "pci": tuple(item for n, item in enumerate(facts.pci) if n != rail),
        "netdevs": tuple(item for n, item in enumerate(facts.netdevs) if n != rail),
        "rdma": tuple(item for n, item in enumerate(facts.rdma) if n != rail),
    }
    return replace(facts, **{name: kept[name] for name in sections if sections[name]})


CASES = [
    case("host.probe", "pass", SOFT, rail=None),
    case("host.probe", "unknown", nodes.hung(SOFT), "rdma -j link show", "did not return", "dmesg", rail=None),
    case("host.probe", "unknown", replace(SOFT, modules=None), "modules could not be read", rail=None, name="silent"),
    # A tool that no rule needs, and a device that carries no rail: nothing that the fabric is judged by.
    case(
        "host.probe",
        "pass",
        replace(SOFT, unread=(Unread("lldpcli", "not installed", "lldp"), Unread("/sys/x", "I/O error", "mlx5_9"))),
        rail=None,
        name="unread-elsewhere",
    ),
    # The section was read, one file of a rail's own device was not.
    case(
        "host.probe",
        "unknown",
        replace(SOFT, unread=(Unread("/sys/class/infiniband/rxe_rail1/x", "I/O error", "rxe_rail1"),)),
        "I/O error",
        rail=None,
        name="one-device",
    ),
    case("stack.modules", "pass", SOFT, rail=None),
    case("stack.modules", "fail", replace(SOFT, modules=("rdma_ucm",)), "rdma_rxe not loaded", rail=None),
    # A name that only contains the wanted one.
    case("stack.modules", "fail", replace(SOFT, modules=("rdma_ucm2", "rdma_rxe")), "rdma_ucm", rail=None, name="like"),
    case("stack.modules", "unknown", replace(SOFT, modules=None), rail=None),
    case("stack.memlock", "pass", replace(SOFT, memlock="8388608"), rail=None, memlock="64000"),
    case("stack.memlock", "fail", replace(SOFT, memlock="64"), "unlimited", "64", rail=None),
    # As text, 9 is more than 10.
    case("stack.memlock", "fail", replace(SOFT, memlock="9"), rail=None, memlock="10", name="as-numbers"),
    case("stack.memlock", "unknown", replace(SOFT, memlock=None), rail=None),
    case("rail.nic", "pass", SOFT),
    case("rail.nic", "fail", without(SOFT, pci=True, netdevs=True), "0000:01:00.0", "missing"),
    # The function is there, its driver is not: the profile is right.
    case("rail.nic", "fail", without(SOFT, netdevs=True), "no working driver", name="no-driver"),
    case("rail.nic", "unknown", replace(SOFT, pci=None, netdevs=None)),
    case("rail.device", "pass", SOFT),
    case("rail.device", "fail", without(SOFT, rdma=True), "rdma link add rxe_rail0 type rxe netdev enp1s0"),
    # A device on the other rail's netdev.
    case(
        "rail.device",
        "fail",
        replace(SOFT, rdma=(replace(SOFT.rdma[0], parent="enp2s0"), SOFT.rdma[1])),
        name="other-netdev",
    ),
    case("rail.device", "fail", replace(HARD, rdma=(replace(HARD.rdma[0], ports=()),)), soft=False, name="no-port"),
    case("rail.device", "unknown", nodes.hung(SOFT)),
    case("rail.link", "pass", SOFT),
    case("rail.link", "fail", nodes.netdev(SOFT, admin_up=False, carrier=None), "set down", "ip link set enp1s0 up"),
    case("rail.link", "fail", nodes.netdev(SOFT, carrier=False), "no carrier", "leaf0", name="no-carrier"),
    case("rail.link", "fail", nodes.port(SOFT, state="DOWN"), "rxe_rail0 port 1 is DOWN", name="port"),
    # operstate UNKNOWN with carrier is how many virtual drivers say "up".
    case("rail.link", "pass", nodes.netdev(SOFT, operstate="UNKNOWN"), name="operstate-unknown"),
    case("rail.link", "unknown", nodes.netdev(SOFT, carrier=None)),
    case("rail.link", "unknown", nodes.port(SOFT, state=None), name="no-state"),
    case("rail.link", "unknown", replace(SOFT, netdevs=None), name="no-netdevs"),
    case("rail.link", "fail", nodes.port(HARD, state="INIT"), "subnet manager", soft=False, name="ib", **ib_rail()),
    # The cable is good, or the physical state were another: nobody runs a subnet manager.
    case(
        "rail.link",
        "fail",
        nodes.port(HARD, state="DOWN", lid=None, sm_lid=0),
        "no subnet manager",
        soft=False,
        name="no-sm",
        **ib_rail(),
    ),
    case(
        "rail.link",
        "fail",
        nodes.port(HARD, state="INIT", lid=38, sm_lid=13),
        "the last one known had LID 13",
        soft=False,
        name="sm-went",
        **ib_rail(),
    ),
    case(
        "rail.link",
        "fail",
        nodes.port(HARD, state="DOWN", physical_state="Polling", lid=None, sm_lid=0),
        "physical state is Polling",
        "Check cable",
        soft=False,
        name="ib-cable",
        **ib_rail(),
    ),
    # The link below is what it was: the VLAN device is the matter of rail.vlan.
    case("rail.link", "pass", SOFT, name="no-vlan", **one_rail(vlan=7)),
    case("rail.rate", "pass", HARD, "4 lane(s)", soft=False),
    case("rail.rate", "fail", nodes.netdev(HARD, speed_mbps=200000), "400 Gbit/s", "200", soft=False),
    case("rail.rate", "warn", nodes.netdev(HARD, speed_mbps=800000), soft=False),
    case("rail.rate", "unknown", nodes.port(nodes.netdev(HARD, speed_mbps=None), rate_gbps=None), soft=False),
    # Unknown speed, known RDMA rate: the rate counts. On InfiniBand only that one does.
    case(
        "rail.rate", "fail", nodes.port(nodes.netdev(HARD, speed_mbps=None), rate_gbps=100.0), soft=False, name="rdma"
    ),
    case("rail.rate", "fail", nodes.port(HARD, rate_gbps=200.0), soft=False, name="ib", **ib_rail()),
    case("rail.mtu", "pass", SOFT),
    case("rail.mtu", "fail", nodes.netdev(SOFT, mtu=1500), "enp1s0 1500", "4200"),
    case("rail.mtu", "fail", nodes.netdev(SOFT, mtu=1500, max_mtu=1500), "at most 1500", name="limit"),
    # Larger is wrong as well: such a node sends what its leaf drops.
    case("rail.mtu", "fail", nodes.netdev(SOFT, mtu=9000), name="larger"),
    case("rail.mtu", "unknown", nodes.netdev(SOFT, mtu=None)),
    case("rail.path_mtu", "pass", SOFT),
    case("rail.path_mtu", "fail", nodes.port(SOFT, active_mtu=1024), "rxe_rail0 1024", "4096"),
    # What the device could do is not what it does.
    case("rail.path_mtu", "fail", nodes.port(SOFT, active_mtu=2048, max_mtu=4096), name="max-is-not-active"),
    case("rail.path_mtu", "unknown", nodes.port(SOFT, active_mtu=None)),
    case("rail.address", "pass", SOFT),
    case("rail.address", "fail", nodes.netdev(SOFT, addresses=()), "10.1.0.1/24", "removed"),
    case("rail.address", "fail", nodes.netdev(SOFT, addresses=("10.1.0.1/16",)), "prefix length", name="prefix"),
    case("rail.address", "fail", nodes.netdev(SOFT, addresses=("10.1.0.9/24",)), "10.1.0.9/24", name="other"),
    # Both hold the text of the right one.
    case("rail.address", "fail", nodes.netdev(SOFT, addresses=("110.1.0.1/24", "10.1.0.1/245")), name="alike"),
    case("rail.address", "warn", nodes.netdev(SOFT, addresses=("10.1.0.1/24", "10.9.0.1/24")), "10.9.0.1/24"),
    case(
        "rail.address",
        "fail",
        nodes.netdev(nodes.netdev(SOFT, addresses=()), 1, addresses=("10.2.0.1/24", "10.1.0.1/24")),
        "sits on enp2s0",
        name="elsewhere",
    ),
    case("rail.address", "unknown", replace(SOFT, netdevs=None)),
    case("rail.address", "pass", SOFT, name="dhcp", **one_rail(addressing="dhcp", addresses=())),
    # A link-local address is what a rail has when nobody answered.
    case(
        "rail.address",
        "fail",
        nodes.netdev(SOFT, addresses=("169.254.3.4/16", "fe80::1/64")),
        "DHCP",
        name="dhcp-silent",
        **one_rail(addressing="dhcp", addresses=()),
    ),
    case("rail.gid", "pass", SOFT, "index 1"),
    case("rail.gid", "fail", nodes.port(SOFT, gids=SOFT.rdma[0].ports[0].gids[:1]), "no GID of 10.1.0.1"),
    case("rail.gid", "fail", nodes.gids(SOFT, kind="IB/RoCE v1"), "IB/RoCE v1 only", name="v1-only"),
    case("rail.gid", "fail", nodes.gids(SOFT, netdev="enp2s0"), "is on enp2s0", name="other-netdev"),
    # v1 beside v2 is the usual table of a NIC.
    case(
        "rail.gid",
        "pass",
        nodes.port(
            SOFT,
            gids=(Gid(0, nodes.gid(1, 0), "IB/RoCE v1", "enp1s0"), Gid(1, nodes.gid(1, 0), "RoCE v2", "enp1s0")),
        ),
        name="both-types",
    ),
    case("rail.gid", "unknown", nodes.gids(SOFT, kind=None)),
    case("rail.gid", "unknown", nodes.hung(SOFT), name="hung"),
    case(
        "rail.gid",
        "fail",
        nodes.port(SOFT, gids=SOFT.rdma[0].ports[0].gids[:1]),
        "only link-local ones",
        name="link-local-only",
    ),
    case(
        "rail.gid",
        "warn",
        nodes.port(SOFT, gids=(*SOFT.rdma[0].ports[0].gids, Gid(7, nodes.gid(1, 0), "RoCE v2", "enp1s0"))),
        "index 1, 7",
        "twice",
        name="twice",
    ),
    # The same GID for another netdev as well is a VLAN's or a bond's affair.
    case(
        "rail.gid",
        "pass",
        nodes.port(SOFT, gids=(*SOFT.rdma[0].ports[0].gids, Gid(7, nodes.gid(1, 0), "RoCE v2", "enp2s0"))),
        name="twice-elsewhere",
    ),
    case("host.name", "pass", SOFT, rail=None),
    case(
        "host.name", "warn", replace(SOFT, system=replace(SOFT.system, hostname="node9")), "node9", "node1", rail=None
    ),
    # The domain and the case say nothing; a name that begins alike is another one.
    case(
        "host.name",
        "pass",
        replace(SOFT, system=replace(SOFT.system, hostname="NODE1.site.example")),
        rail=None,
        name="fqdn",
    ),
    case("host.name", "warn", replace(SOFT, system=replace(SOFT.system, hostname="node11")), rail=None, name="alike"),
    case("host.name", "unknown", replace(SOFT, system=replace(SOFT.system, hostname=None)), rail=None),
]


@pytest.mark.parametrize(("wanted", "node", "facts", "words"), CASES)
def test_rule(wanted, node, facts, words):
    rule, state, rail = wanted
    findings = check_local(node, facts)
    (found,) = [item for item in findings if item.rule == rule and item.rail == rail]
    assert found.state == state
    text = f"{found.found} {found.expected} {found.cause} {found.remedy}"
    assert [word for word in words if word not in text] == []
    if state == "fail":
        assert all((found.host, found.found, found.cause, found.remedy))


@pytest.mark.parametrize(("soft", "facts"), [(True, SOFT), (False, HARD)])
def test_healthy_node_passes_each_rule_once(soft, facts):
    findings = check_local(nodes.intent(soft=soft), facts)
    assert {item.state for item in findings} == {"pass"}
    assert len({item.key for item in findings}) == len(findings) == 6 + 2 * (9 if soft else 11)


def test_soft_roce_has_no_rate_to_judge():
    """Even where the spec names a speed, which bandwidth is held to."""
    findings = check_local(nodes.intent(**one_rail(speed_gbps=1.0)), nodes.port(SOFT, rate_gbps=0.25))
    assert [item for item in findings if item.rule == "rail.rate"] == []


def test_nothing_read_is_nothing_passed():
    findings = check_local(nodes.intent(soft=False), NodeFacts())
    assert {item.state for item in findings} == {"unknown"}
    assert [item.key for item in judge_node("node1", nodes.intent(), None, NodeFacts()) if not item.caused_by][1:] == [
        "host.probe@node1/-"
    ]


def test_several_addresses_each_need_their_gid():
    both = {"addresses": ("10.1.0.1/24", "2001:db8::1/64"), "families": (4, 6)}
    have = nodes.netdev(SOFT, addresses=both["addresses"])
    (found,) = [item for item in check_local(nodes.intent(**one_rail(**both)), have) if item.rule == "rail.gid"]
    assert (found.state, found.found) == ("fail", "rxe_rail0 has no GID of 2001:db8::1")


@pytest.mark.parametrize(
    ("address", "gid"),
    [  # RFC 4291 2.5.5.2, and full notation by hand
        ("10.1.0.1/24", "0000:0000:0000:0000:0000:ffff:0a01:0001"),
        ("255.255.255.255", "0000:0000:0000:0000:0000:ffff:ffff:ffff"),
        ("2001:db8::1/64", "2001:0db8:0000:0000:0000:0000:0000:0001"),
        ("2001:DB8:1:2:3:4:5:6", "2001:0db8:0001:0002:0003:0004:0005:0006"),
        ("fd00:1::", "fd00:0001:0000:0000:0000:0000:0000:0000"),
    ],
)
def test_gid_of_an_address(address, gid):
    assert gid_of(address) == gid


CURRENT = [
    pytest.param(nodes.intent(), "pass", "", marks=pytest.mark.rule("intent.current", "pass")),
    pytest.param(
        nodes.intent(spec_hash="beef" * 16),
        "fail",
        "spec changed",
        marks=pytest.mark.rule("intent.current", "fail"),
    ),
    pytest.param(nodes.intent(core_version="0.0.9"), "fail", "Railwright 0.0.9", id="older"),
    # The spec is the same, the host's own variables are not.
    pytest.param(nodes.intent(leaves={0: "leaf7"}), "fail", "variables of the host", id="same-hash"),
    pytest.param(nodes.intent(host="node7"), "fail", "that of node7", id="another-host"),
    pytest.param(IntentError("this node has no intent yet", "/etc/x"), "fail", "never set up", id="missing"),
]


def stored(text):
    """What a check meets on a node with this text in place of its intent."""
    try:
        return load(FakePort({PATH: text}))
    except IntentError as error:
        return error


# Name, what became of the file, and the words of the cause.
DAMAGE = [
    ("truncated", lambda text: text[: len(text) // 2], "cut off"),
    ("empty", lambda text: "", "cut off"),
    ("changed", lambda text: text.replace('"host_mtu"', '"mtu"', 1), "cut off or changed"),
    ("newer schema", lambda text: text.replace('"schema": 1', '"schema": 2'), "another version"),
    ("other version", lambda text: text.replace('"core_version": "0.1.0"', '"core_version": "9.0"'), "Railwright 9.0"),
]


@pytest.mark.parametrize(("name", "damage", "words"), DAMAGE)
def test_a_bad_intent_is_one_root(name, damage, words):
    """All else is judged by the controller's; that nothing was restored at boot follows from it."""
    want = nodes.intent()
    services = (Service("railwright-apply", "failed"),) if name != "other version" else ()
    own = stored(damage(dump(want)))
    findings = judge_node("node1", own, want, replace(SOFT, services=services))
    (found,) = roots(findings)
    assert (found.key, found.state, words in found.cause) == ("intent.current@node1/-", "fail", True)
    assert found.remedy
    assert stored(dump(want)) == want


def test_the_inventory_leads_to_another_machine():
    """The node is healthy, and another: by its own intent all is well."""
    findings = judge_node("node1", nodes.intent(2), nodes.intent(1), nodes.facts(2))
    (found,) = roots(findings)
    assert (found.key, "that of node2" in found.cause) == ("intent.current@node1/-", True)


@pytest.mark.parametrize(("own", "state", "cause"), CURRENT)
def test_intent_against_the_controllers(own, state, cause):
    found = current("node1", own, nodes.intent())
    assert found.state == state
    assert cause in found.cause


@pytest.mark.rule("intent.current", "unknown")
def test_a_node_without_intent_alone_cannot_be_judged():
    findings = judge_node("node1", IntentError("no intent yet", "/etc/x"), None, SOFT)
    assert [(item.rule, item.state) for item in findings] == [("intent.current", "unknown"), ("host.probe", "pass")]


def test_the_field_case_of_a_good_cable_without_a_subnet_manager():
    ports = ibstat.parse(field_case("ibstat/bf3-down-linkup-no-sm.txt"))[0].ports
    facts = replace(HARD, rdma=(replace(HARD.rdma[0], ports=ports), *HARD.rdma[1:]))
    findings = judge_node("node1", nodes.intent(soft=False, **ib_rail()), None, facts)
    (found,) = [item for item in findings if item.rule == "rail.link"]
    assert (found.state, found.cause.partition(":")[0]) == ("fail", "no subnet manager")
    assert "cable" not in found.remedy


def test_an_old_intent_explains_only_what_it_asks_for():
    old = nodes.intent(spec_hash="beef" * 16)
    old = replace(old, rails=tuple(replace(rail, host_mtu=1500, path_mtu=1024) for rail in old.rails))
    have = SOFT
    for rail in range(2):
        have = nodes.port(nodes.netdev(have, rail, mtu=1500), rail, active_mtu=1024)
    have = nodes.netdev(have, 1, mtu=1400)
    findings = judge_node("node1", old, nodes.intent(), have)
    assert [item.key for item in findings if item.state != "pass" and not item.caused_by] == [
        "intent.current@node1/-",
        "rail.mtu@node1/rail1",
    ]
