# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of lossless settings: what differs and nothing else, by each driver's interface, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ReadError, RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Unread
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond, TrafficClass
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.plan import Run
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.qos import (
    RELEASED,
    NodeQos,
    plan_qos,
    read_qos,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.qos_absent import plan_absent

from tests.unit.fakes import FakePort
from tests.unit.verify import lossless, nodes

TOOLS = NodeQos(tools=("dcb", "mlnx_qos"))
DCB = ("dcb",)
INBOX = ("dcb", "cc_params")
OFED = ("dcb", "qos_sysfs", "ecn_sysfs")
CLASSES = {"prio_tc": (1, 0, 2, 3, 4, 5, 6, 7), "tsa": ("vendor",) * 8, "share": (100,) * 8}
# A mlx5 as its driver is loaded (kernel mlx5/core/en_dcbnl.c).
FRESH = {
    "trust": "pcp",
    "dscp_prio": (),
    **CLASSES,
    "pfc": (),
    "pause_rx": True,
    "pause_tx": True,
    "pause_autoneg": False,
}


def planned(node=TOOLS, qos=lossless.QOS, offers=INBOX, have=None, **changes):
    """Plan for a node whose rail0 has these settings; its second rail is as it should be. None may be refused."""
    facts = have or lossless.facts(offers=offers, **changes)
    facts = replace(facts, qos=tuple(replace(state, offers=offers) for state in facts.qos or ()))
    plan = plan_qos(lossless.intent(qos=qos), facts, node)
    if plan.refused:
        raise RefusedError(plan.trouble)
    return plan


def texts(plan):
    return [str(step) for step in plan.steps]


def done(plan):
    """What the actions do, in one line each."""
    return [act(action) for step in plan.steps for action in step.actions]


def act(action):
    return " ".join(action.argv) if isinstance(action, Run) else f"{action.path} = {action.text}"


@pytest.mark.parametrize("offers", [DCB, INBOX, OFED, ("qos_sysfs", "ecn_sysfs")])
def test_nothing_to_do(offers):
    plan = planned(offers=offers)
    assert plan.steps == ()


def test_nothing_without_qos():
    assert plan_qos(nodes.intent(), nodes.facts(), NodeQos()).steps == ()


def test_a_fresh_inbox_mlx5():
    plan = planned(**FRESH, cable_length_m=5, cnp_dscp=0, cnp_priority=0)
    assert texts(plan) == [
        "rail0: global pause rx and tx -> off",
        "rail0: trust pcp -> dscp",
        "rail0: DSCP 26 (none) -> priority 3",
        "rail0: DSCP 48 (none) -> priority 6",
        "rail0: traffic class by priority 1 0 2 3 4 5 6 7 -> 0 0 0 3 0 0 6 0",
        "rail0: ETS TC 0 vendor, TC 3 vendor, TC 6 vendor -> TC 0 50 %, TC 3 50 %, TC 6 strict",
        "rail0: PFC none -> priority 3 [the link flaps]",
        "rail0: cable length 5 m -> 7 m",
        "rail0: DSCP of CNPs 0 -> 48",
        "rail0: priority of CNPs 0 -> 6",
    ]
    assert done(plan) == [
        "ethtool -A enp1s0 rx off tx off",
        "dcb app replace dev enp1s0 dscp-prio 26:3",
        "dcb app replace dev enp1s0 dscp-prio 48:6",
        "dcb ets set dev enp1s0 tc-tsa 0:ets 1:strict 2:strict 3:ets 4:strict 5:strict 6:strict 7:strict "
        "tc-bw 0:50 1:0 2:0 3:50 4:0 5:0 6:0 7:0 prio-tc 0:0 1:0 2:0 3:3 4:0 5:0 6:6 7:0",
        "dcb pfc set dev enp1s0 prio-pfc all:off 3:on delay 7",
        "/sys/kernel/debug/mlx5/0000:01:00.0/cc_params/np_cnp_dscp = 48",
        "/sys/kernel/debug/mlx5/0000:01:00.0/cc_params/np_cnp_prio = 6",
    ]
    assert [step.setting for step in plan.steps if step.disruptive] == ["PFC"]


# Mellanox/mlnx-tools, python/mlnx_qos: "%d %d " into dscp2prio, "%1d," of eight into the buffers' files.
def test_a_fresh_ofed_mlx5():
    ecn = {"ecn_np": (), "ecn_rp": (0,), "cnp_dscp": 0}
    # Priorities 0 to 6, the last for 48 to 63: others are among the CNPs, and none among the data.
    table = tuple((dscp, min(dscp >> 3, 2) if dscp < 48 else 6) for dscp in range(64))
    fresh = {**FRESH, "dscp_prio": table, **ecn}
    plan = planned(offers=OFED, **fresh)
    files = [line for line in done(plan) if line.startswith("/sys/class/net")]
    assert files == [
        "/sys/class/net/enp1s0/qos/trust = dscp",
        "/sys/class/net/enp1s0/qos/dscp2prio = 26 3 ",
        *(f"/sys/class/net/enp1s0/qos/dscp2prio = {dscp} 0 " for dscp in range(49, 64)),
        "/sys/class/net/enp1s0/ecn/roce_np/enable/3 = 1",
        "/sys/class/net/enp1s0/ecn/roce_rp/enable/3 = 1",
        "/sys/class/net/enp1s0/ecn/roce_np/cnp_dscp = 48",
    ]
    assert "rail0: DSCP 26 priority 2 -> priority 3" in texts(plan)
    assert "rail0: other DSCPs of priority 6 49-63 -> (none)" in texts(plan)
    assert "dcb pfc set dev enp1s0 prio-pfc all:off 3:on delay 7" in done(plan)
    by_tool = done(planned(node=NodeQos(("mlnx_qos",)), offers=OFED, **fresh))
    assert "mlnx_qos -i enp1s0 -f 0,0,0,1,0,0,0,0 --cable_len 7" in by_tool
    assert (
        "mlnx_qos -i enp1s0 -s ets,strict,strict,ets,strict,strict,strict,strict "
        "-t 50,0,0,50,0,0,0,0 -p 0,0,0,3,0,0,6,0" in by_tool
    )


def test_the_providers_can_be_named():
    want = replace(lossless.QOS, provider="mlnx_qos")
    assert done(planned(qos=want, offers=OFED, pfc=()))[0].startswith("mlnx_qos -i enp1s0 -f 0,0,0,1,")
    want = replace(lossless.QOS, provider="dcb")
    assert done(planned(qos=want, offers=OFED, trust="pcp")) == [
        # OFED lists a map that is not trusted: it is told anew, and the first DSCP turns trust over.
        "dcb app replace dev enp1s0 dscp-prio 26:3",
        "dcb app replace dev enp1s0 dscp-prio 48:6",
    ]


@pytest.mark.parametrize(
    ("changes", "text", "action"),
    [
        (
            {"pfc": (4,)},
            "PFC priority 4 -> priority 3 [the link flaps]",
            "dcb pfc set dev enp1s0 prio-pfc all:off 3:on",
        ),
        ({"pfc": (3, 4)}, "PFC priorities 3 and 4 -> priority 3 [the link flaps]", "dcb pfc set dev enp1s0 prio-pfc"),
        ({"cable_length_m": 30}, "cable length 30 m -> 7 m", "dcb pfc set dev enp1s0 prio-pfc all:off 3:on delay 7"),
        ({"dscp_prio": ((26, 2), (48, 6))}, "DSCP 26 priority 2 -> priority 3", "dcb app replace dev enp1s0 dscp-prio"),
        (
            {"dscp_prio": ((26, 2), (26, 3), (48, 6))},
            "DSCP 26 priority 2 and priority 3 -> priority 3",
            "dcb app replace dev enp1s0 dscp-prio 26:3",
        ),
        (
            {"dscp_prio": ((25, 1), (48, 6))},
            "DSCP 26 (none) -> priority 3",
            "dcb app replace dev enp1s0 dscp-prio 26:3",
        ),
        (
            {"prio_tc": (0,) * 8},
            "traffic class by priority 0 0 0 0 0 0 0 0 -> 0 0 0 3 0 0 6 0",
            "dcb ets set dev enp1s0",
        ),
        (
            {"share": (60, 0, 0, 40, 0, 0, 0, 0)},
            "ETS TC 0 60 %, TC 3 40 %, TC 6 strict -> TC 0 50 %, TC 3 50 %, TC 6 strict",
            "dcb ets set dev enp1s0 tc-tsa",
        ),
        ({"willing": True}, "adopts the peer's ETS (willing) yes -> no", "dcb ets set dev enp1s0 willing off tc-tsa"),
        ({"pause_rx": True}, "global pause rx -> off", "ethtool -A enp1s0 rx off tx off"),
        (
            {"pause_tx": True, "pause_autoneg": True},
            "global pause tx -> off",
            "ethtool -A enp1s0 autoneg off rx off tx off",
        ),
        ({"cnp_dscp": 26}, "DSCP of CNPs 26 -> 48", "/sys/kernel/debug/mlx5/0000:01:00.0/cc_params/np_cnp_dscp = 48"),
        (
            {"dcqcn": {"np_cnp_prio_mode": 1}},
            "priority of CNPs (none) -> 6",
            "/sys/kernel/debug/mlx5/0000:01:00.0/cc_params/np_cnp_prio = 6",
        ),
        ({"trust": "pcp"}, "trust pcp -> dscp", "dcb apptrust set dev enp1s0 order dscp pcp"),
    ],
)
def test_drift_in_one_setting_is_one_step(changes, text, action):
    plan = planned(**changes)
    assert texts(plan) == [f"rail0: {text}"]
    assert len(done(plan)) == 1
    assert done(plan)[0].startswith(action)


def test_other_dscps_lead_neither_to_the_data_nor_to_the_cnps():
    """As those do that OFED's driver begins with, and the data's own before the spec named another."""
    inbox = planned(dscp_prio=((8, 1), (20, 3), (21, 3), (26, 3), (34, 4), (48, 6), (50, 6)))
    assert texts(inbox) == [
        "rail0: other DSCPs of priority 3 20-21 -> (none)",
        "rail0: other DSCPs of priority 6 50 -> (none)",
    ]
    assert done(inbox) == [f"dcb app del dev enp1s0 dscp-prio {pair}" for pair in ("20:3", "21:3", "50:6")]
    assert [act(action) for action in inbox.steps[0].undo] == [
        "dcb app replace dev enp1s0 dscp-prio 20:3",
        "dcb app replace dev enp1s0 dscp-prio 21:3",
    ]
    moved = planned(qos=replace(lossless.QOS, data_dscp=34, tos=138), port={"cm_tos": 138}, have=both({}), offers=INBOX)
    assert texts(moved)[:2] == ["rail0: DSCP 34 (none) -> priority 3", "rail0: other DSCPs of priority 3 26 -> (none)"]
    # The OFED driver lists every code point: one that is to lead nowhere leads to priority 0.
    ofed = {"dscp_prio": ((24, 3), (26, 3), (48, 6)), "offers": OFED}
    assert done(planned(**ofed)) == ["/sys/class/net/enp1s0/qos/dscp2prio = 24 0 "]
    by_dcb = planned(qos=replace(lossless.QOS, provider="dcb"), **ofed)
    assert done(by_dcb) == ["dcb app replace dev enp1s0 dscp-prio 24:0"]
    # A second lossless class is the site's own: only the data's and the CNPs' are kept free.
    more = replace(lossless.QOS, pfc=(3, 4))
    assert planned(qos=more, have=both({"pfc": (3, 4), "dscp_prio": ((26, 3), (34, 4), (48, 6))})).steps == ()


def test_a_profile_without_dcqcn_has_it_off_for_the_data():
    want = replace(lossless.QOS, profile="pfc", ecn=(), cnp_dscp=None, cnp_priority=None)
    plan = planned(qos=want, have=both({"ecn_np": tuple(range(8)), "ecn_rp": (2,)}), offers=OFED)
    assert [line for line in texts(plan) if line.startswith("rail0")] == [
        "rail0: ECN notification point of priority 3 on -> off"
    ]
    assert done(plan)[0] == "/sys/class/net/enp1s0/ecn/roce_np/enable/3 = 0"
    assert act(plan.steps[0].undo[0]) == "/sys/class/net/enp1s0/ecn/roce_np/enable/3 = 1"
    assert planned(qos=want, have=both({"ecn_np": (0, 1), "ecn_rp": ()}), offers=OFED).steps == ()


def test_the_mode_of_cnps_has_its_way_back():
    plan = planned(dcqcn={"np_cnp_prio_mode": 1}, cnp_priority=2)
    assert [act(action) for action in plan.steps[0].undo] == [
        "/sys/kernel/debug/mlx5/0000:01:00.0/cc_params/np_cnp_prio = 2",
        "/sys/kernel/debug/mlx5/0000:01:00.0/cc_params/np_cnp_prio_mode = 1",
    ]


def test_mlnx_qos_cannot_make_a_nic_unwilling():
    alone = NodeQos(("mlnx_qos",))
    plan = planned(node=alone, offers=OFED, willing=True)
    assert plan.steps == ()
    assert plan.notes[0].startswith("rail0: enp1s0 adopts the peer's ETS (willing)")
    assert planned(node=alone, offers=OFED).notes == ()


def test_one_port_of_a_bond_is_set_without_the_other():
    """One is not there: the other is set. One is refused: the other is set, and the rail is refused."""
    wanted, have = bonded(), lossless.facts(pfc=())
    gone = replace(have, netdevs=have.netdevs[:1], pci=have.pci[:1])
    plan = plan_qos(wanted, gone, TOOLS)
    assert "rail0: PFC of enp1s0 none -> priority 3 [the link flaps]" in texts(plan)
    assert (plan.refused, len(plan.notes)) == ({}, 1)
    half = replace(have, qos=tuple(replace(state, offers=DCB) for state in have.qos[:1]))
    plan = plan_qos(wanted, half, TOOLS)
    assert "rail0: PFC of enp1s0 none -> priority 3 [the link flaps]" in texts(plan)
    assert "the lossless settings of enp2s0 could not be read" in plan.refused["rail0"]


def bonded():
    """Both ports in one rail."""
    want = lossless.intent()
    ports = tuple(port for rail in want.rails for port in rail.ports)
    return replace(want, rails=(replace(want.rails[0], ports=ports, bond=Bond("active-backup")),))


def test_an_unused_class_with_a_share_is_no_longer_ets():
    tsa = ("ets", "ets", *lossless.TSA[2:])
    plan = planned(tsa=tsa, share=(40, 10, 0, 50, 0, 0, 0, 0))
    assert texts(plan) == [
        "rail0: ETS TC 0 40 %, TC 1 10 %, TC 3 50 %, TC 6 strict -> TC 0 50 %, TC 1 strict, TC 3 50 %, TC 6 strict"
    ]
    # What a class that is not ets shows for its share says nothing: mlx5 shows 100.
    assert planned(share=(50, 100, 100, 50, 100, 100, 100, 100)).steps == ()


def test_parameters_and_buffers():
    size, owner = (65536, 131072, 0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0, 0, 0)
    want = replace(lossless.QOS, dcqcn={"rp_ai_rate": 10}, buffer_size=size, prio_buffer=owner)
    plan = planned(qos=want, have=both({"dcqcn": {"rp_ai_rate": 5}}))
    assert texts(plan)[:2] == [
        "rail0: receive buffers 130944 130944 0 0 0 0 0 0 -> 65536 131072 0 0 0 0 0 0",
        "rail0: DCQCN rp_ai_rate 5 -> 10",
    ]
    assert done(plan)[0] == "dcb buffer set dev enp1s0 buffer-size 0:65536 1:131072 2:0 3:0 4:0 5:0 6:0 7:0"
    ofed = planned(qos=want, offers=OFED, have=both({"dcqcn": {"rpg_ai_rate": 5}, "prio_buffer": (0,) * 8}))
    assert done(ofed)[:3] == [
        "/sys/class/net/enp1s0/qos/prio2buffer = 0,0,0,1,0,0,0,0,",
        "/sys/class/net/enp1s0/qos/buffer_size = 65536,131072,0,0,0,0,0,0,",
        "/sys/class/net/enp1s0/ecn/roce_rp/rpg_ai_rate = 10",
    ]


def both(changes):
    """Facts in which both rails have these settings."""
    facts = lossless.facts()
    return replace(facts, qos=tuple(replace(state, **changes) for state in facts.qos))


def test_what_rdma_sends():
    # No configfs folder: nobody has set it. The folder is made, and goes again with a roll back.
    plan = planned(port={"cm_tos": None, "cm_mode": None, "traffic_class": -1})
    assert texts(plan) == [
        "rail0: RDMA-CM ToS of mlx5_0 (none) -> 106 (DSCP 26, ECT(0))",
        "rail0: RDMA-CM GID type of mlx5_0 (none) -> RoCE v2",
        "rail0: traffic class of mlx5_0 (none) -> 106",
    ]
    assert done(plan) == [
        "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0",
        "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos = 106",
        "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode = RoCE v2",
        "/sys/class/infiniband/mlx5_0/tc/1/traffic_class = 106",
    ]
    assert [act(action) for action in plan.steps[0].undo] == [
        "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos = 0",
        "rmdir /sys/kernel/config/rdma_cm/mlx5_0",
    ]
    assert texts(planned(port={"cm_tos": 104, "cm_mode": "RoCE v2"})) == [
        "rail0: RDMA-CM ToS of mlx5_0 104 -> 106 (DSCP 26, ECT(0))"
    ]
    assert planned(port={"traffic_class": 106}).steps == ()


def test_each_step_knows_its_way_back():
    plan = planned(**FRESH, cable_length_m=5, cnp_dscp=0, cnp_priority=0)
    back = {step.setting: [act(action) for action in step.undo] for step in plan.steps if step.actions}
    assert back["global pause"] == ["ethtool -A enp1s0 rx on tx on"]
    assert back["DSCP 26"] == ["dcb app del dev enp1s0 dscp-prio 26:3"]
    assert back["traffic class by priority"][0].endswith(
        "tc-bw 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0 prio-tc 0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7"
    )
    assert back["PFC"] == ["dcb pfc set dev enp1s0 prio-pfc all:off delay 5"]
    assert back["DSCP of CNPs"] == ["/sys/kernel/debug/mlx5/0000:01:00.0/cc_params/np_cnp_dscp = 0"]
    assert all(step.undo for step in plan.steps if step.actions)


def test_all_rails_in_one_plan_and_each_link_flaps_once():
    facts = lossless.facts(offers=INBOX)
    facts = replace(facts, qos=tuple(replace(state, pfc=(), cable_length_m=5) for state in facts.qos))
    plan = planned(have=facts)
    assert [step.subject for step in plan.steps if step.disruptive] == ["rail0", "rail1"]
    assert [line.split()[4] for line in done(plan)] == ["enp1s0", "enp2s0"]


FIRMWARE = {"dcbx": (), "willing": True}


def test_firmware_that_owns_dcbx():
    with pytest.raises(RefusedError) as caught:
        planned(**FIRMWARE)
    assert "rail rail0: the firmware of enp1s0 owns DCBX, and is willing: it takes over" in str(caught.value)
    assert "firmware_dcbx: take" in str(caught.value)
    take = replace(lossless.QOS, firmware_dcbx="take")
    plan = planned(qos=take, **FIRMWARE)
    assert texts(plan)[0] == "rail0: DCBX owned by firmware -> owned by the host"
    assert done(plan)[0] == "dcb dcbx set dev enp1s0 host ieee"
    assert (
        done(planned(qos=replace(take, provider="mlnx_qos"), offers=OFED, **FIRMWARE))[0] == "mlnx_qos -i enp1s0 -d os"
    )


def driven(driver, **changes):
    return nodes.netdev(lossless.facts(**changes), driver=driver)


# Classes without gaps, worked out by hand: 0 for the rest, 1 for the data, 2 for CNPs.
E810_CLASSES = (
    TrafficClass(1, (3,), "ets", 50),
    TrafficClass(2, (6,), "strict"),
    TrafficClass(0, (0, 1, 2, 4, 5, 7), "ets", 50),
)
E810 = replace(lossless.QOS, traffic_classes=E810_CLASSES)
E810_AS_IT_SHOULD_BE = {
    "prio_tc": (0, 0, 0, 1, 0, 0, 2, 0),
    "tsa": ("ets", "ets", *("strict",) * 6),
    "share": (50, 50, 0, 0, 0, 0, 0, 0),
}


def test_firmware_of_intel_and_broadcom():
    take = replace(lossless.QOS, firmware_dcbx="take")
    owned = {"dcbx": ("lld_managed", "ieee")}
    intel = driven("ice", **E810_AS_IT_SHOULD_BE, **owned)
    plan = planned(qos=replace(E810, firmware_dcbx="take"), have=intel, offers=DCB)
    # The second rail, which has classes with gaps, is another NIC's.
    plan = replace(plan, steps=tuple(step for step in plan.steps if step.subject == "rail0"))
    assert done(plan) == ["ethtool --set-priv-flags enp1s0 fw-lldp-agent off"]
    with pytest.raises(RefusedError, match="its driver does not hand it over"):
        planned(qos=take, have=driven("bnxt_en", **owned), offers=DCB)


def test_ice_stops_traffic_for_new_classes():
    plan = planned(qos=E810, have=driven("ice", **{**E810_AS_IT_SHOULD_BE, "prio_tc": (0,) * 8}), offers=DCB)
    stops = [step.disruptive for step in plan.steps if step.subject == "rail0"]
    assert stops == ["the driver stops traffic while it changes its classes"]


@pytest.mark.parametrize(("driver", "stops"), [("ice", True), ("bnxt_en", True), ("mlx5_core", False)])
def test_the_defaults_again_stop_traffic_where_new_classes_do(driver, stops):
    states = tuple(replace(state, pfc=()) for state in driven(driver).qos)
    plan = plan_absent(lossless.intent(), replace(driven(driver), qos=states), TOOLS)
    classes = [step for step in plan.steps if step.setting == "traffic classes"]
    assert classes
    assert all(bool(step.disruptive) is stops for step in classes if step.subject == "rail0")


def test_lldpad():
    running = replace(TOOLS, lldpad=("lldpad.service",))
    with pytest.raises(RefusedError, match=r"lldpad runs.*lldpad: stop"):
        planned(node=running)
    plan = planned(node=running, qos=replace(lossless.QOS, lldpad="stop"))
    assert texts(plan) == ["lldpad: service running -> stopped and disabled"]
    assert done(plan) == ["systemctl disable --now lldpad.socket", "systemctl disable --now lldpad.service"]


@pytest.mark.parametrize("mode", ["integrity", "confidentiality"])
def test_lockdown(mode):
    facts = lossless.facts(cnp_dscp=None, cnp_priority=None, dcqcn=None)
    facts = replace(facts, system=replace(facts.system, lockdown=mode))
    with pytest.raises(RefusedError) as caught:
        planned(have=facts, offers=DCB)
    # priority 3 alone is bit 3: 8
    assert "CNP_DSCP_P1=48 CNP_802P_PRIO_P1=6 ROCE_CC_PRIO_MASK_P1=8" in str(caught.value)
    assert "DOCA-OFED" in str(caught.value)
    left = planned(have=facts, offers=DCB, qos=replace(lossless.QOS, lockdown="firmware"))
    assert left.steps == ()
    assert left.notes[0].startswith("rail0: DCQCN of enp1s0 is left to its firmware, because kernel lockdown")
    with pytest.raises(RefusedError, match="the DCQCN parameters of enp1s0 cannot be set"):
        planned(have=facts, offers=DCB, qos=replace(lossless.QOS, lockdown="firmware", dcqcn={"rp_gd": 1}))
    # The OFED driver's files are open.
    assert planned(have=replace(facts, qos=lossless.facts().qos), offers=OFED).steps == ()


def test_congestion_control_of_others():
    want = replace(lossless.QOS, cnp_priority=7)
    inbox = planned(have=driven("bnxt_en", dcqcn={"enable_cc": 0, "tos_ecn": 1}), offers=("dcb", "bnxt_cc"), qos=want)
    assert "/sys/kernel/debug/bnxt_re/0000:01:00.0/cc_config/enable_cc = 1" in done(inbox)
    silent = planned(have=driven("bnxt_en", dcqcn=None), offers=("dcb", "bnxt_cc"))
    assert "bnxt_setupcc.sh -m 3 -s 26 -r 3 -p 48 -c 6" in silent.notes[0]
    assert "roce_dcqcn_enable" in planned(qos=E810, have=driven("ice"), offers=("dcb", "irdma_cc")).notes[0]


ONE = (0, 0, 0, 1, 0, 0, 0, 0)
ROOMLESS = [
    # What the spec names, and what the NIC has of the other half.
    ({"prio_buffer": (0, 0, 0, 5, 0, 0, 0, 0)}, {}, "priority 3: the receive buffers would be 130944 130944 0"),
    ({"prio_buffer": (5, 0, 0, 1, 0, 0, 0, 0)}, {}, "no room for priority 0"),
    ({"buffer_size": (0, 131072, 0, 0, 0, 0, 0, 0)}, {}, "priorities 0 and 1 and 2 and 4 and 5 and 6 and 7"),
    ({"buffer_size": (131072, 0, 0, 0, 0, 0, 0, 0)}, {}, "priority 3: .* 131072 0 0 0 0 0 0 0, .* 0 0 0 1 0 0 0 0"),
    # It is there already: a change of nothing is no reason to call it right.
    (
        {"buffer_size": (0, 131072, 0, 0, 0, 0, 0, 0)},
        {"buffer_size": (0, 131072, 0, 0, 0, 0, 0, 0)},
        r"Write both size and priority into buffers",
    ),
    # Less than a cell is nothing, as the NIC tells afterwards.
    (
        {"buffer_size": (64, 131072, 0, 0, 0, 0, 0, 0), "prio_buffer": ONE},
        {"buffer_size": (0, 131072, 0, 0, 0, 0, 0, 0)},
        "no room for priorities 0",
    ),
    ({"buffer_size": (0, 131072, 0, 0, 0, 0, 0, 0), "prio_buffer": ONE}, FRESH, "no room for priorities 0"),
]


@pytest.mark.parametrize(("want", "have", "words"), ROOMLESS)
def test_no_priority_is_given_a_buffer_without_room(want, have, words):
    with pytest.raises(RefusedError, match=words):
        planned(qos=replace(lossless.QOS, **want), **have)


def test_what_the_driver_will_share_anew_is_not_held_against_the_spec():
    """Without PFC all is in buffer 0; that the lossless priority goes to buffer 1 gives it room there."""
    want = replace(lossless.QOS, prio_buffer=ONE)
    plan = planned(qos=want, **FRESH, buffer_size=(261888, 0, 0, 0, 0, 0, 0, 0), prio_buffer=(0,) * 8)
    assert "rail0: receive buffer by priority 0 0 0 0 0 0 0 0 -> 0 0 0 1 0 0 0 0" in texts(plan)


def test_nothing_is_asked_of_buffers_that_the_spec_leaves_to_the_driver():
    assert planned(buffer_size=(0, 131072, 0, 0, 0, 0, 0, 0)).steps == ()


def test_sizes_that_the_nic_cut_down_to_its_cells_are_set():
    """131008 bytes are 1023 cells of 128, and a half (kernel mlx5/core/en/port_buffer.c)."""
    want = replace(lossless.QOS, buffer_size=(131008, 130944, 0, 0, 0, 0, 0, 0))
    assert planned(qos=want).steps == ()
    assert texts(planned(qos=want, buffer_size=(130560, 130944, 0, 0, 0, 0, 0, 0))) == [
        "rail0: receive buffers 130560 130944 0 0 0 0 0 0 -> 131008 130944 0 0 0 0 0 0"
    ]
    owner = planned(qos=replace(want, prio_buffer=ONE), prio_buffer=(0,) * 8)
    assert done(owner) == ["dcb buffer set dev enp1s0 prio-buffer 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:0"]


def test_what_a_nic_cannot_do():
    with pytest.raises(RefusedError, match=r"enp1s0 \(driver mlx5_core\) offers no DCB"):
        planned(offers=())
    assert (
        planned(offers=(), qos=lossless.LOSSY, port={"cm_tos": 104, "cm_mode": "RoCE v2"}).notes[0].startswith("rail0")
    )
    with pytest.raises(RefusedError, match=r"the tool dcb is not installed\. Install iproute2"):
        planned(node=NodeQos())
    with pytest.raises(RefusedError, match="provider mlnx_qos needs the driver of MLNX_OFED"):
        planned(qos=replace(lossless.QOS, provider="mlnx_qos"))
    with pytest.raises(RefusedError, match=r"enp1s0 has 4 traffic classes, and class 6 is wanted.*numbers 0 to 3"):
        planned(tcs=4, prio_tc=(0,) * 8)
    with pytest.raises(RefusedError, match="enp1s0 can keep 1 priorities lossless, and 2 are wanted"):
        planned(pfc_classes=1, qos=replace(lossless.QOS, pfc=(3, 4)))
    with pytest.raises(RefusedError, match="enp1s0 has no PFC: its driver mlx5_core does not offer it"):
        planned(pfc=None)
    big = replace(lossless.QOS, buffer_size=(9999999, 0, 0, 0, 0, 0, 0, 0))
    with pytest.raises(RefusedError, match="enp1s0 has 1027728 bytes of receive buffers, and 9999999 are wanted"):
        planned(qos=big)
    with pytest.raises(RefusedError, match="enp1s0 has no receive buffers that could be set"):
        planned(qos=big, buffer_size=None, prio_buffer=None)


def test_whether_lldpad_runs_must_be_known():
    node = FakePort({"/run/systemd/units/invocation:lldpad.service": b""})
    assert read_qos(node).lldpad == ("lldpad.service",)

    class Broken(FakePort):
        def listdir(self, path):
            raise ReadError("Input/output error", path)

    with pytest.raises(ReadError, match="/run/systemd/units: Input/output error"):
        read_qos(Broken())
    # No systemd, no units.
    assert read_qos(FakePort({})).lldpad == ()


def test_what_could_not_be_read_is_not_planned():
    facts = replace(lossless.facts(pfc=None), unread=(Unread("DCB of enp1s0", "is cut", "enp1s0"),))
    with pytest.raises(RefusedError, match="DCB of enp1s0: is cut: PFC of enp1s0 could not be read"):
        planned(have=facts)
    with pytest.raises(RefusedError, match="the lossless settings of enp1s0 could not be read"):
        planned(have=replace(lossless.facts(), qos=None))


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"trust": None}, "trust"), ({"ecn_np": None}, "ECN notification point"), ({"ecn_rp": None}, "ECN")],
)
def test_a_setting_that_nobody_could_read_is_no_reason_to_be_content(changes, word):
    told = replace(lossless.facts(**changes), unread=(Unread("/sys/class/net/enp1s0", "input/output error", "enp1s0"),))
    with pytest.raises(RefusedError, match=f"input/output error: {word}.* of enp1s0 could not be read"):
        planned(offers=OFED, have=told)
    with pytest.raises(RefusedError, match=f"enp1s0 has no {word}"):
        planned(offers=OFED, have=lossless.facts(**changes))


def test_management_is_never_touched():
    with pytest.raises(RefusedError, match="enp1s0 carries the node's management"):
        planned(have=replace(lossless.facts(pfc=()), management=("enp1s0",)))


def test_a_rail_without_hardware_is_left_alone():
    have = lossless.facts(pfc=())
    have = replace(have, pci=have.pci[1:], netdevs=have.netdevs[1:], rdma=have.rdma[1:])
    plan = planned(have=have)
    assert (plan.steps, plan.notes) == (
        (),
        ("rail0: left alone, because no NIC with PCI address 0000:01:00.0 on this node",),
    )


def test_a_bond_is_set_port_by_port():
    want = lossless.intent()
    first, second = want.rails
    bonded = replace(first, ports=(*first.ports, *second.ports))
    facts = lossless.facts()
    facts = replace(facts, qos=tuple(replace(state, pfc=(), offers=INBOX) for state in facts.qos))
    plan = plan_qos(replace(want, rails=(bonded,)), facts, TOOLS)
    assert texts(plan) == [
        "rail0: PFC of enp1s0 none -> priority 3 [the link flaps]",
        "rail0: PFC of enp2s0 none -> priority 3 [the link flaps]",
    ]


def test_devices_that_an_earlier_step_makes_are_foreseen_in_check_mode_only():
    intent, facts = lossless.intent(soft=True), lossless.facts(soft=True)
    facts = replace(facts, rdma=facts.rdma[1:], qos=tuple(replace(state, offers=INBOX) for state in facts.qos))
    foreseen = plan_qos(intent, facts, TOOLS, predict=True)
    assert texts(foreseen) == [
        "rail0: RDMA-CM ToS of rxe_rail0 (none) -> 106 (DSCP 26, ECT(0)) [after: soft RoCE device]",
        "rail0: RDMA-CM GID type of rxe_rail0 (none) -> RoCE v2 [after: soft RoCE device]",
    ]
    assert (done(foreseen), foreseen.notes) == ([], ())
    taken = plan_qos(intent, facts, TOOLS)
    assert taken.steps == ()
    assert taken.notes == ("rail0: RDMA-CM is left alone, because the rail's RDMA device is not there",)


def test_reading_the_node():
    port = FakePort({"/usr/sbin/dcb": "", "/run/systemd/units/invocation:lldpad.socket": "", RELEASED: ""})
    assert read_qos(port) == NodeQos(("dcb",), ("lldpad.socket",), True)
    assert read_qos(FakePort()) == NodeQos()


def test_given_back_and_taken_again():
    plan = plan_absent(lossless.intent(), replace(lossless.facts(), qos=states(INBOX)), TOOLS)
    assert texts(plan) == [
        "agent: lossless settings kept -> given back",
        "rail0: trust dscp, 3 DSCPs -> pcp",
        "rail0: traffic classes set -> the driver's default",
        "rail0: PFC priority 3 -> none [the link flaps]",
        "rail0: RDMA-CM ToS of mlx5_0 106 -> (none)",
        "rail1: trust dscp, 3 DSCPs -> pcp",
        "rail1: traffic classes set -> the driver's default",
        "rail1: PFC priority 3 -> none [the link flaps]",
        "rail1: RDMA-CM ToS of mlx5_1 106 -> (none)",
    ]
    assert done(plan)[1:4] == [
        "dcb app flush dev enp1s0 dscp-prio",
        "dcb ets set dev enp1s0 tc-tsa 0:vendor 1:vendor 2:vendor 3:vendor 4:vendor 5:vendor 6:vendor 7:vendor "
        "tc-bw 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0 prio-tc 0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7",
        "dcb pfc set dev enp1s0 prio-pfc all:off",
    ]
    assert plan.notes == ("the fabric spec has qos still, and rules find fault until it is taken out",)
    assert texts(planned(node=replace(TOOLS, released=True)))[0] == "agent: lossless settings given back -> kept"


def states(offers, **changes):
    return tuple(lossless.state(index, offers=offers, **changes) for index in range(nodes.RAILS))


def test_nothing_to_give_back():
    bare = {"trust": "pcp", "dscp_prio": (), "pfc": (), **CLASSES}
    facts = replace(nodes.facts(soft=False), qos=states(INBOX, **bare))
    plan = plan_absent(nodes.intent(soft=False), facts, replace(TOOLS, released=True))
    assert (plan.steps, plan.notes) == ((), ())


def test_ofed_gets_its_own_map_back():
    table = {**{dscp: dscp >> 3 for dscp in range(64)}, 24: 0, 26: 3, 34: 3}
    facts = replace(lossless.facts(), qos=states(OFED, dscp_prio=tuple(table.items())))
    plan = plan_absent(lossless.intent(), facts, TOOLS)
    assert texts(plan)[1] == "rail0: DSCPs 24 34 set -> the driver's default"
    assert done(plan)[1:4] == [
        "/sys/class/net/enp1s0/qos/dscp2prio = 24 3 ",
        "/sys/class/net/enp1s0/qos/dscp2prio = 34 4 ",
        "/sys/class/net/enp1s0/qos/trust = pcp",
    ]
    assert [act(action) for action in plan.steps[1].undo] == [
        "/sys/class/net/enp1s0/qos/dscp2prio = 24 0 ",
        "/sys/class/net/enp1s0/qos/dscp2prio = 34 3 ",
    ]


def test_a_nic_that_its_firmware_owns_gives_nothing_back_and_is_named():
    facts = replace(lossless.facts(), qos=(lossless.state(0, dcbx=()), lossless.state(1)))
    plan = plan_absent(lossless.intent(), facts, TOOLS)
    assert not any("enp1s0" in line for line in done(plan))
    assert plan.notes[0] == "rail0: enp1s0 is left alone, because its firmware owns the settings"


def test_intel_gives_back_one_class():
    facts = replace(driven("ice"), qos=states(DCB))
    lines = done(plan_absent(lossless.intent(), facts, TOOLS))
    assert lines[2].endswith("tc-bw 0:100 1:0 2:0 3:0 4:0 5:0 6:0 7:0 prio-tc 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0")


def test_two_lossless_priorities():
    classes = (TrafficClass(3, (3,), "ets", 33), TrafficClass(4, (4,), "ets", 33))
    rest = TrafficClass(0, (0, 1, 2, 5, 6, 7), "ets", 34)
    want = replace(lossless.QOS, pfc=(3, 4), traffic_classes=(*classes, rest))
    assert "rail0: PFC none -> priorities 3 and 4 [the link flaps]" in texts(planned(qos=want, pfc=()))
