# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Every network manager, for the same rails: its files against goldens, and a second run without a change."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.plan import Run
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.network import NodeNetwork, plan_network
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.providers import network_provider

from tests.unit.apply.simulated import intent, rail
from tests.unit.fakes import FakePort
from tests.unit.plan.network_cases import CASES, bare, golden, planned, rendered, settled

MANAGERS = ("systemd-networkd", "netplan", "NetworkManager", "ifupdown")
every = pytest.mark.parametrize(("case", "manager"), [(case, manager) for manager in MANAGERS for case in CASES])


@every
def test_golden(case, manager):
    assert rendered(case, manager, bare(case, manager)) == golden(case, manager)


@every
def test_the_text_is_the_same_after_it_was_applied(case, manager):
    assert rendered(case, manager, settled(case, manager)) == golden(case, manager)


@every
def test_second_run_changes_nothing(case, manager):
    plan = planned(case, settled(case, manager), golden(case, manager))
    assert plan.steps == ()
    assert plan.settle == ()


@every
def test_first_run_settles_the_rail_and_nothing_else(case, manager):
    plan = planned(case, bare(case, manager), {})
    assert plan.settle
    words = {word for action in plan.settle for word in action.argv}
    assert "ens2" not in words
    assert {step.subject for step in plan.steps} == {"rail0"}


@every
def test_own_files_are_found_and_known_by_rail_and_netdev(case, manager):
    facts = settled(case, manager)
    provider, files = network_provider(facts), golden(case, manager)
    port = FakePort({**files, **{f"{path}.orig~": "x" for path in files}})
    assert provider.present(port) == tuple(sorted(files))
    assert {provider.rail(path) for path in files} == {"rail0"}
    about = {netdev.name for netdev in provider.netdevs(tuple(files.values()), facts.netdevs)}
    assert about == {netdev.name for netdev in facts.netdevs} - {"ens2"}


@every
def test_a_rail_that_is_no_more_takes_its_bonds_and_vlans_along(case, manager):
    facts, files = settled(case, manager), golden(case, manager)
    moved = {path.replace("rail0", "old"): text for path, text in files.items()}
    made = {netdev.name for netdev in facts.netdevs if netdev.kind}
    node = NodeNetwork(moved)
    plan = plan_network(intent(rail(0, ports=rail(8).ports)), facts, node)
    deleted = {action.argv[-1] for step in plan.steps for action in step.actions if isinstance(action, Run)}
    assert {step.setting for step in plan.steps} == {f"file {path}" for path in moved}
    assert deleted == made
    assert "ens4" in {word for action in plan.settle for word in action.argv}
