# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The modules node_intent, rdma_stack, rail_naming, rail_network, roce_qos and node_agent at the Ansible boundary."""

from __future__ import annotations

import base64
import importlib
import io
import sys
import zipfile
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils import setter
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.archive import digest, pack_sources
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.lock import locked
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.document import PATH
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.agent import ENABLED, PROGRAM

from tests.unit.apply.simulated import SimulatedNode, intent
from tests.unit.apply.simulated_nic import FRESH, LosslessNode, lossless

pytest.importorskip("ansible.module_utils.basic")
PLUGINS = "ansible_collections.railwright.fabric.plugins"


class EndedError(Exception):
    """A module that ended, with its result."""


class Module:
    """What the setters use of AnsibleModule."""

    def __init__(self, params, check_mode):
        self.params, self.check_mode, self.warnings = params, check_mode, []

    def warn(self, text):
        self.warnings.append(text)

    def exit_json(self, **result):
        raise EndedError({**result, "warnings": self.warnings})

    def fail_json(self, **result):
        raise EndedError({**result, "failed": True})


@pytest.fixture
def node(monkeypatch, tmp_path):
    port = SimulatedNode()
    # What undoes a change that is not confirmed is started on the node, which has this.
    port.files["/proc/sys/kernel/random/boot_id"] = b"one\n"
    port.tools[sys.executable] = ""
    monkeypatch.setattr(setter, "LocalPort", lambda: port)
    monkeypatch.setattr(setter, "locked", lambda who: locked(who, 0.0, str(tmp_path / "lock")))
    return port


@pytest.fixture
def run(monkeypatch, node):
    def call(name, check=False, **params):
        code = importlib.import_module(f"{PLUGINS}.modules.{name}")

        def module(argument_spec, supports_check_mode, **_rules):
            assert supports_check_mode
            defaults = {key: spec.get("default") for key, spec in argument_spec.items()}
            return Module({**defaults, **params}, check)

        monkeypatch.setattr(code, "AnsibleModule", module)
        with pytest.raises(EndedError) as ended:
            code.main()
        return ended.value.args[0]

    return call


def test_a_first_run_a_second_run(run, node):
    data = encode(intent())
    assert run("node_intent", intent=data)["changed"]
    assert run("rdma_stack", intent=data)["changed"]
    first = run("rail_network", intent=data)
    assert first["changed"]
    run("rail_network", confirm=first["confirm"])
    node.forget()
    for name in ("node_intent", "rdma_stack", "rail_network"):
        result = run(name, intent=data)
        assert (result["changed"], result["steps"], result["diff"]["before"]) == (False, [], "")
    assert node.changes == []


def test_check_before_the_first_run_names_the_earlier_step(run, node):
    data = encode(intent())
    assert run("node_intent", check=True, intent=data)["steps"] == [f"intent: {PATH} (none) -> spec lab, 2 rails"]
    stack = run("rdma_stack", check=True, intent=data, packages=["perftest"])
    assert stack["changed"]
    assert stack["missing_packages"] == ["perftest"]
    assert all("[after: " in step for step in stack["steps"])
    assert "kernel: module rdma_rxe (none) -> loaded [after: packages perftest]" in stack["steps"]
    network = run("rail_network", check=True, intent=data)
    assert all(step.endswith("[after: node_intent]") for step in network["steps"])
    assert network["before"]["rail0: MTU of ens4"] == "1500"
    assert "rail0: MTU of ens4: 4200\n" in network["diff"]["after"]
    assert node.changes == []


def test_missing_packages_stop_the_rest(run, node):
    data = encode(intent())
    run("node_intent", intent=data)
    node.forget()
    result = run("rdma_stack", intent=data, packages=["rdma-core", "perftest"])
    assert (result["changed"], result["missing_packages"]) == (False, ["perftest"])
    assert node.changes == []


@pytest.mark.parametrize("name", ["rdma_stack", "rail_network"])
def test_stale_intent_is_refused(run, node, name):
    run("node_intent", intent=encode(intent()))
    node.forget()
    result = run(name, intent=encode(replace(intent(), spec_hash="00")))
    assert result["failed"]
    assert "tag intent" in result["msg"]
    assert node.changes == []


def test_the_nodes_own_intent_is_enough(run, node):
    run("node_intent", intent=encode(intent()))
    assert run("rail_network")["changed"]


def test_errors_are_the_cores_sentences(run, node):
    assert "no intent yet" in run("rail_network")["msg"]
    assert "unknown key 'rials'" in run("node_intent", intent={**encode(intent()), "rials": []})["msg"]


def test_what_is_left_alone_is_a_warning(run, node):
    run("node_intent", intent=encode(intent()))
    del node.net["ens5"]
    (warning,) = run("rail_network")["warnings"]
    assert warning.startswith("rail1: left alone, because 0000:02:00.0 is there, but")


def test_agent_digest_first_then_sources(run, node):
    sources = pack_sources({"agent/main.py": "def run():\n    return 0\n"})
    node.tools[f"{PROGRAM} --version"] = ""
    node.tools["systemctl enable"] = lambda port: port.write(ENABLED, "") or ""
    node.tools["udevadm control --reload"] = ""
    first = run("node_agent", digest=digest(sources))
    assert first["sources_needed"]
    assert node.changes == []
    second = run("node_agent", digest=digest(sources), sources=base64.b64encode(sources).decode())
    assert (second["changed"], second["sources_needed"]) == (True, False)
    third = run("node_agent", digest=digest(sources))
    assert (third["changed"], third["sources_needed"]) == (False, False)


def test_agent_without_its_action_plugin(run, node):
    assert "action plugin" in run("node_agent")["msg"]


def test_action_packs_the_whole_core():
    action = importlib.import_module(f"{PLUGINS}.action.node_agent")
    with zipfile.ZipFile(io.BytesIO(action.packed())) as archive:
        assert {"agent/main.py", "apply/run.py", "probe/node.py", "verify/local.py"} <= set(archive.namelist())


def test_names_come_with_the_next_boot(run, node):
    wanted = intent()
    ports = [replace(rail.ports[0], netdev=rail.name) for rail in wanted.rails]
    data = encode(replace(wanted, rails=tuple(replace(rail, ports=(at,)) for rail, at in zip(wanted.rails, ports))))
    node.tools["udevadm control"] = ""
    check = run("rail_naming", check=True, intent=data)
    assert check["steps"][0] == (
        "rail0: name of netdev ens4 at boot (none) -> rail0 from the next boot on [after: node_intent]"
    )
    assert node.changes == []
    run("node_intent", intent=data)
    assert run("rail_naming", intent=data)["changed"]
    second = run("rail_naming", intent=data)
    assert (second["changed"], len(second["warnings"])) == (False, 2)
    run("node_intent", intent=encode(intent()))
    assert run("rail_naming")["changed"]
    assert run("rail_naming")["steps"] == []


def test_lossless_rails_and_their_defaults_again(run, node, monkeypatch):
    made = LosslessNode()
    made.files["/proc/sys/kernel/random/boot_id"] = b"one\n"
    monkeypatch.setattr(setter, "LocalPort", lambda: made)
    data = encode(lossless())
    check = run("roce_qos", check=True, intent=data)
    assert "rail0: PFC none -> priority 3 [the link flaps] [after: node_intent]" in check["steps"]
    assert check["before"]["rail0: trust"] == "pcp"
    assert "rail0: PFC: priority 3\n" in check["diff"]["after"]
    assert "rail0: the link flaps, for PFC" in check["warnings"]
    assert made.changes == []
    run("node_intent", intent=data)
    done = run("roce_qos", intent=data)
    assert done["changed"]
    assert not [words for words in done["warnings"] if "flaps" in words]
    made.forget()
    second = run("roce_qos", intent=data)
    assert (second["changed"], second["steps"], made.changes) == (False, [], [])
    back = run("roce_qos", intent=data, state="absent")
    assert back["changed"]
    assert back["warnings"] == ["the fabric spec has qos still, and rules find fault until it is taken out"]
    assert made.nics["ens4"].pfc == ()


def test_a_rail_that_is_refused_fails_the_task_and_the_other_is_set(run, node, monkeypatch):
    made = LosslessNode()
    made.files["/proc/sys/kernel/random/boot_id"] = b"one\n"
    made.nics["ens5"] = replace(FRESH, dcbx=())
    made.show("ens5")
    monkeypatch.setattr(setter, "LocalPort", lambda: made)
    data = encode(lossless())
    run("node_intent", intent=data)
    done = run("roce_qos", intent=data)
    assert (done["failed"], done["changed"]) == (True, True)
    assert "the firmware of ens5 owns DCBX" in done["msg"]
    assert {line.split(":")[0] for line in done["steps"]} == {"rail0"}


def test_a_fabric_without_qos_changes_nothing(run, node):
    run("node_intent", intent=encode(intent()))
    node.forget()
    assert run("roce_qos")["changed"] is False
    assert node.changes == []
