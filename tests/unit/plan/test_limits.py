# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The memory lock limit of services: which units get a drop-in, what a running service is told, what is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import apply_stack
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ApplyError
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


def plan(*services, files=None, raises=True, **changes):
    return plan_services(intent(**changes), Services(services, raises=raises), files or {})


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
    assert plan(ServiceLimit("slurmd", configured, (("9", configured),)), memlock=memlock) == ([], [], [])


def test_what_is_written_and_in_force_is_left_alone():
    assert plan(ServiceLimit("slurmd", INFINITY, (("9", INFINITY),)), files={SLURMD: GOLDEN}) == ([], [], [])


def test_our_file_follows_the_intent():
    steps, _, _ = plan(ServiceLimit("slurmd", INFINITY), files={SLURMD: GOLDEN}, memlock="8192")
    assert steps[0].before == "another content (-LimitMEMLOCK=infinity +LimitMEMLOCK=8388608)"


def test_a_running_service_is_raised_and_not_restarted():
    steps, _, notes = plan(ServiceLimit("slurmd", LOW, (("9", LOW),)))
    assert [str(step) for step in steps] == [
        "slurmd: memlock limit (none) -> unlimited",
        "slurmd: memlock limit of the running service 8388608 bytes -> unlimited",
    ]
    assert [action.argv for action in steps[1].actions] == [("/usr/bin/prlimit", "--pid=9", "--memlock=unlimited")]
    assert (steps[1].disruptive, notes) == (None, [])


def test_what_runs_with_less_than_its_unit_grants_is_raised_as_well():
    steps, settle, _ = plan(ServiceLimit("k3s", INFINITY, (("9", INFINITY), ("12", LOW))), memlock="67108864")
    assert [action.argv[1:] for action in steps[0].actions] == [("--pid=12", "--memlock=68719476736")]
    assert settle == []


def test_without_the_program_it_waits_for_a_restart():
    assert plan(ServiceLimit("slurmd", INFINITY, (("9", LOW),)), raises=False) == (
        [],
        [],
        ["slurmd: runs with a memlock limit of 8388608 bytes until it is restarted"],
    )


def test_a_file_that_loses_is_named_and_no_change_for_ever():
    steps, settle, notes = plan(ServiceLimit("slurmd", LOW, (("9", LOW),)), files={SLURMD: GOLDEN})
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
            SHOWN.format("k3s", "loaded", 9, "infinity"),
            SHOWN.format("ssh", "loaded", 7, "8388608"),
        )
    )
    files = {f"/proc/{pid}/limits": LIMITS for pid in (7, 9, 12)}
    files["/proc/9/task/9/children"] = files["/proc/7/task/7/children"] = "12 "
    port = FakePort({**files, "/usr/bin/prlimit": ""}, {"systemctl show": shown})
    services = read_services(port, ("ssh", "slurmd.service", "ssh"))
    assert services.raises
    assert services.found == (
        ServiceLimit("ssh", LOW, (("7", LOW),)),
        ServiceLimit("kubelet", INFINITY),
        ServiceLimit("docker", INFINITY),
        ServiceLimit("k3s", INFINITY, (("9", LOW), ("12", LOW))),
    )
    assert port.calls[0].endswith(" ssh.service slurmd.service")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((1, "System has not been booted with systemd"), "not been booted"),
        ("hangs", "did not return"),
        ("Segmentation fault", "Property=value"),
        (SHOWN.format("ssh", "loaded", 0, ""), "no limit of a unit"),
        (SHOWN.format("ssh", "loaded", 0, "9" * 5000), "no limit of a unit"),
    ],
)
def test_what_cannot_be_read_is_left_alone_and_said(reply, said):
    services = read_services(FakePort(tools={"systemctl show": reply}), ("ssh",))
    steps, settle, notes = plan_services(intent(), services, {})
    assert (steps, settle) == ([], [])
    assert said in notes[0]


def test_a_node_without_systemd_has_no_services():
    assert read_services(FakePort(), ("ssh",)).found == ()


class Node(SimulatedNode):
    """Has slurmd, which runs with the kernel's default; systemd reads drop-ins when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.granted = "8388608"
        self.tools["systemctl show"] = lambda port: port.show()
        self.tools["systemctl daemon-reload"] = lambda port: port.reread()
        self.tools["/usr/bin/prlimit --pid=99"] = lambda port: port.has(port.calls[-1].partition("memlock=")[2])
        self.files["/usr/bin/prlimit"] = b""
        self.has("8388608")

    def show(self) -> str:
        return SHOWN.format("slurmd", "loaded", 99, self.granted)

    def reread(self) -> str:
        text = self.files.get(SLURMD, b"LimitMEMLOCK=8388608").decode()
        self.granted = text.partition("LimitMEMLOCK=")[2].strip()
        return ""

    def has(self, limit: str) -> str:
        self.files["/proc/99/limits"] = f"Max locked memory  {limit}  {limit}  bytes\n".encode()
        return ""


def stack(node):
    return apply_stack(node, intent(rail(0)), timer=Clock().timer)[0]


def test_first_and_second_run():
    node = Node()
    assert [step.after for step in stack(node).steps if step.subject == "slurmd"] == ["unlimited", "unlimited"]
    assert (node.granted, "unlimited" in node.read("/proc/99/limits")) == ("infinity", True)
    assert not any("restart" in call for call in node.calls)
    node.forget()
    second = stack(node)
    assert (second.steps, second.notes, node.changes) == ((), (), [])


def test_a_roll_back_is_read_as_well():
    node = Node()
    node.tools["modprobe"] = (1, "no")
    with pytest.raises(ApplyError, match="Rolled back"):
        stack(node)
    assert (node.granted, SLURMD in node.files) == ("8388608", False)
