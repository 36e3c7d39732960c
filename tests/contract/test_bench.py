# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What `make bench` measures on is what it says: a node without a fault, on which the setter has nothing to do."""

from __future__ import annotations

import io

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.check import check
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import apply_qos
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.document import load
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort

from tools import bench_agent


def test_the_recorded_node_is_healthy_and_as_wanted(tmp_path):
    bench_agent.record(tmp_path)
    port, out = RecordedPort(str(tmp_path)), io.StringIO()
    assert check(port, {}, out) == 0, out.getvalue()
    intent = load(port)
    assert len([rail for rail in intent.rails if rail.qos is not None]) == 8
    plan = apply_qos(port, intent, check=True)
    assert (plan.steps, plan.refused) == ((), {})
