# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright prove``: work in, outcome out."""

from __future__ import annotations

import io
import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import FabricError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove import cli
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.cover import plan_proof

from tests.unit.prove.fakes import FakePort, FakeStarter, facts, node


@pytest.fixture(autouse=True)
def _node(monkeypatch):
    monkeypatch.setattr(cli, "load", lambda port: node(1))
    monkeypatch.setattr(cli, "probe", lambda port: facts())


def run(port, options, text=None):
    work = plan_proof({"node1": node(1), "node2": node(2)}).nodes["node1"]
    out = io.StringIO()
    given = io.StringIO(json.dumps(encode(work)) if text is None else text)
    return cli.prove(port, options, given, out, FakeStarter()), out.getvalue()


def test_a_phase_is_carried_out():
    code, text = run(FakePort(), {"--phase": "mtu"})
    assert code == 0
    assert json.loads(text)["pairs"][0]["value"] == 4200


def test_a_node_in_use_is_exit_code_1_unless_forced():
    busy = FakePort(users=({"pid": 42, "comm": "python3"},))
    assert run(busy, {"--phase": "mtu"})[0] == 1
    assert run(busy, {"--phase": "mtu", "--force": "yes"})[0] == 0


@pytest.mark.parametrize("text", ["", "[]", '{"host": 3}', '{"host": "a", "surprise": 1}'])
def test_bad_work_is_one_error(text):
    with pytest.raises(FabricError):
        run(FakePort(), {"--phase": "mtu"}, text)


def test_the_phase_must_be_named():
    with pytest.raises(FabricError, match="say which phase"):
        run(FakePort(), {})
