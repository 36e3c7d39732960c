# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What the counters of a lossless rail gain between two samples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import MissingError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import Completed
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.counters import sample_classes
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify import watch
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.qos_counters import congestion, judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.roots import link_roots
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.verify.lossless import LOSSY, QOS, facts, intent

ZERO = {
    "mlx5_0/1": dict.fromkeys(
        ("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "sent_pkts", "rcvd_pkts"), 7
    ),
    "enp1s0": {
        **{f"rx_packets_{priority}": 100 for priority in range(8)},
        **{f"tx_packets_{priority}": 100 for priority in range(8)},
        **dict.fromkeys(("rx_pause", "rx_pause_3", "rx_discards", "rx_discards_3", "storm_warnings"), 50),
        "rx_vport_rdma_unicast_packets": 10,
        "tx_vport_rdma_unicast_packets": 10,
    },
}


def more(**gains):
    """The first sample with what each counter gained, wherever it is."""
    return {place: {k: v + gains.get(k, 0) for k, v in counters.items()} for place, counters in ZERO.items()}


def said(rule, after, before=ZERO, qos=QOS, have=None):
    found = judge(intent(qos=qos), have or facts(), before, after)
    return next((f for f in found if f.rule == rule and f.rail == "rail0"), None)


RDMA = {"rx_vport_rdma_unicast_packets": 5000, "tx_vport_rdma_unicast_packets": 5000}
INSIDE = {"rx_packets_3": 5000, "tx_packets_3": 4990, "tx_packets_6": 10}


def rows():
    yield "qos.pauses", "pass", {"rx_pause": 9, "rx_pause_3": 9}, "all obeyed"
    # What the MAC got beyond the pauses of priority 3 was for another one.
    yield "qos.pauses", "fail", {"rx_pause": 9, "rx_pause_3": 2}, "7 pauses that nobody obeys"
    yield "qos.storm", "pass", {}, "no storm"
    yield "qos.storm", "fail", {"storm_warnings": 1}, "1 warnings"
    yield "qos.marks", "pass", {"np_ecn_marked_roce_packets": 9, "np_cnp_sent": 3}, "3 CNPs"
    yield "qos.marks", "fail", {"np_ecn_marked_roce_packets": 9}, "notification point"
    yield "qos.cnps_ignored", "pass", {"rp_cnp_handled": 9, "rp_cnp_ignored": 1}, "9 CNPs handled"
    yield "qos.cnps_ignored", "fail", {"rp_cnp_ignored": 1}, "reaction point"
    yield "qos.drops", "pass", {"rx_packets_3": 9}, "no drops"
    # Drops in a lossy priority are what it is there for.
    yield "qos.drops", "pass", {"rx_discards": 5}, "no drops"
    yield "qos.drops", "fail", {"rx_discards_3": 5}, "5 packets of priority 3 dropped"
    yield "qos.class", "pass", {**RDMA, **INSIDE}, "5000 packets"
    yield "qos.class", "fail", {**RDMA, "rx_packets_0": 5000, "tx_packets_3": 5000}, "arrived in priority 0"
    yield "qos.class", "fail", {**RDMA, "rx_packets_3": 5000, "tx_packets_0": 5000}, "left in priority 0"
    # A handful of packets is no traffic.
    yield "qos.class", "pass", {"rx_vport_rdma_unicast_packets": 9, "rx_packets_0": 9}, "9 RDMA packets"


@pytest.mark.parametrize(
    ("rule", "state", "gains", "words"),
    [pytest.param(*row, marks=pytest.mark.rule(row[0], row[1])) for row in rows()],
)
def test_rule(rule, state, gains, words):
    found = said(rule, more(**gains))
    assert (found.state, words in f"{found.found} {found.cause}") == (state, True), found


def test_what_was_there_before_is_history():
    assert {f.state for f in judge(intent(), facts(), ZERO, ZERO) if f.rail == "rail0"} == {"pass"}


def test_pauses_for_a_priority_without_pfc():
    before = {"enp1s0": {**ZERO["enp1s0"], "rx_pause_4": 0}}
    after = {"enp1s0": {**ZERO["enp1s0"], "rx_pause_4": 6}}
    assert "6 for priority 4" in said("qos.pauses", after, before).found
    # The same with PFC off here is the same fault; with PFC not known nothing is said.
    assert said("qos.pauses", more(rx_pause=4, rx_pause_3=4), have=facts(pfc=())).state == "fail"
    assert said("qos.pauses", after, before, have=facts(pfc=None)) is None


def test_global_pause_is_told_by_its_own_rule():
    before = {"enp1s0": {"rx_pause": 0, "rx_global_pause": 0}}
    assert said("qos.pauses", {"enp1s0": {"rx_pause": 5, "rx_global_pause": 5}}, before) is None


@pytest.mark.rule("qos.drops", "unknown")
def test_a_driver_that_counts_nothing_is_unknown():
    found = said("qos.drops", {"enp1s0": {"carrier_changes": 2}}, {"enp1s0": {"carrier_changes": 2}})
    assert (found.state, "counts no packets" in found.found) == ("unknown", True)


def test_drops_of_a_driver_that_knows_no_priorities():
    before, after = {"enp1s0": {"rx_discards": 1}}, {"enp1s0": {"rx_discards": 4}}
    assert "3 packets dropped" in said("qos.drops", after, before).found
    assert said("qos.drops", before, before).state == "pass"


def test_a_lossy_rail_may_drop():
    assert said("qos.drops", more(rx_discards_3=5), qos=LOSSY) is None


@pytest.mark.parametrize(
    ("gains", "changes", "key"),
    [
        ({"rx_pause": 9}, {"pfc": ()}, "qos.pfc@node1/rail0"),
        ({"np_ecn_marked_roce_packets": 9}, {"ecn_np": ()}, "qos.ecn@node1/rail0"),
        ({"rx_discards_3": 9}, {"pfc": ()}, "qos.pfc@node1/rail0"),
        ({**RDMA, "rx_packets_0": 5000, "tx_packets_3": 5000}, {"trust": "pcp"}, "qos.trust@node1/rail0"),
        ({"rx_discards_3": 9}, {}, "qos.drops@node1/rail0"),
    ],
)
def test_a_wrong_setting_explains_what_it_does(gains, changes, key):
    from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import check_local

    have = facts(**changes)
    found = link_roots((*check_local(intent(), have), *judge(intent(), have, ZERO, more(**gains))))
    assert [f.key for f in roots(found) if f.rail == "rail0"] == [key]


def test_congestion_by_rail():
    assert congestion(intent(), facts(), ZERO, more(np_cnp_sent=4)) == {
        "rail0": {"np_cnp_sent": 4, "np_ecn_marked_roce_packets": 0, "rp_cnp_handled": 0, "rp_cnp_ignored": 0}
    }


class Statistics:
    """A node whose NICs gain ten packets of priority 3 with every look."""

    def __init__(self):
        self.looks = 0

    def run(self, argv, timeout=5.0, stdin=None):
        if argv[-1] == "enp2s0":
            raise MissingError("ethtool is not installed", "ethtool")
        self.looks += 1
        lines = ("rx_prio3_packets", "rx_prio3_discards", "rx_vport_rdma_unicast_packets", "rx0_packets")
        return Completed(
            tuple(argv), 0, "NIC statistics:\n" + "".join(f"  {n}: {10 * self.looks}\n" for n in lines), ""
        )

    def read(self, path):
        raise MissingError("no such file", path)


def test_statistics_have_names_of_our_own():
    assert sample_classes(Statistics(), ("enp1s0", "enp2s0")) == {
        "enp1s0": {"rx_packets_3": 10, "rx_discards_3": 10, "rx_vport_rdma_unicast_packets": 10}
    }


def test_a_window_counts_classes_of_lossless_rails_alone(monkeypatch):
    monkeypatch.setattr(watch, "probe", lambda port, detail: facts())
    port = Statistics()
    have, findings = watch.watch(port, intent(), 0.01)
    assert ("qos.drops", "fail") in {(f.rule, f.state) for f in findings}
    assert have.gained == {"rail0": {}}
    port = Statistics()
    watch.watch(port, replace(intent(qos=None)), 0.01)
    assert port.looks == 0
