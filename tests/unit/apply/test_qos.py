# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless settings on a node that behaves: first and second run, drift, jobs, roll back, and the defaults again."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.apply import apply
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import (
    apply_network,
    apply_qos,
    apply_stack,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ApplyError, ReadError, RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.qos import RELEASED

from tests.unit.apply.simulated import Clock, intent
from tests.unit.apply.simulated_nic import CC, CM, FRESH, QOS, LosslessNode, lossless

RUN_UNITS = "/run/systemd/units"


def qos(node, wanted=None, **options):
    return apply_qos(node, wanted or lossless(), timer=Clock().timer, **options)


@pytest.fixture
def node():
    """Stack and rails are as they should be."""
    made = LosslessNode().with_intent(lossless())
    apply_stack(made, lossless(), timer=Clock().timer)
    apply_network(made, lossless(), timer=Clock().timer)
    made.forget()
    return made


@pytest.mark.parametrize(("lost", "done"), [(0, True), (1, True), (2, False)])
def test_dcb_that_lost_the_answer_is_asked_once_more(node, lost, done):
    working, left = node.tools["dcb"], [lost]

    def dcb(port):
        reply = working(port)
        if left[0] and port.calls[-1].startswith("dcb ets"):
            left[0] -= 1
            return 1, "Attribute write: Protocol error\n"
        return reply

    node.tools["dcb"] = dcb
    wanted = lossless()
    one = replace(wanted, rails=wanted.rails[:1])
    if done:
        assert qos(node, one).steps
        assert sum(call.startswith("dcb ets") for call in node.calls) == 1 + lost
        assert qos(node, one).steps == ()
    else:
        assert "Protocol error" in qos(node, one).failed["rail0"]


def test_first_and_second_run(node):
    plan = qos(node)
    assert [step.setting for step in plan.steps if step.subject == "rail1"] == [
        "global pause",
        "trust",
        "DSCP 26",
        "DSCP 48",
        "traffic class by priority",
        "ETS",
        "PFC",
        "DSCP of CNPs",
        "priority of CNPs",
        "RDMA-CM ToS of rxe_rail1",
        "RDMA-CM GID type of rxe_rail1",
    ]
    assert node.flaps == ["ens4", "ens5"]
    assert node.nics["ens4"].pfc == (3,)
    assert node.read(f"{CC.format('0000:01:00.0')}/np_cnp_dscp") == "48"
    assert node.read(f"{CM}/rxe_rail0/ports/1/default_roce_tos") == "106"
    assert not any("ens2" in call for call in node.changes)
    node.forget()
    assert qos(node).steps == ()
    assert node.changes == []


def test_check_changes_nothing_and_says_the_same(node):
    said = [str(step) for step in qos(node, check=True).steps]
    assert node.changes == []
    assert "rail0: PFC none -> priority 3 [the link flaps]" in said
    assert [str(step) for step in qos(node).steps] == said


def test_a_node_without_lossless_rails_is_not_looked_at():
    bare = LosslessNode()
    assert qos(bare, intent()).steps == ()
    assert (bare.calls, bare.changes) == ([], [])


def test_drift_by_hand_is_put_right_and_nothing_else_is_touched(node):
    qos(node)
    node.forget()
    node.flaps.clear()
    node.nics["ens5"] = replace(node.nics["ens5"], apps=((26, 2), (48, 6)))
    node.show("ens5")
    assert [str(step) for step in qos(node).steps] == ["rail1: DSCP 26 priority 2 -> priority 3"]
    assert [call for call in node.changes if "unsettled" not in call] == ["dcb app replace dev ens5 dscp-prio 26:3"]
    assert node.flaps == []


def test_a_job_is_not_interrupted(node):
    qos(node)
    node.tools["rdma -j resource show qp"] = json.dumps([{"ifname": "rxe_rail0", "pid": 7, "comm": "python3"}])
    node.nics["ens4"] = replace(node.nics["ens4"], pfc=())
    node.show("ens4")
    node.flaps.clear()
    with pytest.raises(RefusedError, match=r"rxe_rail0 by python3 \(7\).*roce_qos_allow_disruption"):
        qos(node)
    with pytest.raises(RefusedError):
        qos(node, check=True)
    assert node.flaps == []
    qos(node, allow_disruption=True)
    assert node.flaps == ["ens4"]
    # What interrupts nobody is put right beside the job.
    node.paused["ens4"]["rx"] = True
    node.show("ens4")
    assert [step.setting for step in qos(node).steps] == ["global pause"]


@pytest.mark.parametrize("reply", [(1, "Attribute write: Invalid argument"), ""])
def test_the_agent_does_not_flap_links_for_ever_over_what_fails(node, tmp_path, reply):
    """Each attempt moves links, whose coming up is the next event."""
    clock, node.tools["dcb pfc set dev ens5 prio-pfc all:off 3:on"] = Clock(), reply
    said = []
    for _ in range(6):
        out = io.StringIO()
        assert apply(node, {"--event": "yes"}, out, str(tmp_path / "lock"), clock.timer) == 1
        said.append("something undoes them" in out.getvalue())
    assert said == [False, False, False, True, True, True]


def test_what_fails_is_rolled_back(node):
    node.tools["dcb pfc set dev ens5 prio-pfc all:off 3:on"] = (1, "Attribute write: Invalid argument")
    plan = qos(node)
    assert re.search(r"Invalid argument.*Rolled back: rail1: PFC, rail1: traffic class", plan.failed["rail1"])
    assert "Not undone" not in plan.trouble
    assert replace(node.nics["ens5"], share=FRESH.share) == FRESH
    assert node.paused["ens5"] == {"rx": True, "tx": True}
    assert not node.exists(f"{CM}/rxe_rail1")
    # The other rail is whole, and its link has moved once.
    assert (node.nics["ens4"].pfc, node.flaps) == ((3,), ["ens4"])
    assert {step.subject for step in plan.steps} == {"rail0"}


def test_what_fails_for_the_whole_node_comes_before_any_rail(node):
    node.files[f"{RUN_UNITS}/invocation:lldpad.service"] = b""
    node.tools["systemctl disable"] = (4, "Access denied")
    with pytest.raises(ApplyError, match="Access denied"):
        qos(node, lossless(replace(QOS, lldpad="stop")))
    assert (node.nics["ens4"], node.flaps) == (FRESH, [])


def test_one_rail_that_is_refused_keeps_no_other_from_its_settings(node, tmp_path):
    node.nics["ens5"] = replace(FRESH, dcbx=())
    node.show("ens5")
    for check in (True, False):
        plan = qos(node, check=check)
        assert {step.subject for step in plan.steps} == {"rail0"}
        assert "the firmware of ens5 owns DCBX" in plan.refused["rail1"]
    assert (node.nics["ens4"].pfc, node.nics["ens5"].pfc) == ((3,), ())
    # Not a change, so nothing that an event could repeat for ever; and no success either.
    for _ in range(5):
        out = io.StringIO()
        assert apply(node, {"--event": "yes"}, out, str(tmp_path / "lock"), Clock().timer) == 1
        assert "the firmware of ens5 owns DCBX" in out.getvalue()


def test_a_reply_that_is_cut_after_the_change_is_no_success(node):
    real = node.tools["dcb"]

    def dcb(port):
        reply = real(port)
        if port.calls[-1].startswith("dcb pfc set dev ens5"):
            node.dcbs["ens5"] = node.dcbs["ens5"][:30]
        return reply

    node.tools["dcb"] = dcb
    plan = qos(node)
    assert (set(plan.failed), {step.subject for step in plan.steps}) == ({"rail1"}, {"rail0"})


def test_a_roll_back_goes_on_when_a_part_of_it_fails(node):
    node.tools["dcb pfc set dev ens5"] = (1, "Attribute write: Invalid argument")
    failed = qos(node).failed["rail1"]
    assert re.search(r"Rolling back failed as well: rail1: PFC \(.*Invalid argument\)$", failed)
    assert node.nics["ens5"].apps == ()


def test_what_did_not_help_is_rolled_back(node):
    node.tools["dcb ets set"] = ""
    plan = qos(node)
    assert "not as wanted afterwards: rail0: traffic class by priority" in plan.failed["rail0"]
    assert "Rolled back: rail1: RDMA-CM ToS of rxe_rail1, rail1: priority of CNPs" in plan.failed["rail1"]
    assert plan.steps == ()
    assert node.nics["ens4"].pfc == ()
    assert node.nics["ens4"].apps == ()
    assert node.paused["ens4"] == {"rx": True, "tx": True}
    assert node.read(f"{CC.format('0000:01:00.0')}/np_cnp_dscp") == "0"
    assert not node.exists(f"{CM}/rxe_rail0")


def test_firmware_keeps_what_it_owns_unless_it_is_taken(node):
    node.nics["ens4"] = replace(FRESH, dcbx=())
    node.show("ens4")
    assert "the firmware of ens4 owns DCBX" in qos(node).refused["rail0"]
    assert not any("ens4" in call for call in node.changes)
    qos(node, lossless(replace(QOS, firmware_dcbx="take")))
    assert node.nics["ens4"].dcbx == ("host", "ieee")
    assert node.nics["ens4"].pfc == (3,)


def test_unknown_management_is_no_licence(node):
    node.files["/proc/net/route"] = b"Iface Destination\nens2 zz\n"
    with pytest.raises(ReadError, match="which link carries the management could not be read"):
        qos(node)


def test_defaults_again_and_the_agent_leaves_them(node, tmp_path):
    qos(node)
    plan = qos(node, absent=True)
    assert "rail0: PFC priority 3 -> none [the link flaps]" in [str(step) for step in plan.steps]
    assert replace(node.nics["ens4"], share=FRESH.share) == FRESH
    assert not node.exists(f"{CM}/rxe_rail0")
    node.forget()
    assert qos(node, absent=True).steps == ()
    assert node.changes == []
    out = io.StringIO()
    assert apply(node, {"--event": "yes"}, out, str(tmp_path / "lock"), Clock().timer) == 0
    assert f"lossless settings left alone: they were given back ({RELEASED})" in out.getvalue()
    assert node.nics["ens4"].pfc == ()
    qos(node)
    assert not node.exists(RELEASED)
    assert node.nics["ens4"].pfc == (3,)


@pytest.mark.parametrize("how", ["--event", "--boot"])
def test_the_agent_brings_back_what_a_new_netdev_lost(node, tmp_path, how):
    lock, clock = str(tmp_path / "lock"), Clock()
    qos(node)
    before = dict(node.nics)
    node.make("ens5")
    out = io.StringIO()
    start = clock.time
    assert apply(node, {how: "yes"}, out, lock, clock.timer) == 0
    assert "rail1: PFC none -> priority 3 [the link flaps]" in out.getvalue()
    assert "rail0" not in out.getvalue()
    assert node.nics == before
    assert clock.time - start < 10
    out = io.StringIO()
    assert apply(node, {how: "yes"}, out, lock, clock.timer) == 0
    assert out.getvalue() == "nothing to change\n"


def test_the_agent_says_what_it_could_not_do(node, tmp_path):
    node.nics["ens4"] = replace(FRESH, dcbx=())
    node.show("ens4")
    out = io.StringIO()
    assert apply(node, {"--event": "yes"}, out, str(tmp_path / "lock"), Clock().timer) == 1
    assert "the firmware of ens4 owns DCBX" in out.getvalue()
