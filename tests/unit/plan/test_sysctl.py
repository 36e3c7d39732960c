# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernel parameters of rails: what is written, what is in force, and who overrules it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev, NodeFacts, Owner
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.sysctl import FILE, plan_sysctl

from tests.unit.apply.simulated import intent, rail

WANTED = intent(rail(0), rail(1, vlan=100))
NICS = tuple(Netdev(f"ens{n + 3}", n, pci=f"0000:0{n}:00.0") for n in (1, 2))
GOLDEN = """\
# Managed by Railwright (role rail_network): the next run undoes what is changed here.
net.ipv4.conf.ens4.arp_announce = 2
net.ipv4.conf.ens4.arp_ignore = 1
net.ipv4.conf.ens4.rp_filter = 2
net.ipv4.conf.rail1/100.arp_announce = 2
net.ipv4.conf.rail1/100.arp_ignore = 1
net.ipv4.conf.rail1/100.rp_filter = 2
net.ipv4.neigh.default.gc_thresh1 = 4096
net.ipv4.neigh.default.gc_thresh2 = 8192
net.ipv4.neigh.default.gc_thresh3 = 16384
"""


def node(**changes):
    values = {line.split()[0]: line.split()[2] for line in GOLDEN.splitlines()[1:] if "rail1" not in line}
    values.update({f"net.ipv4.conf.all.{name}": "0" for name in ("rp_filter", "arp_ignore", "arp_announce")})
    return NodeFacts(netdevs=NICS, sysctls={**values, **{key.replace("__", "."): v for key, v in changes.items()}})


def plan(facts, text=GOLDEN, owners=()):
    return plan_sysctl(WANTED, facts, {FILE: text}, owners)


def test_golden():
    step = plan(node(), None).steps[0]
    assert (step.actions[0].path, step.actions[0].text) == (FILE, GOLDEN)
    assert not step.disruptive


def test_a_second_run_changes_nothing_and_a_vlan_that_is_not_there_yet_waits_for_its_netdev():
    assert plan(node()).steps == ()
    assert plan(node()).notes == ()


@pytest.mark.parametrize(("name", "value"), [("rp_filter", "1"), ("arp_ignore", "0"), ("arp_announce", "0")])
def test_drift(name, value):
    key = f"net.ipv4.conf.ens4.{name}"
    steps = plan(replace(node(), sysctls={**node().sysctls, key: value})).steps
    assert [(step.setting, step.before) for step in steps] == [(key, value)]
    assert steps[0].actions[0].path == f"/proc/sys/net/ipv4/conf/ens4/{name}"


def test_all_does_not_make_the_filter_strict_again():
    key = "net.ipv4.conf.all.rp_filter"
    assert plan(replace(node(), sysctls={**node().sysctls, key: "1"})).steps == ()


def test_what_all_overrules_is_said_and_not_tried():
    key = "net.ipv4.conf.all.arp_ignore"
    found = plan(replace(node(), sysctls={**node().sysctls, key: "8"}))
    assert found.steps == ()
    assert f"{key} is 8 and overrules it" in found.notes[0]


def test_more_room_stays_now_and_at_the_next_boot():
    key = "net.ipv4.neigh.default.gc_thresh3"
    facts = replace(node(), sysctls={**node().sysctls, key: "65536"})
    assert plan(facts, GOLDEN.replace("16384", "65536")).steps == ()
    assert [step.setting for step in plan(facts).steps] == [f"file {FILE}"]


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        (Owner("net.ipv4.conf.ens4.rp_filter", "1", "/etc/sysctl.d/zzz.conf", True), True),
        (Owner("net.ipv4.conf.ens4.rp_filter", "1", "/etc/sysctl.d/10.conf", False), False),
        (Owner("net.ipv4.conf.all.rp_filter", "1", "/etc/sysctl.d/zzz.conf", True), False),
        (Owner("net.ipv4.neigh.default.gc_thresh3", "65536", "/etc/sysctl.d/zzz.conf", True), False),
        (Owner("ens4.mtu", "1500", "/etc/systemd/network/05.network", True), False),
    ],
)
def test_a_file_that_wins_at_the_next_boot_is_named_when_it_breaks_a_rail(owner, said):
    notes = plan(node(), owners=(owner,)).notes
    assert bool(notes) == said
    assert all(owner.source in note and owner.setting in note for note in notes)


def test_a_container_has_no_neighbour_limits_of_its_own():
    bare = {name: value for name, value in node().sysctls.items() if ".neigh." not in name}
    found = plan(replace(node(), sysctls=bare))
    assert found.steps == ()
    assert "gc_thresh1, net.ipv4.neigh.default.gc_thresh2" in found.notes[0]


def test_the_management_netdev_keeps_its_own():
    found = plan_sysctl(WANTED, replace(node(), management=("ens4",)), {FILE: None})
    assert "ens4" not in found.steps[0].actions[0].text


def test_unknown_values_are_left_and_said():
    found = plan(replace(node(), sysctls=None))
    assert found.steps == ()
    assert "could not be read" in found.notes[0]


def test_a_node_without_addresses_needs_nothing():
    bare = intent(rail(0, addressing="none", addresses=()))
    assert plan_sysctl(bare, node(), {}).steps == ()
    assert [step.actions[0].path for step in plan_sysctl(bare, node(), {FILE: GOLDEN}).steps] == [FILE]
