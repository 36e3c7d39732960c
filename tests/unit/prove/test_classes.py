# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the packets of a test went, as the NICs count them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import MissingError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import decode, encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Qos
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import Completed
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove import measure
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.cover import plan_proof
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.node import prove_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.work import NodeWork, announce, unsent

from tests.unit.prove.fakes import FakePort, FakeStarter, facts, node, perf_text, rail

QOS = Qos("pfc+dcqcn", (3,), (3,), 26, 3, 48, 6, 106, ())
LOSSY = replace(QOS, profile="lossy", pfc=(), ecn=(), tos=104)
# 0.018104 Gbit/s for six seconds are 13.6 MB; for two they are 4.5 MB.
MAIN, SHORT = 13_600_000, 4_500_000


# As a leaf gives it that passes small packets alone.
NOTHING = perf_text(average="0.000000").replace(" 1200 ", " 0    ")


def lossless(number, qos=QOS, address="10.0.0.{}/16"):
    return replace(node(number), rails=(rail(0, address.format(number), qos=qos),))


INTENTS = {f"node{number}": lossless(number) for number in (1, 2)}


class Counting(FakePort):
    """A NIC that counts what the tests send in ``main`` and ``cm``, and what comes back in ``back``."""

    def __init__(self, main=3, cm=3, back=3, drops=0, names="rx tx discards", **changes):
        super().__init__(**{"perf": perf_text(), **changes})
        self.main, self.cm, self.back, self.drops, self.names = main, cm, back, drops, names.split()
        self.bytes = dict.fromkeys(range(8), 1000)
        self.packets = dict.fromkeys(range(8), 50)
        self.dropped = 4
        self.refuse = 0

    def run(self, argv, timeout=5.0, stdin=None):
        if argv[0] == "ethtool":
            return self._statistics(argv)
        return super().run(argv, timeout, stdin)

    def _perf(self, argv):
        if "--help" in argv:
            return super()._perf(argv)
        if "-R" in argv and self.refuse:
            self.refuse -= 1
            return Completed(tuple(argv), 1, "Couldn't connect to 10.0.0.2:18600\n", "")
        self.bytes[self.cm if "-R" in argv else self.main] += SHORT if "-R" in argv else MAIN
        self.packets[self.back] += 400
        self.dropped += self.drops
        return super()._perf(argv)

    def _statistics(self, argv):
        self.argvs.append(list(argv))
        if not self.names:
            raise MissingError("ethtool is not installed", "ethtool")
        lines = [f"rx_prio{p}_packets: {n}" for p, n in self.packets.items() if "rx" in self.names]
        lines += [f"tx_prio{p}_bytes: {n}" for p, n in self.bytes.items() if "tx" in self.names]
        lines += [f"rx_prio3_buf_discard: {self.dropped}"] if "discards" in self.names else []
        lines += [f"rx_discards_phy: {self.dropped}"] if "total" in self.names else []
        return Completed(tuple(argv), 0, "NIC statistics:\n" + "\n".join(lines) + "\n", "")


def proved(port, intents=INTENTS):
    work = plan_proof(intents).nodes["node1"]
    outcome = prove_node(port, FakeStarter(), intents["node1"], facts(), work, phase="measure")
    return {pair.kind: pair for pair in outcome.pairs}


def said(pair):
    return pair.value, pair.reason


def test_all_is_well():
    pairs = proved(Counting())
    assert {kind: said(pair) for kind, pair in pairs.items() if kind != "bandwidth"} == {
        "class": (3.0, None), "cm_class": (3.0, None), "lossless": (0.0, None),
    }  # fmt: skip
    assert (pairs["class"].host, pairs["class"].peer, pairs["class"].expected) == ("node1", "node2", 3.0)


def test_the_calls_of_a_rail():
    port = Counting()
    proved(port)
    first, second = port.sent()
    assert "--tclass=106" in first
    assert "-R" in second
    assert not [word for word in second if word.startswith("--tclass") or word == "-x"]
    assert second[second.index("-D") + 1] == "3"
    # Before and after all, and around each test.
    assert len([argv for argv in port.argvs if argv[0] == "ethtool"]) == 5


@pytest.mark.parametrize(
    ("change", "kind", "value", "words"),
    [
        ({"main": 0}, "class", 0.0, "traffic class 106"),
        ({"back": 4}, "class", 4.0, "arrived in priority 4"),
        ({"cm": 0}, "cm_class", 0.0, "by RDMA-CM"),
    ],
)
def test_another_priority(change, kind, value, words):
    pairs = proved(Counting(**change))
    assert said(pairs[kind]) == (value, "wrong_class")
    assert words in pairs[kind].error
    others = {name: pair.reason for name, pair in pairs.items() if name != kind}
    assert set(others.values()) == {None}


def test_drops():
    pairs = proved(Counting(drops=6))
    # Both tests dropped, and what was dropped before is history.
    assert said(pairs["lossless"]) == (12.0, "discards")
    assert said(proved(Counting(drops=6, names="rx tx total"))["lossless"]) == (12.0, "discards")


@pytest.mark.parametrize(
    ("names", "unknown"),
    [
        ("", {"class", "cm_class", "lossless"}),
        ("rx tx", {"lossless"}),
        # Without what arrives, what is sent tells half of it; without what is sent nothing is told.
        ("tx discards", set()),
        ("rx discards", {"class", "cm_class"}),
    ],
)
def test_what_is_not_counted_is_unknown(names, unknown):
    pairs = proved(Counting(names=names))
    assert {kind for kind, pair in pairs.items() if pair.reason == "no_counters"} == unknown


def test_a_nic_that_does_not_count_rdma_is_unknown():
    port = Counting()
    port._perf = lambda argv: FakePort._perf(port, argv)
    pairs = proved(port)
    assert {pairs[kind].reason for kind in ("class", "cm_class")} == {"no_counters"}


def test_others_on_the_rail_do_not_hide_the_class():
    port = Counting()
    perf = port._perf

    def busy(argv):
        port.bytes[0] += 10**9
        port.packets[0] += 10**6
        return perf(argv)

    port._perf = busy
    assert {pair.reason for pair in proved(port).values()} == {None}


@pytest.mark.parametrize("text", ["Failed status 12: wr_id 0 syndrom 0x81 scnt=128, ccnt=0\n", "what is this\n"])
def test_a_test_that_failed_proves_no_class(text):
    pairs = proved(Counting(perf=text))
    assert pairs["class"].error.startswith("no load")
    assert pairs["class"].reason in ("rdma", "tool")
    assert "cm_class" not in pairs


def test_a_test_that_moved_nothing_proves_no_class():
    pairs = proved(Counting(perf=NOTHING))
    assert pairs["bandwidth"].value == 0
    for kind in ("class", "cm_class", "lossless"):
        assert (pairs[kind].value, pairs[kind].error) == (None, "no load: the test moved nothing"), kind
    # What was dropped all the same is no less of a fault.
    assert said(proved(Counting(perf=NOTHING, drops=6))["lossless"]) == (12.0, "discards")


def test_without_perftest_nothing_is_known():
    port = Counting()
    port.missing = ("ib_write_bw",)
    pairs = proved(port)
    assert {pair.reason for pair in pairs.values()} == {"tool"}
    assert set(pairs) == {"bandwidth", "class", "cm_class", "lossless"}


def test_rdma_cm_waits_for_its_server(monkeypatch):
    monkeypatch.setattr(measure.time, "sleep", lambda seconds: None)
    port = Counting()
    port.refuse = 2
    assert said(proved(port)["cm_class"]) == (3.0, None)
    monkeypatch.setattr(measure, "CM_START_S", -1.0)
    port.refuse = 1
    assert proved(port)["cm_class"].reason == "no_server"


def test_rdma_cm_is_left_out_where_it_would_go_another_way():
    port = Counting()
    port._route = lambda argv: port.answer(argv, {"dev": "ens2" if "from" in argv else "eth0", "prefsrc": "10.0.0.1"})
    assert set(proved(port)) == {"bandwidth", "class", "lossless"}


def test_a_lossy_rail_may_drop():
    pairs = proved(Counting(drops=9), {f"node{n}": lossless(n, LOSSY) for n in (1, 2)})
    assert set(pairs) == {"bandwidth", "class", "cm_class"}


def test_a_rail_without_a_class_is_not_counted():
    port = Counting()
    assert set(proved(port, {f"node{n}": lossless(n, None) for n in (1, 2)})) == {"bandwidth"}
    assert not [argv for argv in port.argvs if argv[0] == "ethtool"]


def test_ipv6_has_no_second_test():
    intents = {f"node{n}": lossless(n, address="fd00::{}/64") for n in (1, 2)}
    assert plan_proof(intents).nodes["node1"].measure[0].cm_seconds == 0


def test_two_servers_share_one_port():
    starter = FakeStarter()
    work = plan_proof(INTENTS).nodes["node1"]
    served = prove_node(Counting(), starter, INTENTS["node1"], facts(), work, phase="serve").served
    assert [one.error for one in served] == [""]
    (argv, lifetime, _name), *_rest = starter.started
    first, second = argv[2].split("; exec ")
    assert (argv[:2], argv[3]) == (["sh", "-c"], "ib_write_bw")
    assert "--tclass=106" in first
    assert " -R" in second
    assert first.split()[first.split().index("-p") + 1] == second.split()[second.split().index("-p") + 1]
    assert lifetime >= 40 + 6 + 3
    # The tool measures between its margins, and does nothing when they leave no time.
    margin = int(second.split()[second.split().index("-f") + 1])
    assert int(second.split()[second.split().index("-D") + 1]) > 2 * margin


def test_the_work_travels_as_plain_data():
    work = plan_proof(INTENTS).nodes["node1"]
    assert decode(NodeWork, json.loads(json.dumps(encode(work))), "work") == work
    assert announce(work, "measure")[0].endswith("then 3 s by RDMA-CM")
    assert [pair.kind for pair in unsent(work, "measure", "not_run", "gone")] == [
        "bandwidth", "class", "cm_class", "lossless",
    ]  # fmt: skip
