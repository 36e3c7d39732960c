# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless settings of netdevs, from what the kernel and the drivers' files say."""

from __future__ import annotations

import errno
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import decode, encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts, QosState
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe

from tests.unit import dcb, trees

NIC, PCI, HCA = "enp24s0np0", "0000:18:00.0", "mlx5_0"
GOOD = dcb.Dcb()


@pytest.fixture
def node(tmp_path):
    return trees.node(tmp_path, [replace(trees.rail_nics()[0], gid_table=8)])


def facts(root):
    return probe(RecordedPort(str(root)))


def state(root):
    found = facts(root)
    assert found.unread == ()
    (only,) = found.qos
    return only


def test_a_nic_without_any_is_told_as_such(node):
    assert state(node) == QosState(NIC)


def test_the_kernels_own_driver(node):
    dcb.record(node, NIC, dcb.Dcb(received=(0, 0, 0, 17, 0, 0, 0, 0)), dcb.pause(rx=True))
    dcb.cc_params(node, PCI)
    found = state(node)
    assert found == QosState(
        NIC,
        dcbx=("host", "ieee"),
        willing=False,
        trust="dscp",
        dscp_prio=((26, 3), (48, 6)),
        prio_tc=GOOD.prio_tc,
        tsa=GOOD.tsa,
        share=GOOD.share,
        tcs=8,
        pfc=(3,),
        pfc_classes=8,
        cable_length_m=7,
        buffer_size=GOOD.buffer_size,
        prio_buffer=GOOD.prio_buffer,
        buffer_total=1027728,
        pause_rx=True,
        pause_tx=False,
        pause_autoneg=False,
        cnp_dscp=48,
        cnp_priority=6,
        dcqcn={"np_cnp_prio_mode": 0, "np_min_time_between_cnps": 4, "rp_ai_rate": 5},
        pfc_sent=(0,) * 8,
        pfc_received=(0, 0, 0, 17, 0, 0, 0, 0),
        offers=("dcb", "cc_params"),
    )
    assert decode(NodeFacts, encode(facts(node))).qos == (found,)


def test_the_driver_of_ofed(node):
    dcb.record(node, NIC, dcb.Dcb(apps=(), buffer_size=None))
    dcb.ofed(node, NIC, ecn=(3, 5))
    found = state(node)
    assert found.offers == ("dcb", "qos_sysfs", "ecn_sysfs")
    assert (found.trust, found.ecn_np, found.ecn_rp) == ("dscp", (3, 5), (3, 5))
    assert len(found.dscp_prio) == 64
    assert {(26, 3), (48, 6)} <= set(found.dscp_prio)
    assert (found.cnp_dscp, found.cnp_priority) == (48, 6)
    assert found.dcqcn == {"min_time_between_cnps": 4, **dcb.REACTION}
    assert (found.buffer_size, found.buffer_total) == ((130944, 130944, 0, 0, 0, 0, 0, 0), 1027728)
    assert found.prio_buffer == (0, 0, 0, 1, 0, 0, 0, 0)


def test_what_ofed_does_counts_not_what_dcbnl_was_asked_for(node):
    dcb.record(node, NIC)
    dcb.ofed(node, NIC, trust="pcp")
    assert state(node).trust == "pcp"
    (node / "sys/class/net" / NIC / "qos/trust").write_text("nothing known\n")
    found = facts(node)
    assert found.qos[0].trust is None
    assert [(entry.subject, entry.source) for entry in found.unread] == [(NIC, f"/sys/class/net/{NIC}/qos/trust")]


@pytest.mark.parametrize(("changes", "expected"), [({"dcbx": ()}, ()), ({"dcbx": None}, None)])
def test_firmware_owned_is_not_the_same_as_unknown(node, changes, expected):
    dcb.record(node, NIC, replace(GOOD, **changes))
    assert state(node).dcbx == expected


def test_trust(node):
    for apps, order, expected in (
        ((), None, "pcp"),
        (GOOD.apps, (255, 5), "pcp"),
        ((), (5,), "dscp"),
        ((), (1,), None),
    ):
        dcb.record(node, NIC, replace(GOOD, apps=apps, order=order))
        assert state(node).trust == expected


def test_a_dscp_may_be_there_twice(node):
    dcb.record(node, NIC, replace(GOOD, apps=((48, 6), (26, 3), (26, 4))))
    assert state(node).dscp_prio == ((26, 3), (26, 4), (48, 6))


def test_the_delay_is_a_cable_only_where_buffers_are_sized_by_it(node):
    dcb.record(node, NIC, replace(GOOD, buffer_size=None, delay=0))
    assert (state(node).cable_length_m, state(node).buffer_size) == (None, None)


def test_what_the_kernel_refuses_is_unread(node):
    dcb.record(node, NIC, errno.EPERM, errno.EIO)
    found = facts(node)
    assert found.qos == (QosState(NIC),)
    assert [(entry.subject, entry.reason) for entry in found.unread] == [
        (NIC, "Operation not permitted"),
        (NIC, "Input/output error"),
    ]


@pytest.mark.parametrize("paused", [b"", dcb.pause()[:8], dcb.pause() + b"\0"])
def test_a_cut_answer_is_unread(node, paused):
    dcb.record(node, NIC, GOOD.message(NIC)[:-9], paused)
    found = facts(node)
    assert found.qos == (QosState(NIC),)
    assert [entry.subject for entry in found.unread] == [NIC, NIC]


def test_management_is_left_alone(node):
    dcb.record(node, "eno1")
    assert [entry.netdev for entry in facts(node).qos] == [NIC]


def test_a_kernel_in_lockdown_hides_parameters(node, monkeypatch):
    trees.Tree(node).file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n")
    dcb.cc_params(node, PCI)
    for file in (node / "sys/kernel/debug/mlx5" / PCI / "cc_params").iterdir():
        file.write_bytes(b"")
    found = facts(node)
    assert found.system.lockdown == "integrity"
    assert (found.qos[0].offers, found.qos[0].cnp_dscp, found.qos[0].dcqcn) == ((), None, None)
    (note,) = found.unread
    assert (note.subject, note.source) == (NIC, f"/sys/kernel/debug/mlx5/{PCI}/cc_params")
    assert note.reason.endswith("and 4 more")


def test_one_parameter_that_is_damaged(node):
    dcb.cc_params(node, PCI, np_cnp_dscp="forty-eight")
    found = facts(node)
    assert (found.qos[0].cnp_dscp, found.qos[0].cnp_priority) == (None, 6)
    assert len(found.unread) == 1


def test_a_switch_of_a_priority_that_is_not_there(node):
    dcb.ofed(node, NIC)
    (node / "sys/class/net" / NIC / "ecn/roce_np/enable/3").unlink()
    found = facts(node)
    assert (found.qos[0].ecn_np, found.qos[0].ecn_rp) == (None, (3,))
    assert [entry.subject for entry in found.unread] == [NIC]


@pytest.mark.parametrize(
    ("driver", "folder", "offers"),
    [
        ("bnxt_en", "sys/kernel/config/bnxt_re", ("bnxt_cc",)),
        ("ice", "sys/kernel/config/irdma", ("irdma_cc",)),
        ("mlx5_core", "sys/kernel/config/bnxt_re", ()),
    ],
)
def test_drivers_that_take_congestion_control_through_configfs(tmp_path, driver, folder, offers):
    root = trees.node(tmp_path, [replace(trees.rail_nics()[0], gid_table=8, driver=driver)])
    (root / folder).mkdir(parents=True)
    assert state(root).offers == offers


def test_broadcoms_own_files(tmp_path):
    root = trees.node(tmp_path, [replace(trees.rail_nics()[0], gid_table=8, driver="bnxt_en")])
    for name, value in (("enable_cc", 1), ("tos_ecn", 1), ("cc_mode", 1)):
        trees.Tree(root).file(f"/sys/kernel/debug/bnxt_re/{PCI}/cc_config/{name}", f"{value}\n")
    found = state(root)
    assert (found.offers, found.dcqcn) == (("bnxt_cc",), {"cc_mode": 1, "enable_cc": 1, "tos_ecn": 1})


def port(root):
    found = facts(root)
    assert found.unread == ()
    return found.rdma[0].ports[0]


def test_the_connection_manager(node):
    assert (port(node).cm_tos, port(node).cm_mode, port(node).traffic_class) == (None, None, None)
    dcb.rdma_cm(node, HCA)
    trees.Tree(node).file(f"/sys/class/infiniband/{HCA}/tc/1/traffic_class", "Global tclass=106\n")
    assert (port(node).cm_tos, port(node).cm_mode, port(node).traffic_class) == (106, "RoCE v2", 106)
    trees.Tree(node).file(f"/sys/class/infiniband/{HCA}/tc/1/traffic_class", "")
    assert port(node).traffic_class == -1


def test_a_folder_of_the_connection_manager_that_tells_nothing(node):
    (node / "sys/kernel/config/rdma_cm" / HCA).mkdir(parents=True)
    found = facts(node)
    assert found.rdma[0].ports[0].cm_tos is None
    assert [entry.subject for entry in found.unread] == [HCA, HCA]
