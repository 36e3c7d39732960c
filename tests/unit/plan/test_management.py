# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The management's NICs are remembered for the next boot, where no session shows them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import apply_network
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev, NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.management import (
    PATH,
    plan_management,
    with_remembered,
)

from tests.unit.apply.simulated import Clock, SimulatedNode, intent, rail

NIC = Netdev("ens5", 3, mac="52:54:00:00:01:04")
FACTS = NodeFacts(netdevs=(NIC, Netdev("br0", 9, mac=NIC.mac, kind="bridge")), management=("br0", "ens5"))


def document():
    return plan_management(FACTS, None, "192.0.2.7").steps[0].actions[0].text


def test_hardware_only_and_once():
    assert json.loads(document()) == {"nics": [{"mac": "52:54:00:00:01:04", "netdev": "ens5"}]}
    assert plan_management(FACTS, document(), "192.0.2.7").steps == ()


def test_only_a_session_knows():
    assert plan_management(FACTS, None, None).steps == ()
    assert plan_management(replace(FACTS, management=()), None, "192.0.2.7").steps == ()


def test_remembered_by_hardware_not_by_name():
    bare = NodeFacts(netdevs=(replace(NIC, name="renamed"), Netdev("ens5", 4, mac="52:54:00:00:09:09")))
    assert with_remembered(bare, document(), None).management == ("renamed",)
    assert with_remembered(bare, document(), "192.0.2.7").management == ()
    assert with_remembered(bare, None, None).management == ()


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"nics": 1}', '{"nics": [{}]}'])
def test_damaged_document(damage):
    assert with_remembered(FACTS, damage, None) == FACTS


def test_at_boot_the_rail_is_refused():
    node = SimulatedNode()
    node.net["ens5"]["addresses"] = ["192.0.2.7/24"]
    with pytest.raises(RefusedError, match="rail1 is on ens5"):
        apply_network(node, intent(), timer=Clock().timer, session="192.0.2.7")
    # The spec was corrected in the meantime, and is wrong again at the next boot, when nobody has a session.
    apply_network(node, intent(rail(0)), timer=Clock().timer, session="192.0.2.7")
    assert PATH in node.files
    with pytest.raises(RefusedError, match="rail1 is on ens5"):
        apply_network(node, intent(), timer=Clock().timer)
