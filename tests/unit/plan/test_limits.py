# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The memory lock limit of services: which units get a drop-in, what a running service is told, what is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import apply_stack
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.limits import (
    INFINITY,
    ServiceLimit,
    Services,
    drop_in,
    plan_services,
    read_services,
)

from tests.unit.apply.simulated import Clock, SimulatedNode, intent, rail
from tests.unit.fakes import FakePort

SLURMD = drop_in("slurmd")
GOLDEN = """\
# Managed by Railwright (role rdma_stack): the next run undoes what is changed here.
[Service]
LimitMEMLOCK=infinity
"""
LOW = 8388608.0


def plan(*services, files=None, restart=False, **changes):
    return plan_services(intent(**changes), Services(services), files or {}, restart)


def test_golden():
    steps, settle, notes = plan(ServiceLimit("slurmd", LOW))
    assert [str(step) for step in steps] == ["slurmd: memlock limit (none) -> unlimited"]
    assert [(action.path, action.text) for action in steps[0].actions] == [(SLURMD, GOLDEN)]
    assert [action.argv for action in settle] == [("systemctl", "daemon-reload")]
    assert notes == []
    assert SLURMD == "/etc/systemd/system/slurmd.service.d/50-railwright-memlock.conf"


def test_a_limit_in_kbytes_is_written_in_bytes():
    steps, _, _ = plan(ServiceLimit("kubelet", LOW), memlock="67108864")
    assert steps[0].actions[0].text.endswith("\nLimitMEMLOCK=68719476736\n")
    assert steps[0].after == "68719476736 bytes"


@pytest.mark.parametrize(("configured", "memlock"), [(INFINITY, "unlimited"), (INFINITY, "8192"), (LOW, "8192")])
def test_a_unit_that_grants_enough_gets_no_file(configured, memlock):
    assert plan(ServiceLimit("slurmd", configured, configured), memlock=memlock) == ([], [], [])


def test_what_is_written_and_in_force_is_left_alone():
    assert plan(ServiceLimit("slurmd", INFINITY, INFINITY), files={SLURMD: GOLDEN}) == ([], [], [])


def test_our_file_follows_the_intent():
    steps, _, _ = plan(ServiceLimit("slurmd", INFINITY), files={SLURMD: GOLDEN}, memlock="8192")
    assert steps[0].before == "another content (-LimitMEMLOCK=infinity +LimitMEMLOCK=8388608)"


def test_a_running_service_is_not_restarted_by_surprise():
    steps, _, notes = plan(ServiceLimit("slurmd", LOW, LOW))
    assert [str(step) for step in steps] == [
        "slurmd: memlock limit (none) -> unlimited, in force when slurmd is restarted"
    ]
    assert notes == []
    assert not steps[0].disruptive
    assert plan(ServiceLimit("slurmd", INFINITY, LOW), files={SLURMD: GOLDEN}) == (
        [],
        [],
        ["slurmd: runs with a memlock limit of 8388608 bytes until it is restarted"],
    )


def test_a_restart_that_is_wanted():
    steps, _, notes = plan(ServiceLimit("slurmd", INFINITY, LOW), files={SLURMD: GOLDEN}, restart=True)
    assert [str(step) for step in steps] == [
        "slurmd: memlock limit of the running service 8388608 bytes -> unlimited [slurmd is restarted]"
    ]
    assert notes == []


def test_a_file_that_loses_is_named_and_no_change_for_ever():
    lost = ServiceLimit("slurmd", LOW, LOW)
    for restart in (False, True):
        steps, settle, notes = plan(lost, files={SLURMD: GOLDEN}, restart=restart)
        assert (steps, settle) == ([], [])
        assert notes == [
            f"slurmd: another file of its unit wins over {SLURMD}, with a memlock limit of 8388608 bytes instead of "
            "unlimited; see systemctl cat slurmd"
        ]


def test_a_file_that_systemd_has_not_read_is_read():
    steps, settle, _ = plan(replace(ServiceLimit("slurmd", LOW), stale=True), files={SLURMD: GOLDEN})
    assert [step.before for step in steps] == ["written, not read by systemd"]
    assert [action.argv for action in settle] == [("systemctl", "daemon-reload")]


SHOWN = "Id={}.service\nLoadState={}\nMainPID={}\nLimitMEMLOCK={}\nNeedDaemonReload=no\n"
LIMITS = "Limit  Soft Limit  Hard Limit  Units\nMax locked memory         8388608  unlimited  bytes\n"


def test_reading():
    shown = "\n".join(
        (
            SHOWN.format("ssh", "loaded", 7, "8388608"),
            SHOWN.format("slurmd", "not-found", 0, "8388608"),
            SHOWN.format("kubelet", "loaded", 0, "18446744073709551615"),
            SHOWN.format("docker", "loaded", 8, "infinity"),
            SHOWN.format("ssh", "loaded", 7, "8388608"),
        )
    )
    port = FakePort({"/proc/7/limits": LIMITS}, {"systemctl show": shown})
    assert read_services(port, ("ssh", "slurmd")).found == (
        ServiceLimit("ssh", LOW, LOW),
        ServiceLimit("kubelet", INFINITY),
        ServiceLimit("docker", INFINITY, None),
    )
    assert port.calls[0].endswith(" ssh.service slurmd.service")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((1, "System has not been booted with systemd"), "not been booted"),
        ("hangs", "did not return"),
        ("Segmentation fault", "Property=value"),
        (SHOWN.format("ssh", "loaded", 0, ""), "no limit of a unit"),
    ],
)
def test_what_cannot_be_read_is_left_alone_and_said(reply, said):
    services = read_services(FakePort(tools={"systemctl show": reply}), ("ssh",))
    steps, settle, notes = plan_services(intent(), services, {}, False)
    assert (steps, settle) == ([], [])
    assert said in notes[0]


def test_a_node_without_systemd_has_no_services():
    assert read_services(FakePort(), ("ssh",)) == Services()


class Node(SimulatedNode):
    """Has slurmd, which runs with the kernel's default; systemd reads drop-ins when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.granted = self.running = "8388608"
        self.tools["systemctl show"] = lambda port: port.show()
        self.tools["systemctl daemon-reload"] = lambda port: port.reread()
        self.tools["systemctl restart slurmd.service"] = lambda port: port.restart()
        self.restart(), self.forget()

    def show(self) -> str:
        return SHOWN.format("slurmd", "loaded", 99, self.granted)

    def reread(self) -> str:
        text = self.files.get(SLURMD, b"LimitMEMLOCK=8388608").decode()
        self.granted = text.partition("LimitMEMLOCK=")[2].strip()
        return ""

    def restart(self) -> str:
        self.running = self.granted.replace("infinity", "unlimited")
        self.files["/proc/99/limits"] = f"Max locked memory  {self.running}  {self.running}  bytes\n".encode()
        return ""


def stack(node, **options):
    return apply_stack(node, intent(rail(0)), timer=Clock().timer, **options)[0]


def test_first_second_and_restarting_run():
    node = Node()
    assert "slurmd: memlock limit (none) -> unlimited, in force when slurmd is restarted" in map(str, stack(node).steps)
    assert (node.granted, node.running) == ("infinity", "8388608")
    node.forget()
    second = stack(node)
    assert (second.steps, len(second.notes), node.changes) == ((), 1, [])
    assert [step.disruptive for step in stack(node, restart=True).steps] == ["slurmd is restarted"]
    assert node.running == "unlimited"
    node.forget()
    assert (stack(node, restart=True).steps, stack(node).notes, node.changes) == ((), (), [])


def test_no_restart_under_a_job():
    node = Node()
    stack(node)
    node.tools["rdma -j resource show qp"] = (
        '[{"ifname": "rxe_rail0", "port": 1, "lqpn": 17, "type": "RC", "state": "RTS", "pid": 8, "comm": "nccl"}]'
    )
    with pytest.raises(RefusedError, match="rxe_rail0 by nccl"):
        stack(node, restart=True)
    assert node.running == "8388608"


def test_a_roll_back_is_read_as_well():
    node = Node()
    node.tools["modprobe"] = (1, "no")
    with pytest.raises(Exception, match="Rolled back"):
        stack(node)
    assert (node.granted, SLURMD in node.files) == ("8388608", False)
