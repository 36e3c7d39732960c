# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Error counters as what they gain, and packet filters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Filtered, Firewall, Unread
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.counters import grown, judge

from tests.unit.verify import nodes
from tests.unit.verify.rows import check, judged, row, wanted

HARD, SOFT = nodes.facts(soft=False), nodes.facts()
QUIET = {"mlx5_0/1": {"symbol_error": 7, "link_downed": 3, "out_of_sequence": 9}, "enp1s0": {"carrier_changes": 5}}


def counted(before, after, seconds=1.0):
    return judge(nodes.intent(soft=False), HARD, before, after, seconds)[0]


def more(place, name, gained):
    return {**QUIET, place: {**QUIET[place], name: QUIET[place].get(name, 0) + gained}}


@pytest.mark.rule("rail.counters", "pass")
def test_what_was_there_before_is_history():
    assert counted(QUIET, QUIET).state == "pass"


@pytest.mark.rule("rail.counters", "fail")
def test_a_link_that_went_down_is_a_fault():
    found = counted(QUIET, more("mlx5_0/1", "link_downed", 1))
    assert (found.state, "mlx5_0/1 link_downed +1" in found.found) == ("fail", True)


@pytest.mark.rule("rail.counters", "warn")
@pytest.mark.parametrize(
    ("place", "name", "gained", "seconds", "state"),
    [
        ("mlx5_0/1", "symbol_error", 11, 1.0, "warn"),
        ("mlx5_0/1", "symbol_error", 11, 2.0, "pass"),
        ("mlx5_0/1", "out_of_sequence", 1, 1.0, "warn"),
        ("enp1s0", "carrier_changes", 3, 1.0, "warn"),
        ("enp1s0", "carrier_changes", 2, 1.0, "pass"),
    ],
)
def test_rates(place, name, gained, seconds, state):
    assert counted(QUIET, more(place, name, gained), seconds).state == state
    if state == "pass":  # the mark is about the alarm
        assert counted(QUIET, more("mlx5_0/1", "out_of_sequence", 1)).state == "warn"


def test_a_full_counter_is_known_as_such():
    full = {"mlx5_0/1": {"link_downed": 255}}
    found = counted(full, full)
    assert (found.state, "at its end" in found.found) == ("warn", True)


@pytest.mark.parametrize(
    ("counter", "was", "now", "gained"),
    [
        ("out_of_sequence", 2**32 - 2, 3, 5),  # 32 bits are over
        ("out_of_sequence", 1000, 4, 4),  # cleared meanwhile
        ("symbol_error", 60000, 2, 2),  # it stops at its end, and never wraps
        ("symbol_error", 5, 5, 0),
    ],
)
def test_wraps_and_resets(counter, was, now, gained):
    assert grown(counter, was, now) == gained


@pytest.mark.rule("rail.counters", "unknown")
def test_counters_that_were_not_read_twice():
    assert counted(QUIET, {}).state == "unknown"


def filtered(have, *states, netdev="enp1s0", rule="table inet filter: drop"):
    ports = (("udp", 4791), ("tcp", 18600), ("tcp", 18601))
    made = tuple(Filtered(netdev, "10.1.0.1/24", *ports[n], state, rule) for n, state in enumerate(states))
    return replace(have, firewall=Firewall("nftables", made))


BLIND = Unread("nft -j list ruleset", "did not return", "firewall")
ROWS = [
    row("rail.firewall", "pass", filtered(SOFT, "open", "open", "open"), soft=True),
    row("rail.firewall", "fail", filtered(SOFT, "closed", "open"), "UDP 4791", "drop", soft=True),
    row("rail.firewall", "warn", filtered(HARD, "closed", "closed"), "TCP 18600", "does not pass this filter"),
    row("rail.firewall", "unknown", filtered(SOFT, "unknown", "open"), "depends on", soft=True),
    # What is said of another netdev is nothing about this one.
    row("rail.firewall", "unknown", filtered(SOFT, "open", netdev="enp2s0"), soft=True, name="elsewhere"),
    # Each rail has a test port of its own: another rail's may be closed here, and opens nothing here.
    row("rail.firewall", "pass", filtered(SOFT, "open", "open", "closed"), soft=True, name="other-port"),
    row(
        "rail.firewall",
        "fail",
        filtered(SOFT, "open", "open", "closed", netdev="enp2s0"),
        "TCP 18601",
        soft=True,
        rail="rail1",
        name="second",
    ),
    row("rail.firewall", "unknown", filtered(SOFT, "open"), "nothing about", soft=True, name="port-not-asked"),
    row("rail.firewall", "unknown", replace(SOFT, unread=(BLIND,)), "did not return", soft=True, name="unread"),
]


@pytest.mark.parametrize(("rule", "state", "rail", "node", "facts", "words"), ROWS)
def test_rule(rule, state, rail, node, facts, words):
    check(rule, state, rail, node, facts, words)


def test_where_nothing_filters_there_is_nothing_to_say():
    assert judged("rail.firewall", wanted(), HARD) == []
