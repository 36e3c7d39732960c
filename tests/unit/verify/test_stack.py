# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Storage modules, services and their limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts, Service, Unread

from tests.unit.verify import nodes
from tests.unit.verify.rows import check, judged, row, wanted

HARD = nodes.facts(soft=False)
MODULES = ("rdma_rxe", "rdma_ucm")


def loaded(*names):
    return replace(HARD, modules=(*MODULES, *names))


def running(*services, unread=()):
    return replace(HARD, services=services, unread=unread)


def node(**changes):
    return nodes.intent(soft=False, **changes)


LIMITED = Unread("/proc/7/limits", "permission denied", "slurmd")

ROWS = [
    row("stack.ulps", "pass", HARD, rail=None),
    row("stack.ulps", "warn", loaded("ib_iser", "ib_srpt"), "ib_iser, ib_srpt", "modprobe -r", rail=None),
    row("stack.ulps", "pass", loaded("nvme_rdma"), rail=None, name="used", node=node(storage_ulps=("nvme_rdma",))),
    # One that is used is no permission for another.
    row("stack.ulps", "warn", loaded("nvmet_rdma"), rail=None, name="other", node=node(storage_ulps=("nvme_rdma",))),
    # NFS over RDMA is one module with three names.
    row("stack.ulps", "pass", loaded("rpcrdma"), rail=None, name="alias", node=node(storage_ulps=("xprtrdma",))),
    row("stack.ulps", "warn", loaded("rpcrdma"), "rpcrdma", rail=None, name="nfs"),
    row("stack.ulps", "pass", loaded("ib_iser2", "ib_core"), rail=None, name="like"),
    row("stack.ulps", "unknown", replace(HARD, modules=None), rail=None),
    row("stack.service_limits", "pass", running(Service("slurmd", "active", -1)), rail=None),
    row(
        "stack.service_limits", "fail", running(Service("slurmd", "active", 8388608)), "slurmd 8388608 bytes", rail=None
    ),
    # One good one does not make up for a bad one.
    row(
        "stack.service_limits",
        "fail",
        running(Service("docker", "active", -1), Service("kubelet", "active", 65536)),
        "kubelet",
        rail=None,
        name="one-of-two",
    ),
    # Kbytes in the intent, bytes in the facts.
    row(
        "stack.service_limits",
        "pass",
        running(Service("slurmd", "active", 64 * 1024)),
        rail=None,
        name="enough",
        node=node(memlock="64"),
    ),
    row(
        "stack.service_limits",
        "fail",
        running(Service("slurmd", "active", 64)),
        rail=None,
        name="units",
        node=node(memlock="64"),
    ),
    row(
        "stack.service_limits", "unknown", running(Service("slurmd", "active"), unread=(LIMITED,)), "denied", rail=None
    ),
    row(
        "stack.services",
        "pass",
        running(Service("slurmd", "inactive"), Service("railwright-apply", "active")),
        rail=None,
    ),
    row(
        "stack.services", "fail", running(Service("railwright-apply", "failed")), "journalctl -u railwright", rail=None
    ),
    row(
        "stack.services",
        "fail",
        running(Service("slurmd", "failed"), Service("openibd", "failed")),
        rail=None,
        name="two",
    ),
    # Not the fabric's, but worth a word.
    row("stack.services", "warn", running(Service("slurmd", "failed")), "slurmd failed", rail=None),
    row("stack.services", "unknown", running(Service("railwright-apply", None)), rail=None),
]


@pytest.mark.parametrize(("rule", "state", "rail", "node", "facts", "words"), ROWS)
def test_rule(rule, state, rail, node, facts, words):
    check(rule, state, rail, node, facts, words)


@pytest.mark.parametrize("rule", ["stack.services", "stack.service_limits"])
def test_services_that_nobody_looked_at_are_no_finding_and_unread_ones_unknown(rule):
    assert judged(rule, wanted(), NodeFacts()) == []
    unread = replace(HARD, unread=(Unread("systemctl", "did not return", "services"),))
    assert [item.state for item in judged(rule, wanted(), unread)] == ["unknown"]


def test_a_service_that_does_not_run_has_no_limit():
    assert judged("stack.service_limits", wanted(), running(Service("slurmd", "inactive"))) == []
