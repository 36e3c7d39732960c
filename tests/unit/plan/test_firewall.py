# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Openings of firewalld and ufw, and a note where nobody manages the filters."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ReadError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev, NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.plan import Run, WriteFile
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.firewall import (
    RECORD,
    FirewallState,
    plan_firewall,
    read_firewall,
)

from tests.unit.apply.simulated import intent, rail
from tests.unit.fakes import FakePort

NICS = tuple(Netdev(f"ens{n + 3}", n, pci=f"0000:0{n}:00.0") for n in (1, 2))
FACTS = NodeFacts(netdevs=NICS, modules=())
RULES = (
    'rule family="ipv4" destination address="10.100.0.1" port port="4791" protocol="udp" accept',
    'rule family="ipv4" destination address="10.100.0.1" port port="18600" protocol="tcp" accept',
)
FIREWALLD = {"/sys/fs/cgroup/system.slice/firewalld.service/cgroup.procs": "1\n"}


def firewalld(now, later):
    return FakePort(
        FIREWALLD,
        {
            "firewall-cmd --get-default-zone": "public\n",
            "firewall-cmd --get-zone-of-interface=ens4": (2, "no zone"),
            "firewall-cmd --zone=public --list-rich-rules": "\n".join(now),
            "firewall-cmd --permanent --zone=public --list-rich-rules": "\n".join(later),
        },
    )


def plan(port, *rails):
    wanted = intent(*(rails or (rail(0),)))
    return plan_firewall(wanted, FACTS, read_firewall(port, wanted, FACTS))


@pytest.mark.parametrize(
    ("now", "later", "commands"),
    [
        (RULES, RULES, 0),
        ((), (), 4),
        (RULES, (), 2),
        ((), RULES, 2),
        (RULES[:1], RULES[:1], 2),
        ([rule.replace("10.100.0.1", "10.100.0.11") for rule in RULES], RULES, 2),
    ],
)
def test_firewalld_opens_the_rails_own_address_now_and_later(now, later, commands):
    found = plan(firewalld(now, later))
    argvs = [action.argv for step in found.steps for action in step.actions if isinstance(action, Run)]
    assert len(argvs) == commands
    assert all(argv[0] == "firewall-cmd" and "--zone=public" in argv for argv in argvs)
    assert sum("--permanent" in argv for argv in argvs) == 2 - len(set(later) & set(RULES))
    assert {action.argv[-1].partition("=")[0] for action in found.undo} <= {"--remove-rich-rule"}
    assert not any(step.disruptive for step in found.steps)


def test_firewalld_that_does_not_answer():
    port = firewalld((), ())
    port.tools["firewall-cmd --get-default-zone"] = (252, "FirewallD is not running")
    with pytest.raises(ReadError, match="FirewallD is not running"):
        plan(port)


UFW = {
    "/etc/ufw/ufw.conf": "ENABLED=yes\n",
    "/etc/ufw/user.rules": "### tuple ### allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 in_ens4\n"
    "### tuple ### allow tcp 18600 0.0.0.0/0 any 0.0.0.0/0 in_ens4 comment=726f\n",
}


def test_ufw():
    assert plan(FakePort(UFW)).steps == ()
    steps = plan(FakePort({**UFW, "/etc/ufw/user.rules": ""})).steps
    assert [" ".join(step.actions[0].argv) for step in steps] == [
        "ufw allow in on ens4 to any port 4791 proto udp comment railwright",
        "ufw allow in on ens4 to any port 18600 proto tcp comment railwright",
    ]
    assert plan(FakePort({**UFW, "/etc/ufw/ufw.conf": "ENABLED=no\n", "/etc/ufw/user.rules": ""})).steps == ()


def test_ufw_of_another_netdev_or_denied_is_no_opening():
    other = UFW["/etc/ufw/user.rules"].replace("ens4", "ens5")
    assert len(plan(FakePort({**UFW, "/etc/ufw/user.rules": other})).steps) == 2
    denied = UFW["/etc/ufw/user.rules"].replace("allow", "deny")
    assert len(plan(FakePort({**UFW, "/etc/ufw/user.rules": denied})).steps) == 2


def test_ufw_needs_both_families_where_the_rail_has_both():
    both = rail(0, addresses=("10.100.0.1/24", "fd00::1/64"), families=(4, 6))
    assert len(plan(FakePort(UFW), both).steps) == 2


def test_filters_of_the_site_are_named_and_left_alone():
    state = FirewallState(
        closed=(
            ("ens4", "udp", 4791, "policy of inet filter input"),
            ("ens4", "tcp", 18515, "policy of inet filter input"),
            ("ens9", "udp", 4791, "policy of inet filter input"),
        )
    )
    found = plan_firewall(intent(rail(0)), FACTS, state)
    assert found.steps == ()
    assert found.notes == (
        "rail0: policy of inet filter input keeps udp 4791 out of ens4. It is the site's and is not changed here; "
        'allow this ahead of it: iifname "ens4" udp dport 4791 accept',
    )


def test_nothing_filters():
    assert plan(FakePort()) == plan_firewall(intent(rail(0)), FACTS, FirewallState())


OLD = 'rule family="ipv4" destination address="10.107.0.1" port port="4791" protocol="udp" accept'
ENTRY = ["public", "10.107.0.1", OLD]


def written(found):
    actions = [action for step in found.steps for action in step.actions if isinstance(action, WriteFile)]
    assert all((action.path, action.mode) == (RECORD, 0o600) for action in actions)
    return [json.loads(action.text) for action in actions]


def test_what_is_opened_is_written_down_and_what_stood_there_is_not():
    own = [["public", "10.100.0.1", rule] for rule in RULES]
    assert written(plan(firewalld((), ()))) == [own]
    assert written(plan(firewalld(RULES[:1], RULES[:1]))) == [own[1:]]
    assert written(plan(firewalld(RULES, ()))) == []
    assert plan(firewalld(RULES, RULES)).steps == ()


def test_firewalld_closes_what_it_opened_for_a_rail_that_is_gone():
    port = firewalld((*RULES, OLD), (*RULES, OLD))
    assert plan(port).steps == ()  # nothing proves that it is ours
    port.files[RECORD] = json.dumps([ENTRY]).encode()
    found = plan(port)
    (step,) = found.steps
    assert [" ".join(action.argv) for action in step.actions[:2]] == [
        f"firewall-cmd --zone=public --remove-rich-rule={OLD}",
        f"firewall-cmd --permanent --zone=public --remove-rich-rule={OLD}",
    ]
    assert written(found) == [[]]
    assert [action.argv[-1] for action in found.undo] == [f"--add-rich-rule={OLD}"] * 2


def test_firewalld_keeps_what_a_rail_of_the_spec_has_even_when_its_nic_is_missing():
    port = firewalld((*RULES, OLD), (*RULES, OLD))
    port.files[RECORD] = json.dumps([ENTRY]).encode()
    lost = rail(7, addresses=("10.107.0.1/24",))
    assert plan(port, rail(0), lost).steps == ()


@pytest.mark.parametrize("text", ["", "{", "7", "[7]", '["abcd"]', '[["public", "10.107.0.1"]]', "null"])
def test_a_damaged_record_proves_nothing(text):
    port = firewalld((*RULES, OLD), (*RULES, OLD))
    port.files[RECORD] = text.encode()
    assert plan(port).steps == ()


def test_a_zone_of_the_record_that_is_gone():
    port = firewalld(RULES, RULES)
    port.files[RECORD] = json.dumps([["rails", *ENTRY[1:]]]).encode()
    port.tools["firewall-cmd --zone=rails --list-rich-rules"] = (112, "Error: INVALID_ZONE: rails")
    port.tools["firewall-cmd --permanent --zone=rails --list-rich-rules"] = (112, "Error: INVALID_ZONE: rails")
    assert plan(port).steps == ()


MARKED = "comment=7261696c777269676874"
LEFT = f"### tuple ### allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 in_ens9 {MARKED}\n"


def test_ufw_closes_what_has_our_mark_on_a_netdev_that_no_rail_has():
    files = {**UFW, "/etc/ufw/user6.rules": LEFT.replace("0.0.0.0/0", "::/0")}
    files["/etc/ufw/user.rules"] += LEFT
    found = plan(FakePort(files))
    (step,) = found.steps
    assert [" ".join(action.argv) for action in step.actions] == [
        "ufw delete allow in on ens9 to any port 4791 proto udp"
    ]
    assert [" ".join(action.argv) for action in found.undo] == [
        "ufw allow in on ens9 to any port 4791 proto udp comment railwright"
    ]


@pytest.mark.parametrize(
    "line", [LEFT.replace(f" {MARKED}", ""), LEFT.replace(MARKED, "comment=6d696e65"), LEFT.replace("ens9", "ens4")]
)
def test_ufw_leaves_the_sites_rules_and_the_rails_own(line):
    files = {**UFW, "/etc/ufw/user.rules": UFW["/etc/ufw/user.rules"] + line}
    assert plan(FakePort(files)).steps == ()


def test_ufw_closes_nothing_while_a_rails_netdev_is_not_known():
    files = {**UFW, "/etc/ufw/user.rules": UFW["/etc/ufw/user.rules"] + LEFT}
    assert plan(FakePort(files), rail(0), rail(7)).steps == ()
