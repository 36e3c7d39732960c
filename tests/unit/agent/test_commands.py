# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The agent's commands: exit codes, what is printed, and when apply gives way."""

from __future__ import annotations

import io
import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.apply import STAMPS, apply
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.check import check
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.main import main
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.options import parse_options
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.show import show
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.lock import locked
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import FabricError, IntentError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.document import PATH

from tests.unit.apply.simulated import Clock, SimulatedNode, intent, rail


@pytest.fixture
def lock(tmp_path):
    return str(tmp_path / "lock")


def run(node, lock, clock=None, **options):
    out = io.StringIO()
    code = apply(node, {f"--{name}": "yes" for name in options}, out, lock, (clock or Clock()).timer)
    return code, out.getvalue()


def test_apply_restores_what_a_reboot_took(lock):
    node = SimulatedNode().with_intent()
    assert run(node, lock)[0] == 0
    for name in ("rxe_rail0", "rxe_rail1"):
        node._forget(name)
    node.forget()
    code, text = run(node, lock, boot=True)
    assert code == 0
    assert "rail0: soft RoCE device (none) -> rxe_rail0 on ens4" in text
    assert run(node, lock) == (0, "nothing to change\n")


@pytest.mark.parametrize("boot", [{"event": True}, {"boot": True}])
def test_apply_restores_the_stack_beside_another_network_manager(lock, boot):
    node = SimulatedNode(manager="wickedd").with_intent()
    code, text = run(node, lock, **boot)
    assert code == 0
    assert "rail0: soft RoCE device (none) -> rxe_rail0 on ens4" in text
    assert "rails left alone: network manager of the node: rails are configured through one of" in text
    assert node.net["ens4"]["mtu"] == 1500
    assert node.read(STAMPS).count("\n") == 1


@pytest.mark.parametrize("boot", [{}, {"boot": True}])
def test_apply_leaves_the_management_link_alone(lock, boot):
    node = SimulatedNode().with_intent()
    node.files["/proc/net/route"] = node.files["/proc/net/route"].replace(b"ens2", b"ens4")
    code, text = run(node, lock, **boot)
    assert code == 1
    assert "soft RoCE" not in text
    assert "ens4 carries the node's management" in text
    assert node.net["ens4"]["mtu"] == 1500


def test_apply_at_boot_waits_for_a_late_nic(lock):
    node, clock = SimulatedNode().with_intent(), Clock()
    late = node.net.pop("ens5")

    def appears(seconds):
        clock.time += seconds
        if clock.time > 1020:
            node.net["ens5"] = late

    timer = clock.timer
    object.__setattr__(timer, "sleep", appears)
    out = io.StringIO()
    assert apply(node, {"--boot": "yes"}, out, lock, timer) == 0
    assert node.net["ens5"]["mtu"] == 4200
    assert clock.time > 1020


def test_apply_serves_the_other_rails_when_a_nic_is_gone(lock):
    node = SimulatedNode().with_intent()
    del node.net["ens5"]
    clock = Clock()
    code, text = run(node, lock, clock, boot=True)
    assert code == 1
    assert "rail1: left alone, because" in text
    assert node.net["ens4"]["mtu"] == 4200
    assert clock.time < 1100


def test_apply_gives_way_to_a_run(lock):
    node = SimulatedNode().with_intent()
    with locked("Ansible module rail_network", path=lock):
        code, text = run(node, lock)
    assert code == 1
    assert "Ansible module rail_network" in text
    assert node.changes == []


def test_apply_does_not_take_part_in_a_loop(lock):
    node, clock = SimulatedNode().with_intent(), Clock()
    for _ in range(3):
        node.net["ens4"]["mtu"] = 1500
        assert run(node, lock, clock, event=True)[0] == 0
        clock.time += 5
    node.net["ens4"]["mtu"] = 1500
    code, text = run(node, lock, clock, event=True)
    assert code == 1
    assert "3 changes within 60 s" in text
    assert node.net["ens4"]["mtu"] == 1500
    assert run(node, lock, clock)[0] == 0, "a person is not held back"
    node.net["ens4"]["mtu"] = 1500
    clock.time += 60
    assert run(node, lock, clock, event=True)[0] == 0
    assert node.net["ens4"]["mtu"] == 4200


def test_apply_without_change_is_never_limited(lock):
    node, clock = SimulatedNode().with_intent(), Clock()
    for _ in range(6):
        assert run(node, lock, clock, event=True)[0] == 0
    assert node.read(STAMPS).count("\n") == 1


def test_apply_never_interrupts_a_job(lock):
    node = SimulatedNode().with_intent()
    run(node, lock)
    node.tools["rdma -j resource show qp"] = json.dumps([{"ifname": "rxe_rail0", "pid": 7, "comm": "python3"}])
    node.net["ens4"]["mtu"] = 1500
    code, text = run(node, lock)
    assert code == 1
    assert "python3 (7)" in text
    assert node.net["ens4"]["mtu"] == 1500


def test_apply_restores_the_stack_while_the_management_is_unknown(lock):
    node = SimulatedNode().with_intent()
    node.files["/proc/net/route"] = b"Iface Destination\nens2 zz\n"
    code, text = run(node, lock, boot=True)
    assert code == 1
    assert "rail0: soft RoCE device (none) -> rxe_rail0 on ens4" in text
    assert "which link carries the management could not be read" in text
    assert node.net["ens4"]["mtu"] == 1500


@pytest.mark.parametrize("document", [None, "{", '{"schema": 99}'])
def test_commands_without_a_usable_intent(document, lock):
    node = SimulatedNode()
    if document is not None:
        node.files[PATH] = document.encode()
    for command in (lambda: run(node, lock), lambda: check(node, {}, io.StringIO())):
        with pytest.raises(IntentError):
            command()
    assert node.changes == []


def converged(lock, wanted=None):
    node = SimulatedNode().with_intent(wanted)
    run(node, lock)
    return node


def test_check_states_and_exit_codes(lock):
    node = converged(lock)
    node.net["ens4"]["mtu"] = 1500
    out = io.StringIO()
    assert check(node, {"--json": "yes"}, out) == 1
    document = json.loads(out.getvalue())
    assert document["state"] == "fail"
    assert [f["rail"] for f in document["findings"] if f["rule"] == "rail.mtu" and f["state"] == "fail"] == ["rail0"]


@pytest.mark.parametrize(("builtin", "state"), [("kernel/net/rds/ib-uverbs.ko\n", "pass"), ("kernel/x.ko\n", "fail")])
def test_check_and_apply_agree_on_modules_that_are_built_in(lock, builtin, state):
    node = converged(lock, intent(modules=("rdma_rxe",)))
    node.with_intent(intent(modules=("rdma_rxe", "ib_uverbs")))
    node.files["/proc/sys/kernel/osrelease"] = b"6.1.0\n"
    node.files["/lib/modules/6.1.0/modules.builtin"] = builtin.encode()
    out = io.StringIO()
    check(node, {"--json": "yes"}, out)
    found = {item["rule"]: item["state"] for item in json.loads(out.getvalue())["findings"]}
    assert found["stack.modules"] == state
    assert ("module ib_uverbs" in run(node, lock)[1]) is (state == "fail")


def test_check_unknown_is_its_own_answer(lock):
    node = converged(lock)
    node.tools["ip -j -d -force -batch -"] = "hangs"
    assert check(node, {}, io.StringIO()) == 2
    assert check(node, {"--on-unknown": "pass"}, io.StringIO()) == 0
    assert check(node, {"--on-unknown": "fail"}, io.StringIO()) == 1


def test_check_failure_is_no_unknown(lock):
    node = converged(lock, intent(rail(0, ports=rail(2).ports), rail(1)))
    assert check(node, {"--on-unknown": "pass"}, io.StringIO()) == 1


def test_show(lock):
    node = converged(lock)
    out = io.StringIO()
    assert show(node, {}, out) == 0
    line = next(line for line in out.getvalue().splitlines() if line.startswith("rail0"))
    assert line.split()[:6] == ["rail0", "0000:01:00.0", "ens4", "UP", "4200", "10.100.0.1/24"]
    out = io.StringIO()
    show(node, {"--json": "yes"}, out)
    assert json.loads(out.getvalue())["schema"] == 1


def test_show_without_an_intent(lock):
    out = io.StringIO()
    assert show(SimulatedNode(), {}, out) == 0
    assert "no intent yet" in out.getvalue()
    assert "ens5" in out.getvalue()


@pytest.mark.parametrize("words", [["check", "--verbose"], ["check", "--on-unknown"], ["check", "--on-unknown=maybe"]])
def test_usage_errors(words, capsys):
    assert main(words) == 2
    assert words[1].partition("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--version"], ["--help"]])
def test_words_about_itself(words, capsys):
    assert main(words) == 0
    assert "railwright" in capsys.readouterr().out


def test_options():
    known = {"--json": None, "--on-unknown": ("pass", "fail")}
    assert parse_options("check", ["--json", "--on-unknown", "fail"], known) == {
        "--json": "yes",
        "--on-unknown": "fail",
    }
    assert parse_options("check", ["--on-unknown=pass"], known) == {"--on-unknown": "pass"}
    with pytest.raises(FabricError, match="no value"):
        parse_options("check", ["--json=1"], known)
