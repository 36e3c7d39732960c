# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What a NIC's driver cannot have is refused by the driver that is there, whatever the hardware profile names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import TrafficClass

from tests.unit.plan.test_qos import DCB, E810, driven, planned
from tests.unit.verify import lossless

TWO = (
    TrafficClass(1, (3,), "ets", 30),
    TrafficClass(2, (4,), "ets", 30),
    TrafficClass(0, (0, 1, 2, 5, 6, 7), "ets", 40),
)
FIVE = (
    TrafficClass(0, (0, 5, 6, 7), "ets", 100),
    *(TrafficClass(priority, (priority,), "strict") for priority in (1, 2, 3, 4)),
)


@pytest.mark.parametrize(
    ("qos", "expected"),
    [
        (
            replace(E810, pfc=(3, 4), traffic_classes=TWO),
            r"enp1s0 is an Intel E810 \(driver ice\), which has one loss",
        ),
        (lossless.QOS, r"traffic classes without gaps, from 0 \(found '\[0, 3, 6\]'\)"),
        (replace(E810, traffic_classes=FIVE), r"4 traffic classes at most \(found '5'\)"),
    ],
)
def test_what_an_e810_cannot_have_is_refused(qos, expected):
    with pytest.raises(RefusedError, match=expected):
        planned(qos=qos, have=driven("ice", tcs=8), offers=DCB)
    # The same suits a driver that has eight classes of any number.
    assert planned(qos=qos, have=driven("mlx5_core", tcs=8), offers=DCB).steps is not None


def test_an_e810_takes_classes_that_suit_it():
    plan = planned(qos=E810, have=driven("ice", tcs=8), offers=DCB)
    assert "rail0: traffic class by priority 0 0 0 3 0 0 6 0 -> 0 0 0 1 0 0 2 0" in " ".join(map(str, plan.steps))


@pytest.mark.parametrize("driver", ["ice", "bnxt_en"])
def test_what_the_driver_drops_is_noted(driver):
    have = driven(driver, tcs=8)
    dropped = [
        note
        for note in planned(qos=replace(E810, dcqcn={"rp_ai_rate": 10}), have=have, offers=("dcb", "irdma_cc")).notes
        if "rp_ai_rate" in note
    ]
    assert dropped == [
        "rail0: the fabric's dcqcn (rp_ai_rate) is left out on enp1s0: its driver is "
        f"{driver}, and these are parameters of NVIDIA's NICs"
    ]
    assert not any("left out" in note for note in planned(qos=E810, have=have, offers=("dcb", "irdma_cc")).notes)
