# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Service
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe

from tests.unit import trees

SHOW = ["systemctl", "show", "--property=Id,ActiveState"]


@pytest.fixture
def node(tmp_path):
    return trees.Tree(trees.soft_roce(tmp_path))


def facts(node):
    return probe(RecordedPort(str(node.root)))


def found(node):
    facts = probe(RecordedPort(str(node.root)))
    assert facts.unread == ()
    return {service.name: service for service in facts.services}


def test_what_runs_and_what_it_may_lock(node):
    trees.service(node, "slurmd", 812, memlock="65536")
    assert found(node) == {
        "containerd": Service("containerd", "active", -1),
        "kubelet": Service("kubelet", "active", -1),
        "railwright-apply": Service("railwright-apply", "active", enabled=False),
        "slurmd": Service("slurmd", "active", 65536),
        "sshd": Service("sshd", "active", -1),
    }


def test_whether_the_agent_starts_at_boot(node):
    """One that ran at boot is active whether it will run again or not."""
    assert found(node)["railwright-apply"] == Service("railwright-apply", "active", enabled=False)
    node.file("/etc/systemd/system/multi-user.target.wants/railwright-apply.service", "")
    assert found(node)["railwright-apply"] == Service("railwright-apply", "active", enabled=True)
    assert found(node)["kubelet"].enabled is None


@pytest.mark.parametrize("place", ["unified/", "systemd/"])
def test_other_places_of_control_groups(node, place):
    group = node.root / "sys/fs/cgroup"
    (group / place).mkdir()
    (group / "system.slice").rename(group / place / "system.slice")
    assert found(node)["sshd"] == Service("sshd", "active", -1)


def test_shims_that_outlived_a_restart_are_not_the_service(node):
    trees.service(node, "containerd", 90, process="containerd-shim", memlock="65536")
    trees.service(node, "containerd", 4711)
    node.file("/sys/fs/cgroup/system.slice/containerd.service/cgroup.procs", "5000\n90\n4711\n")
    assert found(node)["containerd"].memlock == -1
    node.file("/proc/4711/comm", "somebody-else\n")
    told = facts(node)
    assert {service.name: service.memlock for service in told.services}["containerd"] is None
    assert [(entry.subject, entry.reason) for entry in told.unread] == [
        ("containerd", "none of its 3 processes is containerd")
    ]


def test_a_group_of_its_own_below_the_unit(node):
    node.file("/sys/fs/cgroup/system.slice/kubelet.service/cgroup.procs", "")
    node.file("/sys/fs/cgroup/system.slice/kubelet.service/memory.max", "max\n")
    node.file("/sys/fs/cgroup/system.slice/kubelet.service/supervisor/cgroup.procs", "702\n")
    assert found(node)["kubelet"].memlock == -1


def test_installed_and_not_meant_to_run_takes_no_process(node):
    node.file("/usr/lib/systemd/system/opensm.service", "[Service]\n")
    assert found(node)["opensm"] == Service("opensm", "inactive")


def test_an_alias_and_a_masked_unit_are_no_units(node):
    node.file("/usr/lib/systemd/system/sshd.service", "[Service]\n")
    node.link("/etc/systemd/system/ssh.service", "/usr/lib/systemd/system/sshd.service")
    node.file("/dev/null", "")
    node.link("/etc/systemd/system/docker.service", "/dev/null")
    node.file("/usr/lib/systemd/system/docker.service", "[Service]\n")
    assert not {"ssh", "docker"} & set(found(node))


def test_what_should_run_and_does_not_is_asked_for(node):
    (node.root / "run/systemd/units/invocation:railwright-apply.service").unlink()
    for unit in ("railwright-apply", "openibd"):
        node.file(f"/etc/systemd/system/{unit}.service", "[Service]\n")
        node.link(f"/etc/systemd/system/multi-user.target.wants/{unit}.service", f"/etc/systemd/system/{unit}.service")
    argv = [*SHOW, "openibd.service", "railwright-apply.service"]
    out = "Id=openibd.service\nActiveState=inactive\n\nId=railwright-apply.service\nActiveState=failed\n"
    trees.edit_command(node.root, argv, out=out)
    assert found(node)["railwright-apply"] == Service("railwright-apply", "failed", enabled=True)
    assert found(node)["openibd"] == Service("openibd", "inactive")
    trees.hang(node.root, argv)
    told = facts(node)
    assert {service.name: service.state for service in told.services}["railwright-apply"] is None
    assert [entry.subject for entry in told.unread] == ["services"]


def test_at_work(node):
    node.file("/sys/fs/cgroup/system.slice/railwright-apply.service/cgroup.procs", "812\n")
    assert found(node)["railwright-apply"].state == "activating"


def test_no_systemd_no_services(node):
    (node.root / "run/systemd/units").rename(node.root / "run/systemd/elsewhere")
    told = facts(node)
    assert (told.services, told.unread) == (None, ())


@pytest.mark.parametrize("text", ["", "Max locked memory         lots    lots   bytes\n", "Max locked memory 8 8\n"])
def test_a_limit_that_cannot_be_understood(node, text):
    node.file("/proc/701/limits", text)
    told = facts(node)
    assert {service.name: service.memlock for service in told.services}["slurmd"] is None
    assert [(entry.subject, entry.source) for entry in told.unread] == [("slurmd", "/proc/701/limits")]


def test_lldpad_and_the_socket_that_starts_it(node):
    for unit in ("lldpad.service", "lldpad.socket"):
        node.file(f"/usr/lib/systemd/system/{unit}", "")
    assert (found(node)["lldpad"].state, found(node)["lldpad.socket"].state) == ("inactive", "inactive")
    node.file("/run/systemd/units/invocation:lldpad.socket", "")
    assert (found(node)["lldpad"].state, found(node)["lldpad.socket"].state) == ("inactive", "active")


def test_a_slice_of_the_sites_own(node):
    group = node.root / "sys/fs/cgroup"
    (group / "runtime.slice").mkdir()
    (group / "system.slice/kubelet.service").rename(group / "runtime.slice/kubelet.service")
    assert found(node)["kubelet"] == Service("kubelet", "active", -1)


def test_a_service_whose_processes_are_nowhere_is_not_passed_over(node):
    (node.root / "sys/fs/cgroup/system.slice/slurmd.service/cgroup.procs").unlink()
    told = facts(node)
    assert {service.name: service.memlock for service in told.services}["slurmd"] is None
    assert [(entry.subject, entry.reason) for entry in told.unread] == [
        ("slurmd", "it runs, and its processes were not found")
    ]
