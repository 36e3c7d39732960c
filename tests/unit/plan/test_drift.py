# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Drift of a stacked, routed rail: each setting alone is found and repaired, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ReadError, RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    BondState,
    Netdev,
    Route,
    RoutingRule,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.plan import Run
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.network import NodeNetwork, plan_network

from tests.unit.apply.simulated import intent, rail
from tests.unit.plan.network_cases import CASES, golden, planned, settled

CASE, TOP = "bond-backup-vlan-routed", "rail0.100"


def drifted(netdev=None, routes=None, rules=None, case=CASE, **changes):
    facts = settled(case, "systemd-networkd")
    netdevs = tuple(replace(item, **changes) if item.name == netdev else item for item in facts.netdevs)
    facts = replace(facts, netdevs=netdevs)
    if routes is not None:
        facts = replace(facts, routes=tuple(routes(facts.routes)))
    if rules is not None:
        facts = replace(facts, rules=tuple(rules(facts.rules)))
    return planned(case, facts, golden(case, "systemd-networkd"))


def settings(plan):
    return [step.setting for step in plan.steps]


def commands(plan):
    return [" ".join(act.argv) for step in plan.steps for act in step.actions if isinstance(act, Run)]


@pytest.mark.parametrize(
    ("netdev", "changes", "setting"),
    [
        ("ens4", {"mtu": 1500}, "MTU of ens4"),
        ("rail0", {"mtu": 1500}, "MTU of rail0"),
        (TOP, {"mtu": 1500}, f"MTU of {TOP}"),
        ("ens5", {"master": None}, "master of ens5"),
        ("ens5", {"admin_up": False}, "link ens5"),
        ("ens5", {"addresses": ("10.9.9.9/24",)}, "address of ens5"),
        (TOP, {"addresses": ("10.20.0.5/24",)}, f"address of {TOP}"),
    ],
)
def test_link(netdev, changes, setting):
    plan = drifted(netdev, **changes)
    assert setting in settings(plan)
    assert not [name for name in settings(plan) if name != setting and "route" not in name]
    assert "networkctl reload" in [" ".join(action.argv) for action in plan.settle]


def test_bond_mode_is_fixed_for_life():
    plan = drifted("rail0", bond=BondState("802.3ad", "fast", "layer2", 100))
    assert plan.steps[0].before == "mode 802.3ad"
    assert commands(plan)[0] == "ip link delete dev rail0"
    assert f"vlan {TOP}" in settings(plan)
    # What is made anew is not there to be configured again.
    assert [action.argv[-1] for action in plan.settle] == ["reload", "ens4", "ens5"]


def test_bond_options_of_another_mode_do_not_matter():
    assert drifted("rail0", bond=BondState("active-backup", "slow", "layer2+3", 100)).steps == ()


def test_an_option_that_is_not_known_does_not_take_the_bond_down():
    assert drifted("rail0", bond=None).steps == ()


@pytest.mark.parametrize("changes", [{"vlan_id": 101}, {"lower": "ens9"}])
def test_vlan_that_is_another_one(changes):
    plan = drifted(TOP, **changes)
    assert commands(plan)[0] == f"ip link delete dev {TOP}"


def test_vlan_that_is_missing():
    facts = settled(CASE, "systemd-networkd")
    facts = replace(facts, netdevs=tuple(item for item in facts.netdevs if item.name != TOP))
    plan = planned(CASE, facts, golden(CASE, "systemd-networkd"))
    assert settings(plan)[0] == f"vlan {TOP}"
    assert plan.steps[0].after == "VLAN 100 on rail0"


def test_route_that_is_missing_is_set_by_the_network_manager():
    plan = drifted(routes=lambda have: [route for route in have if route.destination != "10.20.0.0/16"])
    assert settings(plan) == ["route 10.20.0.0/16"]
    assert plan.settle
    assert "ip -4 route del 10.20.0.0/16 table 254 via 10.20.0.1 dev rail0.100 metric 100" in [
        " ".join(action.argv) for action in plan.undo
    ]


@pytest.mark.parametrize(
    "route",
    [
        Route("10.20.0.0/16", TOP, "10.20.0.254", table=101),
        Route("0.0.0.0/0", "ens2", "10.0.2.2", table=101),
        Route("10.20.0.0/16", TOP, "10.20.0.254"),
    ],
)
def test_route_that_is_too_much_goes_and_the_link_stays(route):
    plan = drifted(routes=lambda have: [*have, route])
    assert len(plan.steps) == 1
    assert commands(plan)[0].startswith(f"ip -4 route del {route.destination} table {route.table}")
    assert plan.settle == ()
    assert plan.steps[0].disruptive is None


def test_routes_of_the_site_stay():
    routes = [Route("172.16.0.0/12", TOP, "10.20.0.1"), Route("10.20.0.0/16", "ens2", "10.0.2.2", metric=10)]
    assert drifted(routes=lambda have: [*have, *routes]).steps == ()


def test_subnet_of_the_kernel_that_was_deleted():
    plan = drifted(routes=lambda have: [route for route in have if route.table != 254 or route.metric])
    assert "ip -4 route replace 10.20.0.0/24 dev rail0.100 proto kernel scope link src 10.20.0.5" in commands(plan)
    assert plan.settle == ()


def test_one_rails_subnet_by_another_rail():
    wanted = intent(rail(0), rail(1))
    nics = tuple(
        Netdev(f"ens{n + 4}", n, mtu=4200, admin_up=True, pci=f"0000:0{n + 1}:00.0", addresses=(f"10.100.{n}.1/24",))
        for n in (0, 1)
    )
    routes = tuple(Route(f"10.100.{n}.0/24", f"ens{n + 4}") for n in (0, 1))
    facts = replace(
        settled("plain", "systemd-networkd"), netdevs=nics, routes=(*routes, Route("10.100.0.0/24", "ens5"))
    )
    plan = plan_network(wanted, facts, NodeNetwork())
    assert [step.setting for step in plan.steps if "route" in step.setting] == ["route 10.100.0.0/24"]
    assert "ip -4 route del 10.100.0.0/24 table 254 dev ens5" in commands(plan)


def test_rules():
    plan = drifted(rules=lambda have: [rule for rule in have if rule.priority != 1010])
    assert settings(plan) == ["rule 1010", "rule 1010"]
    wrong = RoutingRule(1010, 101, "10.20.0.9/32")
    plan = drifted(rules=lambda have: [*have, wrong])
    assert commands(plan) == ["ip -4 rule del priority 1010 from 10.20.0.9/32 table 101"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        # Without its selectors, the kernel would delete the wanted rule, which is the first that matches.
        (RoutingRule(1010, 101, "10.20.0.5/32", 4, ("iif ens9", "fwmark 0x1")), "iif ens9 fwmark 0x1 table 101"),
        (RoutingRule(1010, 0, "10.20.0.5/32", 4, ("to 10.9.0.0/16",), "goto 32766"), "to 10.9.0.0/16 goto 32766"),
        (RoutingRule(1010, 0, "10.20.0.5/32", 4, (), "blackhole"), "blackhole"),
    ],
)
def test_a_rule_is_deleted_by_all_that_it_says(rule, words):
    plan = drifted(rules=lambda have: [*have, rule])
    assert commands(plan) == [f"ip -4 rule del priority 1010 from 10.20.0.5/32 {words}"]
    assert plan.settle == ()


@pytest.mark.parametrize("section", ["routes", "rules"])
def test_what_could_not_be_read_is_no_permission(section):
    facts = replace(settled(CASE, "systemd-networkd"), **{section: None})
    with pytest.raises(ReadError, match="routes and rules of the node could not be read"):
        planned(CASE, facts, {})
    # A rail that needs none is not kept back.
    assert planned("plain", replace(settled("plain", "systemd-networkd"), **{section: None}), {}).steps


def test_the_name_of_a_bond_that_is_taken():
    facts = settled("bond-lacp", "systemd-networkd")
    taken = tuple(replace(item, kind="bridge") if item.name == "rail0" else item for item in facts.netdevs)
    with pytest.raises(RefusedError, match="belongs to a bridge already"):
        planned("bond-lacp", replace(facts, netdevs=taken), {})


def test_the_subnet_of_the_management():
    facts = settled("plain", "systemd-networkd")
    wanted = intent(replace(CASES["plain"], addresses=("10.0.2.77/24",)))
    with pytest.raises(RefusedError, match=r"10\.0\.2\.0/24 holds ens2's address 10\.0\.2\.15/24"):
        plan_network(wanted, facts, NodeNetwork())


def test_an_obstacle_keeps_only_a_change_back():
    facts, files = settled("plain", "systemd-networkd"), golden("plain", "systemd-networkd")
    assert plan_network(intent(CASES["plain"]), facts, NodeNetwork(files, "Add a line")).steps == ()
    with pytest.raises(RefusedError, match="Add a line"):
        plan_network(intent(CASES["plain"]), facts, NodeNetwork({}, "Add a line"))


def test_a_vlan_with_another_number_takes_the_old_one_along():
    facts, files = settled("vlan", "systemd-networkd"), golden("vlan", "systemd-networkd")
    plan = plan_network(intent(replace(CASES["vlan"], vlan=200)), facts, NodeNetwork(files))
    assert "ip link delete dev rail0.100" in commands(plan)
    assert "vlan rail0.200" in settings(plan)


@pytest.mark.parametrize(
    ("second", "driver", "said"),
    [
        ("0000:02:00.0", "mlx5_core", True),
        ("0000:01:00.1", "mlx5_core", False),
        ("0000:02:00.0", "bnxt_en", False),
    ],
)
def test_roce_over_a_bond_needs_one_nic(second, driver, said):
    facts = settled("bond-lacp", "systemd-networkd")
    places = {"ens4": "0000:01:00.0", "ens5": second}
    netdevs = tuple(
        replace(item, pci=places[item.name], driver=driver) if item.name in places else item for item in facts.netdevs
    )
    ports = tuple(
        replace(port, match=(replace(port.match[0], pci=pci),))
        for port, pci in zip(CASES["bond-lacp"].ports, places.values())
    )
    wanted = intent(replace(CASES["bond-lacp"], ports=ports))
    notes = plan_network(wanted, replace(facts, netdevs=netdevs), NodeNetwork()).notes
    assert [note for note in notes if "RoCE over a bond needs both on one" in note] == list(notes)
    assert bool(notes) == said


def test_mtu_of_a_stack_grows_from_the_bottom():
    facts = settled("vlan", "systemd-networkd")
    netdevs = tuple(replace(item, mtu=1500) for item in facts.netdevs)
    plan = planned("vlan", replace(facts, netdevs=netdevs), golden("vlan", "systemd-networkd"))
    assert commands(plan) == ["ip link set dev ens4 mtu 4200", "ip link set dev rail0.100 mtu 4200"]
    # Where nothing is on top, the network manager does it alone.
    facts = settled("plain", "systemd-networkd")
    netdevs = tuple(replace(item, mtu=1500) for item in facts.netdevs)
    assert commands(planned("plain", replace(facts, netdevs=netdevs), golden("plain", "systemd-networkd"))) == []


@pytest.mark.parametrize(
    "rule",
    [
        RoutingRule(900, 101, "10.0.2.15/32"),
        RoutingRule(1010, 7, "10.0.2.0/24"),
        RoutingRule(900, 101, selectors=("iif ens2",)),
    ],
)
def test_what_the_management_is_routed_by_is_not_taken_away(rule):
    route = Route("0.0.0.0/0", "ens2", "10.0.2.2", rule.table)
    with pytest.raises(RefusedError, match=f"the node's management is routed by its rule {rule.priority}, from"):
        drifted(routes=lambda have: (*have, route), rules=lambda have: (*have, rule))


def test_what_goes_goes_before_the_file_that_tells_of_it():
    """A run may end between any two actions, and the next one reads the files that are there by then."""
    facts, files = settled("vlan", "systemd-networkd"), golden("vlan", "systemd-networkd")
    renumbered = plan_network(intent(rail(0, vlan=200)), facts, NodeNetwork(files))
    gone = plan_network(intent(rail(7)), facts, NodeNetwork(files))
    for plan in (renumbered, gone):
        actions = [action for step in plan.steps for action in step.actions]
        deleted = actions.index(Run(("ip", "link", "delete", "dev", "rail0.100"), allowed=(0, 1)))
        about = [at for at, action in enumerate(actions) if "rail0.n" in getattr(action, "path", "")]
        assert about
        assert deleted < min(about)
