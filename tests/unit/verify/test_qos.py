# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless settings of one node: every link of the chain, right, wrong, nearly right and unreadable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import QosState, Service, Unread
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import judge_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots, verdict

from tests.unit.verify import lossless, nodes
from tests.unit.verify.lossless import LOSSY, QOS, SHARE, TSA, facts, intent
from tests.unit.verify.rows import check, judged, row

AGENT = Service("railwright-apply", "active", enabled=True)
LOCKED = {"cnp_dscp": None, "cnp_priority": None, "dcqcn": None, "ecn_np": None, "ecn_rp": None, "offers": ("dcb",)}
NO_DCQCN = replace(QOS, profile="pfc", ecn=())
SIZED = replace(QOS, buffer_size=(130944, 130944, 0, 0, 0, 0, 0, 0), prio_buffer=(0, 0, 0, 1, 0, 0, 0, 0))
NO_LOSSY = (0, 131072, 0, 0, 0, 0, 0, 0)
BLIND = Unread("/sys/class/net/enp1s0/qos/trust", "input/output error", "enp1s0")


def said(rule, state, *words, name="", qos=QOS, rail="rail0", have=None, **changes):
    """One row: what the rule says of node 1 with ``changes`` of rail0's settings."""
    have = have if have is not None else facts(**changes)
    return row(rule, state, have, *words, rail=rail, name=name, node=intent(qos=qos))


def sized(first):
    return replace(SIZED, buffer_size=(first, *SIZED.buffer_size[1:]))


def unread(have, *items):
    return replace(have, unread=items)


def locked(kind):
    have = facts(**LOCKED)
    return replace(have, system=replace(have.system, lockdown=kind))


ROWS = [
    said("qos.readable", "pass"),
    said("qos.readable", "unknown", "could not be read", have=replace(facts(), qos=None)),
    said("qos.readable", "unknown", "no trust, DSCP map", "PFC", name="virtio", have=replace(facts(), qos=tuple(
        QosState(f"enp{n}s0") for n in (1, 2)
    ))),
    said("qos.readable", "unknown", "its driver has no trust", name="no-trust", trust=None),
    said("qos.readable", "unknown", "ECN as receiver", name="no-np", ecn_np=None),
    said("qos.readable", "pass", name="no-dcqcn", qos=NO_DCQCN, ecn_np=None),
    said("qos.readable", "unknown", "trust", "input/output", name="one-file", have=unread(facts(trust=None), BLIND)),
    said("qos.readable", "unknown", "(integrity)", "host.lockdown: firmware", name="locked", have=locked("integrity")),
    # With lockdown off the same files are missing for another reason.
    said("qos.readable", "unknown", "the driver shows none", name="no-lockdown", have=locked("none")),
    # What another netdev does not tell is no matter of this rail.
    said("qos.readable", "pass", name="elsewhere", have=unread(facts(), replace(BLIND, subject="enp2s0"))),
    said("qos.dcbx", "pass", "host ieee"),
    said("qos.dcbx", "fail", "firmware", "dcb dcbx set dev enp1s0 host ieee", dcbx=()),
    said("qos.dcbx", "fail", "adopts what the switch says", name="willing-firmware", dcbx=(), willing=True),
    said("qos.dcbx", "fail", "firmware", name="lld", dcbx=("host", "lld_managed", "ieee")),
    said("qos.dcbx", "fail", "is firmware-owned", name="cee", dcbx=("cee",)),
    said("qos.dcbx", "warn", "willing", name="willing", willing=True),
    said("qos.trust", "pass", "dscp"),
    said("qos.trust", "fail", "enp1s0 pcp", "DSCP 26", trust="pcp"),
    said("qos.dscp_map", "pass"),
    # Off by one: 25 is mapped, 26 is not.
    said("qos.dscp_map", "fail", "DSCP 26 is not mapped", "DSCP 25", "off by one", dscp_prio=((25, 3), (48, 6))),
    said("qos.dscp_map", "fail", "DSCP 26 to priority 4", name="priority", dscp_prio=((26, 4), (48, 6))),
    said("qos.dscp_map", "fail", "lossless class", name="cnp", dscp_prio=((26, 3), (48, 3))),
    said("qos.dscp_map", "fail", "twice", "dcb app replace dev enp1s0 dscp-prio 26:3", name="twice", dscp_prio=(
        (26, 0), (26, 3), (48, 6),
    )),
    # The data and the CNPs are right, something else is there twice.
    said("qos.dscp_map", "fail", "maps DSCP 10 twice", name="other", dscp_prio=((10, 0), (10, 1), (26, 3), (48, 6))),
    # OFED's own map, by the upper three bits: 24 to 31 come among the data, 48 to 55 among the CNPs.
    said("qos.dscp_map", "fail", "enp1s0 DSCP 24-25 27-31 to priority 3 too", "the class of the data", name="foreign",
         dscp_prio=tuple((dscp, dscp >> 3) for dscp in range(64))),
    said("qos.dscp_map", "fail", "DSCP 50 to priority 6 too", "the class of CNPs", name="foreign-cnp", dscp_prio=(
        (26, 3), (48, 6), (50, 6),
    )),
    # A lossless class of the site's own is its own affair.
    said("qos.dscp_map", "pass", name="more", pfc=(3, 4), dscp_prio=((10, 1), (26, 3), (34, 4), (48, 6))),
    said("qos.dscp_map", "pass", name="lossy", qos=LOSSY, pfc=(), dscp_prio=((26, 3),)),
    said("qos.prio_tc", "pass"),
    said("qos.prio_tc", "fail", "priority 3 in class 0", prio_tc=(0, 0, 0, 0, 0, 0, 6, 0)),
    said("qos.prio_tc", "fail", "6 (CNPs) is in the lossless class", name="cnp", prio_tc=(0, 0, 0, 3, 0, 0, 3, 0)),
    said("qos.ets", "pass"),
    said("qos.ets", "fail", "add up to 120 %", share=(60, 0, 0, 60, 0, 0, 0, 0)),
    said("qos.ets", "fail", "class 3 ets 60 %", name="share", share=(40, 0, 0, 60, 0, 0, 0, 0)),
    said("qos.ets", "fail", "class 6 ets 0 %", name="tsa", tsa=(*TSA[:6], "ets", TSA[7])),
    said("qos.ets", "fail", "the NIC has 4 traffic classes", name="classes", tcs=4),
    # A class without priorities is nobody's matter.
    said("qos.ets", "pass", name="unused", tsa=("ets", "vendor", *TSA[2:])),
    said("qos.pfc", "pass", "PFC on 3"),
    said("qos.pfc", "fail", "PFC off", "priority 3 is lossy", pfc=()),
    said("qos.pfc", "fail", "wrong priority", name="wrong", pfc=(4,)),
    said("qos.pfc", "fail", "priority 4 too", name="more", pfc=(3, 4)),
    said("qos.pfc", "fail", "no lossless priority", name="lossy", qos=LOSSY),
    said("qos.pfc", "pass", "PFC off", name="lossy-off", qos=LOSSY, pfc=()),
    said("qos.pause", "pass"),
    said("qos.pause", "fail", "global pause on (rx)", "ethtool -A enp1s0", pause_rx=True),
    # Autonegotiation alone pauses nothing.
    said("qos.pause", "pass", name="autoneg", pause_autoneg=True),
    said("qos.cable", "pass"),
    said("qos.cable", "fail", "too small", cable_length_m=3),
    said("qos.cable", "fail", "larger", name="long", cable_length_m=100),
    said("qos.buffers", "pass"),
    said("qos.buffers", "fail", "priority 3 is in buffer 2, which has no room", prio_buffer=(0, 0, 0, 2, 0, 0, 0, 0)),
    said("qos.buffers", "fail", "larger than the NIC's memory", name="total", buffer_total=1000),
    said("qos.buffers", "fail", "resized", name="size", qos=SIZED, buffer_size=(130944, 65536, 0, 0, 0, 0, 0, 0)),
    said("qos.buffers", "fail", "other buffers", name="owner", qos=SIZED, prio_buffer=(0,) * 8),
    said("qos.buffers", "pass", name="set", qos=SIZED),
    # Only the lossless priority has room.
    said("qos.buffers", "fail", "priority 0 is in buffer 0, which has no room, and 1, 2, 4, 5, 6, 7 have none either",
         name="lossy-room", qos=replace(QOS, buffer_size=NO_LOSSY), buffer_size=NO_LOSSY),
    said("qos.buffers", "fail", "room for priority 7", name="lossy-profile", qos=LOSSY, pfc=(), prio_buffer=(
        0, 0, 0, 1, 0, 0, 0, 5,
    )),
    # 131008 bytes are 1023 cells of 128, and a half; 131200 would be 1025.
    said("qos.buffers", "pass", name="cells", qos=sized(131008)),
    said("qos.buffers", "fail", "resized", name="cell", qos=sized(131200)),
    said("qos.ecn", "pass"),
    said("qos.ecn", "fail", "receiver (roce_np) off", "no CNP", ecn_np=()),
    said("qos.ecn", "fail", "sender (roce_rp) off", "does not slow down", name="sender", ecn_rp=(4,)),
    said("qos.ecn", "pass", name="all", ecn_np=tuple(range(8)), ecn_rp=tuple(range(8))),
    said("qos.ecn", "warn", "profile pfc has no DCQCN", name="none", qos=NO_DCQCN, ecn_np=()),
    said("qos.ecn", "pass", name="none", qos=NO_DCQCN, ecn_np=(2,), ecn_rp=()),
    said("qos.cnp", "pass"),
    said("qos.cnp", "fail", "lossless class", cnp_priority=3),
    said("qos.cnp", "fail", "np_cnp_prio_mode 1", "lossless class", name="mode", dcqcn={"np_cnp_prio_mode": 1}),
    said("qos.cnp", "pass", name="fixed", dcqcn={"np_cnp_prio_mode": 0}),
    said("qos.cnp", "fail", "another marking", name="dscp", cnp_dscp=4),
    said("qos.dcqcn", "pass", qos=replace(QOS, dcqcn={"np_min_time_between_cnps": 4})),
    said("qos.dcqcn", "fail", "np_min_time_between_cnps 4", qos=replace(QOS, dcqcn={"np_min_time_between_cnps": 0})),
    said("qos.dcqcn", "fail", "the driver has no rp_gd", name="absent", qos=replace(QOS, dcqcn={"rp_gd": 11})),
    said("qos.tos", "pass", "106"),
    said("qos.tos", "fail", "ToS 104", "ECT(0) is missing", port={"cm_tos": 104}),
    said("qos.tos", "fail", "nobody set it", "DSCP 0", name="never", port={"cm_tos": None, "cm_mode": None}),
    said("qos.tos", "fail", "without the shift", name="shift", port={"cm_tos": 26}),
    said("qos.tos", "fail", "ECN bits are 11", name="ce", port={"cm_tos": 107}),
    # Without DCQCN the same 104 is right.
    said("qos.tos", "pass", name="pfc", qos=LOSSY, pfc=(), port={"cm_tos": 104}),
    said("qos.tos", "unknown", "permission denied", have=unread(
        facts(port={"cm_tos": None, "cm_mode": None}),
        Unread("/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "permission denied", "mlx5_0"),
    )),
    said("qos.cm_mode", "pass"),
    said("qos.cm_mode", "fail", "IB/RoCE v1", "no DSCP", port={"cm_mode": "IB/RoCE v1"}),
    said("qos.traffic_class", "pass", port={"traffic_class": 106}),
    said("qos.traffic_class", "fail", "DSCP 59", "contradicts", port={"traffic_class": 236}),
    said("qos.lldpad", "pass", rail=None),
    said("qos.lldpad", "pass", "not running", rail=None, name="off", services=(AGENT, Service("lldpad", "inactive"))),
    said("qos.lldpad", "fail", "lldpad is active", rail=None, services=(AGENT, Service("lldpad", "active"))),
    said("qos.lldpad", "unknown", rail=None, services=(AGENT, Service("lldpad"))),
    # lldpd speaks plain LLDP.
    said("qos.lldpad", "pass", rail=None, name="lldpd", services=(AGENT, Service("lldpd", "active"))),
    said("qos.agent", "pass", rail=None),
    # It ran at boot and is still active: only that it will not run again is wrong.
    said("qos.agent", "fail", "disabled", "vanish", rail=None, services=(replace(AGENT, enabled=False),)),
    said("qos.agent", "fail", "not installed", rail=None, name="absent", services=()),
    said("qos.agent", "unknown", rail=None, services=(replace(AGENT, enabled=None),)),
    said("qos.agent", "unknown", rail=None, name="unread", have=unread(
        replace(facts(), services=None), Unread("systemctl", "did not return", "services")
    )),
]  # fmt: skip


def bonded(**port):
    """Both ports in one rail, and what ``port`` changes of the second's RDMA device."""
    want = intent()
    ports = tuple(port for rail in want.rails for port in rail.ports)
    node = replace(want, rails=(replace(want.rails[0], ports=ports, bond=Bond("active-backup")),))
    return node, facts(rail=1, port=port)


SECOND = [
    ("qos.tos", {"cm_tos": 0}, "mlx5_1 ToS 0 (DSCP 0)"),
    ("qos.tos", {"cm_tos": None, "cm_mode": None}, "mlx5_1 has no default ToS"),
    ("qos.cm_mode", {"cm_mode": "IB/RoCE v1"}, "mlx5_1 IB/RoCE v1"),
    ("qos.traffic_class", {"traffic_class": 0}, "mlx5_1 0 (DSCP 0)"),
]


@pytest.mark.parametrize(("rule", "port", "found"), SECOND)
def test_each_rdma_device_of_a_bond_is_judged(rule, port, found):
    (finding,) = judged(rule, *bonded(**port))
    assert (finding.state, finding.found, finding.device) == ("fail", found, "mlx5_1")


def test_both_rdma_devices_of_a_bond_are_right():
    node, have = bonded(traffic_class=106)
    said = [judged(rule, node, have)[0] for rule in ("qos.tos", "qos.cm_mode", "qos.traffic_class")]
    assert [(finding.state, finding.found) for finding in said] == [
        ("pass", "mlx5_0 ToS 106, mlx5_1 ToS 106"),
        ("pass", "mlx5_0 RoCE v2, mlx5_1 RoCE v2"),
        ("pass", "mlx5_1 106"),
    ]


def test_what_is_unknown_of_one_device_hides_no_fault_of_the_other():
    node, have = bonded(cm_tos=None)
    told = Unread("/sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_tos", "permission denied", "mlx5_1")
    assert judged("qos.tos", node, unread(have, told))[0].state == "unknown"
    wrong = unread(nodes.port(have, 0, cm_tos=0), told)
    assert judged("qos.tos", node, wrong)[0].found == "mlx5_0 ToS 0 (DSCP 0)"


@pytest.mark.parametrize(("rule", "state", "rail", "node", "facts", "words"), ROWS)
def test_rule(rule, state, rail, node, facts, words):
    check(rule, state, rail, node, facts, words)


def roots_of(have, want=None):
    want = want or intent()
    return [finding.key for finding in roots(judge_node("node1", want, want, have))]


def test_a_healthy_node_has_no_findings():
    want = intent()
    assert [f.key for f in judge_node("node1", want, want, facts()) if f.state != "pass"] == []


def test_a_rail_without_qos_is_asked_nothing():
    want = nodes.intent(soft=False)
    assert not [f for f in judge_node("node1", want, want, facts(pfc=(), trust="pcp")) if f.rule.startswith("qos.")]


def test_inbox_drivers_have_no_ecn_by_priority():
    have = facts(ecn_np=None, ecn_rp=None, offers=("dcb", "cc_params"))
    want = intent()
    findings = judge_node("node1", want, want, have)
    assert verdict(findings) == "pass"
    assert [f.rule for f in findings if f.rule == "qos.ecn" and f.rail == "rail0"] == []


def test_a_lossy_rail_needs_no_settings():
    bare = replace(facts(port={"cm_tos": 104}), qos=tuple(QosState(f"enp{n}s0") for n in (1, 2)))
    assert judged("qos.readable", intent(qos=LOSSY), bare)[0].state == "pass"
    assert judged("qos.readable", intent(qos=LOSSY), unread(bare, BLIND))[0].state == "unknown"


def test_nothing_is_passed_by_a_node_of_which_nothing_was_read():
    bare = replace(facts(), qos=tuple(QosState(f"enp{n}s0") for n in (1, 2)))
    passed = [f.rule for f in judge_node("node1", intent(), intent(), bare) if f.state == "pass" and f.rail == "rail0"]
    assert [rule for rule in passed if rule.startswith("qos.")] == ["qos.tos", "qos.cm_mode"]


DRIFT = {"pfc": (), "share": (100, *SHARE[1:3], 0, *SHARE[4:]), "dscp_prio": ((26, 0), (48, 6)), "trust": "pcp"}
LLDPAD = (AGENT, Service("lldpad", "active"))
FAULTS = {
    "PFC off": ({"pfc": ()}, ["qos.pfc@node1/rail0"]),
    "PFC on another priority": ({"pfc": (4,)}, ["qos.pfc@node1/rail0"]),
    "trust pcp": ({"trust": "pcp"}, ["qos.trust@node1/rail0"]),
    # mlx5 without a map trusts PCP: that is one setting.
    "trust pcp and no map": ({"trust": "pcp", "dscp_prio": ()}, ["qos.trust@node1/rail0"]),
    "DSCP map off by one": ({"dscp_prio": ((27, 3), (48, 6))}, ["qos.dscp_map@node1/rail0"]),
    "ECN off": ({"ecn_np": (), "ecn_rp": ()}, ["qos.ecn@node1/rail0"]),
    "CNP in the lossless class": ({"cnp_priority": 3}, ["qos.cnp@node1/rail0"]),
    "global pause on": (
        {"pause_rx": True, "pause_tx": True, "prio_buffer": (1,) * 8, "buffer_size": (9000, *(0,) * 7)},
        ["qos.pause@node1/rail0"],
    ),
    "firmware owns DCBX": ({"dcbx": (), **DRIFT}, ["qos.dcbx@node1/rail0"]),
    "lldpad runs": ({"services": LLDPAD, **DRIFT}, ["qos.lldpad@node1/-"]),
    "ETS 60/60": ({"share": (60, 0, 0, 60, 0, 0, 0, 0)}, ["qos.ets@node1/rail0"]),
    "ToS 104": ({"port": {"cm_tos": 104}}, ["qos.tos@node1/rail0"]),
    "agent disabled": ({"services": (replace(AGENT, enabled=False),)}, ["qos.agent@node1/-"]),
    # Two faults are two roots.
    "two": ({"pfc": (), "port": {"cm_tos": 104}}, ["qos.pfc@node1/rail0", "qos.tos@node1/rail0"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_is_one_root(name):
    changes, keys = FAULTS[name]
    assert roots_of(facts(**changes)) == keys


def test_willing_excuses_no_fail():
    assert roots_of(facts(willing=True, pfc=())) == ["qos.pfc@node1/rail0", "qos.dcbx@node1/rail0"]


def test_a_bond_is_judged_leg_by_leg():
    from tests.unit.verify.test_links import BONDED, bonded

    want = nodes.intent(soft=False)
    want = replace(want, rails=(replace(want.rails[0], **BONDED, qos=QOS), want.rails[1]))
    legs = (lossless.state(), replace(lossless.state(), netdev="enp3s0", pfc=()))
    have = replace(bonded(), qos=legs, services=(AGENT,))
    (found,) = judged("qos.pfc", want, have)
    assert (found.state, found.device) == ("fail", "enp3s0")


def test_a_locked_kernel_may_leave_congestion_control_to_the_firmware():
    want = intent(qos=replace(QOS, lockdown="firmware"))
    assert judged("qos.readable", want, locked("integrity"))[0].state == "pass"
    assert judged("qos.readable", want, locked("none"))[0].state == "unknown"
