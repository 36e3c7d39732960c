# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The module rdma_info at the Ansible boundary: live, recorded, captured."""

from __future__ import annotations

import importlib

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.captured import TOOLS

from tests.unit import trees

pytest.importorskip("ansible.module_utils.basic")
MODULE = "ansible_collections.railwright.fabric.plugins.modules.rdma_info"


class EndedError(Exception):
    """A module that ended, with its result."""


@pytest.fixture
def run(monkeypatch):
    code = importlib.import_module(MODULE)

    def call(**given):
        class Module:
            def __init__(self, argument_spec, supports_check_mode):
                assert supports_check_mode
                self.params = {name: given.get(name, spec.get("default")) for name, spec in argument_spec.items()}
                if self.params["captured"]:  # as Ansible fills in what was not given
                    self.params["captured"] = {**dict.fromkeys(TOOLS), **self.params["captured"]}

            def exit_json(self, **result):
                raise EndedError(result)

            def fail_json(self, **result):
                raise EndedError({**result, "failed": True})

        monkeypatch.setattr(code, "AnsibleModule", Module)
        with pytest.raises(EndedError) as ended:
            code.main()
        return ended.value.args[0]

    return call


def test_every_text_with_a_parser_is_a_parameter():
    assert sorted(importlib.import_module(MODULE).TOOLS) == sorted(TOOLS)


def test_a_recorded_node(run, tmp_path):
    result = run(root=str(trees.soft_roce(tmp_path)))
    assert result["changed"] is False
    assert [device["name"] for device in result["facts"]["rdma"]] == ["rxe_rail0", "rxe_rail1"]
    assert result["facts"]["accelerators"] is None


def test_details_of_a_recorded_node(run, tmp_path):
    result = run(root=str(trees.soft_roce(tmp_path)), detail=True)
    assert result["facts"]["accelerators"] == []
    assert result["facts"]["rdma"][0]["ports"][0]["hw_counters"]["lifespan"] == 12


def test_the_live_node_is_the_default(run, tmp_path, monkeypatch):
    tree = str(trees.soft_roce(tmp_path))
    monkeypatch.setattr(importlib.import_module(MODULE), "LocalPort", lambda: RecordedPort(tree))
    assert run()["facts"]["system"]["hostname"] == "node1"


def test_captured_texts_alone_read_nothing_else(run, monkeypatch):
    monkeypatch.delattr(importlib.import_module(MODULE), "LocalPort")
    facts = run(captured={"rdma_link": "link mlx5_0/1 state DOWN physical_state DISABLED netdev eth0\n"})["facts"]
    assert [(device["name"], device["ports"][0]["state"]) for device in facts["rdma"]] == [("mlx5_0", "DOWN")]
    assert facts["netdevs"] is None


def test_captured_texts_beside_a_recorded_node(run, tmp_path):
    text = "link rxe_rail0/1 state DOWN physical_state DISABLED\nlink mlx5_9/1 state INIT physical_state LINK_UP\n"
    facts = run(root=str(trees.soft_roce(tmp_path)), captured={"rdma_link": text})["facts"]
    assert [(d["name"], d["ports"][0]["state"]) for d in facts["rdma"]] == [
        ("rxe_rail0", "ACTIVE"),
        ("rxe_rail1", "ACTIVE"),
        ("mlx5_9", "INIT"),
    ]


def test_a_text_that_nobody_knows_fails_with_its_place(run):
    result = run(captured={"ibstat": "CA 'mlx5_0'\nnonsense\n"})
    assert result["failed"]
    assert result["msg"].startswith("ibstat:2: ")
    assert "nonsense" in result["msg"]


def test_texts_of_netdevs(run):
    pfc = {"pfc_cap": 8, "delay": 7, "prio_pfc": [False, False, False, True, False, False, False, False]}
    result = run(captured={"netdevs": {"eth0": {"dcb_dcbx": "host ieee", "dcb_pfc": pfc}}}, root="/")
    (state,) = result["facts"]["qos"]
    assert (state["netdev"], state["dcbx"], state["pfc"]) == ("eth0", ["host", "ieee"], [3])
    refused = run(captured={"netdevs": {"eth0": "mlnx_qos"}}, root="/")
    assert refused["failed"]
    assert "captured.netdevs.eth0" in refused["msg"]
