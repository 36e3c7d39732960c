# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The bandwidth of a test, also where the tool's own clock does not know it."""

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.perftest import Row
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.perf import rate


def test_what_the_tool_says_holds():
    assert rate(Row(16384, 600, average=0.0197), 6) == 0.0197


def test_messages_without_a_rate_are_counted_between_the_margins():
    # Seen on an emulated processor: 152 messages in 3 s, of which one is measured, and "0.000000".
    assert rate(Row(16384, 152, average=0.0), 3) == pytest.approx(0.0199, abs=1e-4)


def test_nothing_sent_is_nothing():
    assert rate(Row(16384, 0, average=0.0), 6) == 0.0


def test_a_latency_row_has_no_rate():
    assert rate(Row(16384, 10), 6) is None
