# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about pairs: each reason that a probe may give, bounds, and results over another path than the rail's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import PairResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Acceptance
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.pair import accepted, check_pairs

from tests.unit.verify import nodes

GID = nodes.gid(1, 0)


def probe(kind="mtu", **values):
    base = {"expected": 4200.0, "value": 4200.0} if kind == "mtu" else {"value": 0.02}
    return PairResult(kind, "node1", "node2", "rail0", "rail0", **{**base, **values})


def failed(reason, kind="mtu", value=0.0, **values):
    return probe(kind, value=value, error=f"said {reason}", reason=reason, **values)


def case(rule, state, result, *words, name=""):
    mark = pytest.mark.rule(rule, state)
    return pytest.param((rule, state), result, words, marks=mark, id=f"{rule}-{name or result.reason or state}-{state}")


CASES = [
    case("pair.reach", "pass", probe()),
    case("pair.reach", "fail", failed("unreachable"), "do not see each other"),
    case("pair.reach", "fail", failed("no_route", value=None), "node1 has no route"),
    case("pair.reach", "fail", failed("lossy"), "cable"),
    # Nothing was sent: that is not known to be bad, and certainly not good.
    *[case("pair.reach", "unknown", failed(why, value=None)) for why in ("no_device", "no_address", "no_gid", "tool")],
    *[case("pair.mtu", "unknown", failed(why, value=None)) for why in ("in_use", "not_run")],
    # Small packets pass: the peer is reached all the same.
    case("pair.reach", "pass", failed("size_lost", value=1500.0)),
    case("pair.mtu", "pass", probe()),
    case("pair.mtu", "fail", failed("size_lost", value=1500.0), "up to 1500 bytes pass", "switch port"),
    case("pair.mtu", "fail", failed("too_big", value=1500.0), "router"),
    case("pair.mtu", "fail", failed("local_mtu", value=1500.0), "node1 itself"),
    # No error, but less passed than was asked for.
    case("pair.mtu", "fail", probe(value=1500.0), name="short"),
    case("pair.mtu", "unknown", failed("unreachable"), "no answer to any size"),
    case("pair.path", "pass", probe(device="rxe_rail0", gid=GID.upper(), netdev="enp1s0")),
    case("pair.path", "fail", probe(device="rxe_rail1"), "rxe_rail1", "device", name="device"),
    case("pair.path", "fail", probe(gid=nodes.gid(1, 1)), "GID", name="gid"),
    case("pair.path", "fail", probe("bandwidth", value=9.0, netdev="eno1"), "netdev eno1", name="netdev"),
    case("pair.path", "fail", failed("wrong_egress", netdev="eno1"), "eno1"),
    case("pair.bandwidth", "pass", probe("bandwidth")),
    case("pair.bandwidth", "pass", probe("bandwidth", expected=0.02), name="just"),
    case("pair.bandwidth", "fail", probe("bandwidth", expected=0.021), "0.02 Gbit/s", "at least 0.021"),
    case("pair.bandwidth", "fail", failed("rdma", "bandwidth", None), "said rdma"),
    case("pair.bandwidth", "fail", failed("no_server", "bandwidth", None)),
    case("pair.bandwidth", "unknown", failed("in_use", "bandwidth", None)),
    # A fine number over the wrong device says nothing about the rail.
    case("pair.bandwidth", "unknown", probe("bandwidth", value=99.0, reason="wrong_path"), "another path", name="path"),
    # Neither a value nor an error: a broken prober, not a pass.
    case("pair.bandwidth", "unknown", probe("bandwidth", value=None), name="empty"),
]


@pytest.mark.parametrize(("wanted", "result", "words"), CASES)
def test_rule(wanted, result, words):
    rule, state = wanted
    (found,) = [item for item in check_pairs((result,), nodes.cluster()) if item.rule == rule]
    assert (found.state, found.host, found.rail, found.peer) == (state, "node1", "rail0", "node2")
    text = f"{found.found} {found.expected} {found.cause} {found.remedy}"
    assert [word for word in words if word not in text] == []


@pytest.mark.rule("fabric.leaf_mtu", "fail")
def test_leaf_of_lost_packets():
    back = PairResult("mtu", "node2", "node1", "rail0", "rail0", 4200.0, 1500.0, error="lost", reason="size_lost")
    found = judge(nodes.cluster(), (failed("size_lost", value=1500.0), back), "2026-01-01")
    (root,) = [item for item in found if item.rule == "fabric.leaf_mtu"]
    assert (root.device, root.rail, root.expected) == ("leaf0", "rail0", "MTU 4300 on every port")
    assert {item.caused_by for item in found if item.state == "fail" and item is not root} == {root.key}


def speeds(count, *slow, ring=False):
    """Bandwidths of a cluster: too little where one of the nodes ``slow`` takes part, or for a pair that is named."""
    found = []
    for a in range(1, count + 1):
        for b in [a % count + 1] if ring else range(1, count + 1):
            if a != b:
                bad = any({a, b} & {one} if isinstance(one, int) else {a, b} == set(one) for one in slow)
                value = 200.0 if bad else 390.0
                rail = "rail0"
                found.append(PairResult("bandwidth", f"node{a}", f"node{b}", rail, rail, expected=360.0, value=value))
    return tuple(found)


def slow_roots(count, *slow, ring=False):
    found = judge(nodes.cluster(*range(1, count + 1)), speeds(count, *slow, ring=ring), "2026-01-01")
    return found, [item for item in found if item.state != "pass" and item.caused_by is None]


@pytest.mark.rule("fabric.slow_rail", "fail")
@pytest.mark.parametrize(("count", "ring"), [(3, False), (4, True), (6, False)])
def test_a_node_that_is_slow_with_everyone_is_one_root(count, ring):
    found, (root,) = slow_roots(count, 2, ring=ring)
    assert root.key.partition(">")[0] == "fabric.slow_rail@node2/rail0"
    assert ("leaf0" in root.cause, root.expected, "200 Gbit/s" in root.found) == (True, "at least 360 Gbit/s", True)
    below = [item for item in found if item.caused_by == root.key]
    assert {item.rule for item in below} == {"pair.bandwidth"}
    assert all("node2" in (item.host, item.peer) for item in below)


def test_two_slow_nodes_are_two_roots():
    _found, roots = slow_roots(6, 2, 5)
    assert [root.key.partition(">")[0] for root in roots] == [f"fabric.slow_rail@node{n}/rail0" for n in (2, 5)]


@pytest.mark.parametrize(
    ("count", "slow", "ring"),
    [
        (2, (2,), False),  # one pair: which end is slow, nothing tells
        (4, ((1, 2),), False),  # both are well with others: it is the way between them
        (3, (1, 2, 3), False),  # all are slow with all: the leaf, or the acceptance
        (5, ((1, 2), (1, 3)), False),  # slow with two, and well with the others
    ],
)
def test_pairs_that_no_single_node_explains_stay_roots(count, slow, ring):
    _found, roots = slow_roots(count, *slow, ring=ring)
    assert {root.rule for root in roots} == {"pair.bandwidth"}


def test_a_failure_that_is_not_slowness_is_no_slow_rail():
    results = tuple(
        replace(item, value=None, error="retry exceeded", reason="rdma") if "node2" in (item.host, item.peer) else item
        for item in speeds(4)
    )
    found = judge(nodes.cluster(1, 2, 3, 4), results, "2026-01-01")
    assert [item for item in found if item.rule == "fabric.slow_rail"] == []


def test_a_probe_that_states_no_path_is_not_judged_by_it():
    assert [item for item in check_pairs((probe(),), nodes.cluster()) if item.rule == "pair.path"] == []


def test_the_worst_of_several_results_of_one_pair_counts():
    results = (probe("bandwidth"), probe("bandwidth", expected=1.0), probe("bandwidth"))
    states = [item.state for item in check_pairs(results, nodes.cluster()) if item.rule == "pair.bandwidth"]
    assert states == ["fail"]


def test_a_peer_on_another_rail_is_another_pair():
    other = PairResult("mtu", "node1", "node2", "rail0", "rail1", 4200.0, 4200.0)
    assert len({item.key for item in check_pairs((probe(), other), nodes.cluster())}) == 4


@pytest.mark.parametrize(
    ("speed", "bound", "gbps"),
    [(400.0, 0.9, 360.0), (400.0, 1.0, 400.0), (400.0, 365.0, 365.0), (None, 0.9, None), (None, 365.0, 365.0)],
)
def test_acceptance_is_a_ratio_or_a_number(speed, bound, gbps):
    rail = nodes.intent(soft=speed is None).rails[0]
    assert accepted(rail, Acceptance(bandwidth=bound)) == gbps
