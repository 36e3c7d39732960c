# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Renaming what is in use: order, intermediate names, and what older kernels need."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev, RdmaDevice
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.names import NetdevName, RdmaName
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.renames import rename_netdevs, rename_rdma

NEW, OLD = "6.2.0-26-generic", "6.1.0-18-amd64"


def names(*pairs, **changes):
    netdevs = [Netdev(now, 1 + at, admin_up=True, **changes) for at, (now, _) in enumerate(pairs)]
    return [NetdevName(f"r{at}", new, netdevs[at], ()) for at, (_, new) in enumerate(pairs)], netdevs


def moves(steps):
    return [(step.before, step.after) for step in steps]


def commands(steps):
    return [" ".join(action.argv) for step in steps for action in step.actions]


def test_on_a_kernel_that_renames_links_that_are_up():
    steps = rename_netdevs(*names(("ens4", "rail0"), ("rail1", "rail1")), NEW)
    assert [str(step) for step in steps] == [
        "r0: name of netdev ens4 ens4 -> rail0 [programs that know it by its name lose it]"
    ]
    assert commands(steps) == ["ip link set dev ens4 name rail0"]


@pytest.mark.parametrize("kernel", [OLD, "5.14.0-427.el9.x86_64", None, "", "unknown", "6"])
def test_on_one_that_does_not_the_link_goes_down(kernel):
    steps = rename_netdevs(*names(("ens4", "rail0")), kernel)
    assert commands(steps) == [
        "ip link set dev ens4 down",
        "ip link set dev ens4 name rail0",
        "ip link set dev rail0 up",
    ]
    assert steps[0].disruptive == "the link goes down for it: connections over it break"


def test_a_link_that_is_down_stays_down():
    found, netdevs = names(("ens4", "rail0"))
    netdevs = [Netdev("ens4", 3, admin_up=False)]
    found = [NetdevName("r0", "rail0", netdevs[0], ())]
    assert commands(rename_netdevs(found, netdevs, OLD)) == ["ip link set dev ens4 name rail0"]


@pytest.mark.parametrize("kernel", ["6.10.1", "7.0", "10.1.2"])
def test_versions_are_numbers(kernel):
    assert len(commands(rename_netdevs(*names(("ens4", "rail0")), kernel))) == 1


def test_its_own_other_name_goes_first():
    steps = rename_netdevs(*names(("ens4", "rail0"), altnames=("rail0", "enp4s0")), NEW)
    assert commands(steps) == [
        "ip link property del dev ens4 altname rail0",
        "ip link set dev ens4 name rail0",
    ]


def test_who_gives_up_a_name_goes_first():
    assert moves(rename_netdevs(*names(("a", "b"), ("b", "c"), ("c", "d")), NEW)) == [
        ("c", "d"),
        ("b", "c"),
        ("a", "b"),
    ]


def test_two_that_change_places():
    assert moves(rename_netdevs(*names(("a", "b"), ("b", "a")), NEW)) == [("a", "rwtmp0"), ("b", "a"), ("rwtmp0", "b")]


def test_after_an_interrupted_change_of_places():
    assert moves(rename_netdevs(*names(("rwtmp0", "b"), ("b", "a")), NEW)) == [("b", "a"), ("rwtmp0", "b")]


@pytest.mark.parametrize("wanted", list(itertools.permutations("abcd")))
def test_every_permutation_comes_out_right(wanted):
    steps = rename_netdevs(*names(*zip("abcd", wanted)), NEW)
    state = {name: name for name in "abcd"}  # name now -> the device, called after its first name
    for old, new in moves(steps):
        assert new not in state
        state[new] = state.pop(old)
    assert state == {new: old for old, new in zip("abcd", wanted)}


def test_rdma_devices():
    devices = [RdmaDevice("mlx5_0"), RdmaDevice("mlx5_1")]
    wanted = [
        RdmaName("r0", "rdma_r0", devices[0], ""),
        RdmaName("r1", "mlx5_1", devices[1], ""),
        RdmaName("r2", "rdma_r2", None, ""),
    ]
    steps = rename_rdma(wanted, ("mlx5_0", "mlx5_1"))
    assert commands(steps) == ["rdma dev set mlx5_0 name rdma_r0"]
    assert steps[0].disruptive
