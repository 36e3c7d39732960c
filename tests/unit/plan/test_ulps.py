# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Modules of RDMA storage: kept out unless the site uses them, and SELinux labels of what is written."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import apply_stack
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.ulps import BLACKLIST, plan_ulps
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.derive import STORAGE_ULPS

from tests.unit.apply.simulated import Clock, SimulatedNode, intent, rail

GOLDEN = """\
# Managed by Railwright (role rdma_stack): the next run undoes what is changed here.
# Modules of RDMA storage that the fabric spec does not name (storage_ulps) are not loaded at boot: a loaded one
# keeps the driver stack from being exchanged. modprobe NAME still loads one.
blacklist ib_iser
blacklist ib_isert
blacklist ib_srp
blacklist ib_srpt
blacklist nvmet_rdma
"""


def plan(*ulps, modules=(), files=None):
    return plan_ulps(intent(storage_ulps=ulps), NodeFacts(modules=modules), files or {})


@pytest.mark.parametrize("nfs", ["rpcrdma", "xprtrdma", "svcrdma"])
def test_golden_and_nfs_is_one_module(nfs):
    step, notes = plan("nvme_rdma", nfs)
    assert [(action.path, action.text) for action in step.actions] == [(BLACKLIST, GOLDEN)]
    assert notes == []
    assert plan("nvme_rdma", nfs, files={BLACKLIST: GOLDEN}) == (None, [])


def test_all_of_them_are_wanted():
    assert plan(*STORAGE_ULPS) == (None, [])
    step, _ = plan(*STORAGE_ULPS, files={BLACKLIST: GOLDEN})
    assert [action.path for action in step.actions] == [BLACKLIST]


def test_what_is_loaded_is_named_and_stays():
    _, notes = plan("ib_iser", modules=("ib_iser", "rpcrdma", "ib_uverbs"))
    assert notes == ["kernel: module rpcrdma is loaded and not in storage_ulps; it stays until the next boot"]


def test_wanted_ones_are_loaded_now_and_at_boot():
    node = SimulatedNode()
    wanted = intent(rail(0), storage_ulps=("nvme_rdma", "xprtrdma"))
    steps = [str(step) for step in apply_stack(node, wanted, timer=Clock().timer)[0].steps]
    assert "boot: modules (none) -> ib_uverbs, rdma_rxe, rdma_ucm, nvme_rdma, rpcrdma" in steps
    assert [call for call in node.calls if call.startswith("modprobe")][-2:] == [
        "modprobe nvme_rdma",
        "modprobe rpcrdma",
    ]
    node.forget()
    assert apply_stack(node, wanted, timer=Clock().timer)[0].steps == ()
    assert node.changes == []


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("tool", [True, False])
def test_labels_are_set_where_selinux_is_enabled(enabled, tool):
    node = SimulatedNode()
    node.files.update({"/sys/fs/selinux/enforce": b"1"} if enabled else {})
    node.files.update({"/usr/sbin/restorecon": b""} if tool else {})
    node.tools["restorecon"] = ""
    apply_stack(node, intent(rail(0)), timer=Clock().timer)
    labelled = [call for call in node.calls if call.startswith("restorecon")]
    expected = "/etc/modules-load.d/railwright-rdma.conf /etc/modprobe.d/railwright-storage.conf"
    assert labelled == (
        [f"restorecon -i {expected} /etc/security/limits.d/railwright-memlock.conf"] if enabled and tool else []
    )
    node.forget()
    apply_stack(node, intent(rail(0)), timer=Clock().timer)
    assert node.changes == []
