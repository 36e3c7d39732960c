# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Soft RoCE devices: on NICs with the driver stack, on bonds once the network has made them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ReadError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev, NodeFacts, RdmaDevice
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond, DeviceMatch, PortIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.soft_roce import plan_bonded, soft_steps

from tests.unit.apply.simulated import intent, rail

LEGS = tuple(Netdev(f"ens{number}", number, pci=f"0000:0{number}:00.0", master="rail0") for number in (4, 5))
PORTS = tuple(PortIntent((DeviceMatch(pci=netdev.pci),)) for netdev in LEGS)
WANTED = intent(replace(rail(0), name="rail0", ports=PORTS, bond=Bond("active-backup"), soft_roce=True))
BONDED = NodeFacts(netdevs=(*LEGS, Netdev("rail0", 9, kind="bond")), rdma=())
BARE = NodeFacts(netdevs=tuple(replace(netdev, master=None) for netdev in LEGS), rdma=())


def test_the_driver_stack_has_nothing_to_say_before_there_is_a_bond():
    assert soft_steps(WANTED, BARE, None) == ([], [])


def test_the_network_makes_it_on_the_bond():
    (step,) = plan_bonded(WANTED, BONDED).steps
    assert str(step) == "rail0: soft RoCE device (none) -> rxe_rail0 on rail0"
    assert [action.argv for action in step.actions] == [
        ("rdma", "link", "add", "rxe_rail0", "type", "rxe", "netdev", "rail0")
    ]


def test_without_a_bond_yet_the_step_names_it_and_does_nothing():
    (step,) = plan_bonded(WANTED, BARE).steps
    assert (step.depends_on, step.actions) == ("the bond", ())


def test_one_that_is_there_is_left_alone():
    there = replace(BONDED, rdma=(RdmaDevice("rxe_rail0", soft=True, parent="rail0"),))
    assert not plan_bonded(WANTED, there).steps
    assert soft_steps(WANTED, there, None) == ([], [])


def test_a_rail_without_a_bond_is_the_driver_stacks():
    single = intent(replace(rail(0), name="rail0", ports=PORTS[:1], soft_roce=True))
    assert not plan_bonded(single, BARE).steps
    assert [str(step) for step in soft_steps(single, BARE, None)[0]] == [
        "rail0: soft RoCE device (none) -> rxe_rail0 on ens4"
    ]


def test_unread_devices_are_not_planned_over():
    with pytest.raises(ReadError, match="the RDMA devices could not be read"):
        plan_bonded(WANTED, replace(BONDED, rdma=None))
