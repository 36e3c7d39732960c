# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Differences of a switch's own dump as findings."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.finding import PairResult
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.switch import (
    Difference,
    SwitchEntry,
    SwitchIntent,
    SwitchPort,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.document import judge
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.switches import judge_switch, judge_unread
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.verify.lossless import PRIO_TC, SHARE, TSA, lossless

PORTS = (SwitchPort("Ethernet0", 7, "node1", "rail0"), SwitchPort("Ethernet4", 7, "node2", "rail0"))
ALL = ("Ethernet0", "Ethernet4")
LEAF = SwitchIntent(
    "leaf0", "sonic", "leaf", "storage", 9216, (0,) * 64, PRIO_TC, (3,), TSA, SHARE, 3, (3,), None, None, 50, PORTS,
    SwitchEntry("leaf0", "leaf", "sonic"),
)  # fmt: skip


def differ(setting, number=None, wanted="3", found="4", ports=ALL):
    return Difference("leaf0", ports, setting, number, wanted, found)


def test_a_switch_without_differences():
    found = judge_switch(LEAF, ())
    assert ({item.state for item in found}, {item.device for item in found}) == ({"pass"}, {"leaf0"})


@pytest.mark.parametrize(
    ("rule", "item", "words"),
    [
        pytest.param(rule, item, words, marks=pytest.mark.rule(rule, "fail"), id=item.setting)
        for rule, item, words in (
            ("switch.pfc", differ("pfc"), "pfc 4 on Ethernet0, Ethernet4"),
            ("switch.pfc", differ("watchdog", None, "on", "off"), "watchdog off"),
            ("switch.pfc", differ("a_setting_of_tomorrow"), "a setting of tomorrow 4"),
            ("switch.trust", differ("dscp", 26, "3", "0"), "dscp 26 0"),
            ("switch.classes", differ("schedule", 3, "ets 50", "ets 60"), "schedule 3 ets 60"),
            ("switch.ecn", differ("ecn", 3, "on", "off"), "ecn 3 off"),
            ("switch.mtu", differ("mtu", None, "9216", "1500", ("Ethernet4",)), "mtu 1500 on Ethernet4"),
            ("switch.port", differ("port", None, "configured", "absent", ("Ethernet4",)), "absent on Ethernet4"),
        )
    ],
)
def test_each_difference_is_found_by_its_rule(rule, item, words):
    bad = [found for found in judge_switch(LEAF, (item,)) if found.state != "pass"]
    assert [(found.rule, found.state, words in found.found) for found in bad] == [(rule, "fail", True)]
    assert bad[0].peer == ", ".join(f"{p.host}/{p.rail}" for p in PORTS if p.name in item.ports)
    assert all((bad[0].expected, bad[0].cause, bad[0].remedy))


@pytest.mark.rule("switch.pfc", "unknown")
def test_what_the_dump_does_not_tell_is_unknown():
    found = next(item for item in judge_switch(LEAF, (differ("pfc", found=None),)) if item.rule == "switch.pfc")
    assert (found.state, "not in the dump" in found.found) == ("unknown", True)
    # Something that is wrong beside it is wrong.
    both = judge_switch(LEAF, (differ("pfc", found=None), differ("watchdog", None, "on", "off")))
    assert next(item for item in both if item.rule == "switch.pfc").state == "fail"


def test_a_dump_without_any_of_the_ports_passes_nothing():
    found = judge_switch(LEAF, (differ("port", None, "configured", "absent"),))
    other = [item for item in found if item.rule not in ("switch.port", "switch.readable")]
    assert {item.rule: item.state for item in other} == dict.fromkeys(
        ("switch.mtu", "switch.trust", "switch.pfc", "switch.classes", "switch.ecn"), "unknown"
    )


@pytest.mark.rule("switch.readable", "unknown")
def test_a_dump_that_could_not_be_read():
    found = judge_unread(LEAF, "there is no dump of this switch")
    assert (found.state, found.key) == ("unknown", "switch.readable@leaf0/-")


def test_pfc_on_another_priority_is_one_root_with_what_follows():
    items = (differ("pfc"), differ("watchdog_priorities"), differ("headroom", 3, "on", "off"))
    nodes = {f"node{number}": lossless(number) for number in (1, 2)}
    dropped = PairResult("lossless", "node1", "node2", "rail0", "rail0", 0.0, 9.0, error="dropped", reason="discards")
    found = judge(nodes, (dropped,), "2026-01-01", judge_switch(LEAF, items))
    assert [(item.rule, item.device) for item in roots(found)] == [("switch.pfc", "leaf0")]


def test_long_lists_are_cut():
    items = tuple(differ("dscp", dscp, "0", "1") for dscp in range(20))
    found = next(item for item in judge_switch(LEAF, items) if item.rule == "switch.trust")
    assert "and 14 more" in found.found
