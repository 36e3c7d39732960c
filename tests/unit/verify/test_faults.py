# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One fault, one root that names node, rail, cause and remedy: the named faults, and combinations of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import Finding, PairResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.node import probe
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import judge_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.node import NodeResult, slim
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.roots import link_roots
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots, verdict

from tests.unit import trees
from tests.unit.verify import nodes

HOSTS = ("node1", "node2", "node3")


def sweep(*broken, hosts=HOSTS, reason="size_lost", rails=("rail0", "rail1"), kinds=("mtu", "bandwidth")):
    """Probes of every ordered pair and rail; those whose (host, peer, rail) ``broken`` names fail."""
    results = []
    for rail in rails:
        for host in hosts:
            for peer in hosts:
                if host == peer:
                    continue
                bad = any({*spot} <= {host, peer, rail} for spot in broken)
                why = {"error": f"{reason} on the way", "reason": reason} if bad else {}
                if "mtu" in kinds:
                    value = (1500.0 if reason == "size_lost" else 0.0) if bad else 4200.0
                    results.append(PairResult("mtu", host, peer, rail, rail, expected=4200.0, value=value, **why))
                if "bandwidth" in kinds:
                    rdma = {"error": "transport retry counter exceeded", "reason": "rdma"} if bad else {"value": 0.02}
                    results.append(PairResult("bandwidth", host, peer, rail, rail, **rdma))
    return tuple(results)


def three(**replaced):
    return nodes.cluster(1, 2, 3, **replaced)


def down(number=2, rail=0):
    """Link down: rxe keeps its GIDs and its path MTU, a NIC loses both; here both are gone."""
    have = nodes.netdev(nodes.facts(number), rail, admin_up=False, carrier=None, operstate="DOWN", addresses=())
    return nodes.result(number, nodes.port(have, rail, state="DOWN", active_mtu=1024, gids=()))


def wrong_mtu(number=2, rail=0):
    return nodes.result(number, nodes.port(nodes.netdev(nodes.facts(number), rail, mtu=1500), rail, active_mtu=1024))


def no_address(number=2, rail=0):
    return nodes.result(number, nodes.port(nodes.netdev(nodes.facts(number), rail, addresses=()), rail, gids=()))


def doubled(keep=False):
    """node2 took node1's address on rail0, its own beside it or not."""
    have = nodes.facts(2)
    table = have.rdma[0].ports[0].gids
    other = replace(table[1], index=2, gid=nodes.gid(1, 0))
    # What is added by hand comes last, and the RDMA device takes it up as a GID of its own.
    taken = (nodes.address(2, 0), nodes.address(1, 0)) if keep else (nodes.address(1, 0),)
    have = nodes.netdev(have, addresses=(*taken, "fe80::1/64"))
    return nodes.result(2, nodes.port(have, gids=(*table, other) if keep else (table[0], other)))


def gone(number=2):
    return NodeResult(f"node{number}", "unreachable", "ssh: connect to host: No route to host", nodes.intent(number))


# name: nodes, probes, the root's key, its state, words that it must say
FAULTS = {
    "rail down": (
        three(node2=down()),
        sweep(("node2", "rail0"), reason="unreachable"),
        "rail.link@node2/rail0",
        "fail",
        ("enp1s0", "set down", "ip link set enp1s0 up"),
    ),
    "wrong MTU on one node": (
        three(node2=wrong_mtu()),
        sweep(("node2", "rail0")),
        "rail.mtu@node2/rail0",
        "fail",
        ("1500", "4200", "rail_network"),
    ),
    "small MTU on a leaf only": (
        three(),
        sweep(("rail0",)),
        "fabric.leaf_mtu@leaf0/rail0>node1, node2, node3",
        "fail",
        ("leaf leaf0", "4300", "small ones pass"),
    ),
    "address missing": (
        three(node2=no_address()),
        sweep(("node2", "rail0"), reason="no_address"),
        "rail.address@node2/rail0",
        "fail",
        ("10.1.0.2/24", "enp1s0 none"),
    ),
    "two nodes with one address": (
        three(node2=doubled()),
        sweep(("node2", "rail0"), reason="unreachable"),
        "fabric.duplicate_address@node1/rail0>node2",
        "fail",
        ("10.1.0.1", "node2 holds the address of node1", "on node2: ip address del 10.1.0.1 dev enp1s0"),
    ),
    "two nodes with one address, its own kept": (
        three(node2=doubled(keep=True)),
        (),
        "fabric.duplicate_address@node1/rail0>node2",
        "fail",
        ("10.1.0.1", "node2 holds the address of node1", "on node2: ip address del 10.1.0.1 dev enp1s0"),
    ),
    "node unreachable": (
        three(node2=gone()),
        sweep(("node2",), reason="not_run"),
        "host.reachable@node2/-",
        "fail",
        ("No route to host", "power"),
    ),
    "a hung tool": (
        three(node2=nodes.result(2, nodes.hung(nodes.facts(2)))),
        (),
        "host.probe@node2/-",
        "unknown",
        ("rdma -j link show", "did not return within 5 s", "dmesg"),
    ),
    "no module": (
        three(node2=nodes.result(2, replace(nodes.facts(2), modules=("rdma_ucm",), rdma=()))),
        sweep(("node2",), reason="rdma", kinds=("bandwidth",)),
        "stack.modules@node2/-",
        "fail",
        ("rdma_rxe",),
    ),
    "no NIC": (
        three(
            node2=nodes.result(
                2,
                replace(nodes.facts(2), **{n: getattr(nodes.facts(2), n)[1:] for n in ("pci", "netdevs", "rdma")}),
            )
        ),
        sweep(("node2", "rail0"), reason="no_device"),
        "rail.nic@node2/rail0",
        "fail",
        ("0000:01:00.0",),
    ),
    "leaf port of one node": (
        three(),
        sweep(("node2", "rail0")),
        "fabric.leaf_mtu@node2/rail0>node1, node3",
        "fail",
        ("port of leaf leaf0 towards node2",),
    ),
    "loss on one node's link": (
        three(),
        sweep(("node2", "rail0"), reason="lossy"),
        "fabric.passage@node2/rail0>node1, node3",
        "fail",
        ("link between node2 and leaf leaf0 loses packets", "2 pairs fail", "cable"),
    ),
    "a leaf that passes nothing": (
        three(),
        sweep(("rail0",), reason="unreachable"),
        "fabric.passage@leaf0/rail0>node1, node2, node3",
        "fail",
        ("leaf leaf0 passes nothing",),
    ),
    "one pair that does not see each other": (
        three(),
        sweep(("node1", "node2", "rail0"), reason="unreachable"),
        "fabric.passage@between node1/rail0 and node2/rail0/rail0>node1, node2",
        "fail",
        ("both are well with others",),
    ),
    "task failed": (
        three(node2=NodeResult("node2", "failed", "apt: no space left", nodes.intent(2))),
        (),
        "host.finished@node2/-",
        "fail",
        ("no space left",),
    ),
    "wrong path": (
        three(),
        (
            PairResult(
                "bandwidth", "node1", "node2", "rail0", "rail0", value=9.0, device="rxe_rail1", reason="wrong_path"
            ),
        ),
        "pair.path@node1/rail0>node2",
        "fail",
        ("rxe_rail1", "rxe_rail0"),
    ),
}


@pytest.mark.rule("fabric.passage", "fail")
def test_two_nodes_and_30_percent_loss():
    """Nothing tells the ends apart: one root that names both, and the leaf."""
    pairs = sweep(("node1", "node2", "rail0"), hosts=("node1", "node2"), reason="lossy")
    (root,) = roots(judge(nodes.cluster(1, 2), pairs, "2026-01-01"))
    assert (root.rail, root.peer, "loses packets" in root.cause) == ("rail0", "node1, node2", True)


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_is_one_root(name):
    results, pairs, key, state, words = FAULTS[name]
    findings = judge(results, pairs, "2026-01-01")
    assert [finding.key for finding in roots(findings)] == [key]
    (root,) = roots(findings)
    assert (root.state, verdict(findings)) == (state, state)
    text = f"{root.found} {root.expected} {root.cause} {root.remedy} {root.title}"
    assert [word for word in words if word not in text] == []
    assert root.remedy
    keys = [finding.key for finding in findings]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("tool", ["IP", "RDMA", "DEVINFO"])
def test_any_hung_tool_of_the_probe_is_one_root(tmp_path, tool):
    """Through the real probe: whichever tool hangs, and whatever the probe reads in its place."""
    root = trees.soft_roce(tmp_path / "node", 1)
    want = nodes.intent()
    assert not roots(judge_node("node1", want, want, probe(RecordedPort(str(root)))))
    trees.hang(root, getattr(trees, tool))
    (found,) = roots(judge_node("node1", want, want, probe(RecordedPort(str(root)))))
    assert (found.key, found.state) == ("host.probe@node1/-", "unknown")
    assert f"{getattr(trees, tool)[0]} did not return" in found.found


# How a doubled address may show in probes: node2 routes to itself, drops what has its own source, or answers for node1.
SHOWS = ("wrong_egress", "unreachable", "lossy", "size_lost", "no_server", "wrong_path", "no_gid", "no_address", "tool")


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("reason", SHOWS)
def test_a_doubled_address_is_one_root_however_it_shows(reason, keep):
    pairs = sweep(("node1", "rail0"), ("node2", "rail0"), reason=reason)
    findings = judge(three(node2=doubled(keep)), pairs, "2026-01-01")
    (root,) = roots(findings)
    assert root.key == "fabric.duplicate_address@node1/rail0>node2"
    below = {finding.key for finding in findings if finding.caused_by == root.key}
    assert {"rail.address@node2/rail0"} <= below
    assert {finding.rail for finding in findings if finding.state != "pass"} == {"rail0"}


def test_a_doubled_address_is_one_root_through_the_real_probe(tmp_path):
    """As ``ip address add`` leaves it: both addresses on the netdev, both GIDs on its device, and nothing else."""
    results = {}
    for number in (1, 2):
        root, want = trees.soft_roce(tmp_path / f"node{number}", number), nodes.intent(number)
        if number == 2:

            def double(listing):
                entry = next(item for item in listing if item["ifname"] == "enp1s0")
                again = {"local": "10.1.0.1", "secondary": True}
                entry["addr_info"].append({**entry["addr_info"][0], **again})

            trees.edit_ip(root, "netdevs", double)
            trees.add_gid(root, "rxe_rail0", 5, nodes.gid(1, 0), netdev="enp1s0")
        have = probe(RecordedPort(str(root)))
        own = judge_node(want.host, want, want, have)
        results[want.host] = NodeResult(want.host, "judged", "", want, slim(want, have), own)
    found = judge(results, (), "2026-01-01")
    assert [item.key for item in roots(found)] == ["fabric.duplicate_address@node1/rail0>node2"]


def test_healthy_cluster_has_no_root():
    findings = judge(three(), sweep(), "2026-01-01")
    assert {finding.state for finding in findings} == {"pass"}
    assert verdict(findings) == "pass"


@pytest.mark.parametrize("name", ["rail down", "wrong MTU on one node", "address missing", "node unreachable"])
def test_the_same_without_probes(name):
    results, _pairs, key, _state, _words = FAULTS[name]
    assert [finding.key for finding in roots(judge(results, (), "2026-01-01"))] == [key]


@pytest.mark.parametrize("rail", [0, 1])
def test_a_fault_excuses_no_other_rail(rail):
    """rail0 is down; the wrong MTU sits on the same or on the other rail, and stays a root of its own on either."""
    have = nodes.netdev(nodes.facts(2), 0, carrier=False)
    have = nodes.netdev(have, rail, mtu=1500)
    found = {finding.key for finding in roots(judge(three(node2=nodes.result(2, have)), (), "2026-01-01"))}
    assert found == {"rail.link@node2/rail0", f"rail.mtu@node2/rail{rail}"}


def test_a_fail_never_hides_below_an_unknown():
    unknown = Finding("rail.address", "unknown", "t", "node1", "rail0")
    fail = Finding("rail.gid", "fail", "t", "node1", "rail0")
    blind = Finding("rail.gid", "unknown", "t", "node1", "rail1")
    cause = Finding("rail.nic", "fail", "t", "node1", "rail1")
    linked = link_roots((unknown, fail, blind, cause))
    assert [finding.caused_by for finding in linked] == [None, None, cause.key, None]


def test_a_pass_is_nobodys_consequence():
    findings = judge(three(node2=down()), sweep(), "2026-01-01")
    assert [finding for finding in findings if finding.state == "pass" and finding.caused_by] == []


def test_leaf_of_another_unit_is_not_blamed():
    """Pairs inside su1 pass; every packet to node3, alone on its leaf, is lost: that leaf, not leaf0."""
    far = nodes.result(3, expected=nodes.intent(3, leaves={0: "su2-leaf0"}))
    (root,) = roots(judge(three(node3=far), sweep(("node3", "rail0"), kinds=("mtu",)), "2026-01-01"))
    assert root.device == "su2-leaf0"


def test_two_leaves_that_nothing_tells_apart_are_one_root():
    far = nodes.result(2, expected=nodes.intent(2, leaves={0: "su2-leaf0"}))
    pairs = sweep(("rail0",), hosts=("node1", "node2"), kinds=("mtu",))
    (root,) = roots(judge(nodes.cluster(1, 2, node2=far), pairs, "2026-01-01"))
    assert root.device == "leaf0 or su2-leaf0"


def test_uplink_between_good_leaves():
    four = {f"node{n}": nodes.result(n, expected=nodes.intent(n, leaves={0: f"leaf{n % 2}"})) for n in range(1, 5)}
    pairs = sweep(("node1", "node2", "rail0"), hosts=tuple(four), rails=("rail0",), kinds=("mtu",))
    (root,) = roots(judge(four, pairs, "2026-01-01"))
    assert root.device == "between node1/rail0 and node2/rail0"
