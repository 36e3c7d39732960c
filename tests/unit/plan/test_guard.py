# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs on any RDMA device of a rail hold up what would interrupt them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.plan import Plan, Step
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.guard import guard_jobs

from tests.unit.fakes import FakePort
from tests.unit.verify import lossless

PLAN = Plan("qos", (Step("rail0", "PFC", "none", "priority 3", disruptive="the link flaps"),))


def guard(device):
    """A guard of a rail over two ports, while a job uses ``device``."""
    want = lossless.intent()
    first, second = want.rails
    bonded = replace(first, ports=(*first.ports, *second.ports), bond=Bond("active-backup"))
    users = json.dumps([{"ifname": device, "pid": 7, "comm": "python3"}])
    port = FakePort(tools={"rdma -j resource show qp": users, "rdma -j resource show": "[]"})
    return guard_jobs(port, replace(want, rails=(bonded,)), lossless.facts, False)


@pytest.mark.parametrize("device", ["mlx5_0", "mlx5_1"])
def test_each_device_of_a_bond_is_the_rails(device):
    with pytest.raises(RefusedError, match=rf"{device} by python3 \(7\)"):
        guard(device)(PLAN)


def test_a_job_elsewhere_holds_nothing_up():
    guard("mlx5_9")(PLAN)
