# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The agent beside a change that was not confirmed: it takes it back at boot, and does not make it again."""

from __future__ import annotations

import io
import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent import apply as agent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.main import main
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply import safety

from tests.unit.apply.simulated import RAIL0, Clock, SimulatedNode

OUTCOME = f"{safety.FOLDER}/outcome.json"


@pytest.fixture
def asked(monkeypatch):
    """When the pending change was asked for."""
    found = []
    monkeypatch.setattr(agent, "undo", lambda folder, lock: found.append(folder))
    return found


def run(node, tmp_path, **options):
    out = io.StringIO()
    words = {f"--{name}": "yes" for name in options}
    return agent.apply(node, words, out, str(tmp_path / "lock"), Clock().timer), out.getvalue()


def outcome(spec_hash):
    return json.dumps({"intent": spec_hash, "steps": ["rail0: route"], "when": "then", "why": "of it", "failed": []})


def test_at_boot_what_was_not_confirmed_is_taken_back_first(asked, tmp_path):
    run(SimulatedNode().with_intent(), tmp_path, boot=True)
    assert asked == [safety.FOLDER]


def test_at_other_times_a_timer_sees_to_it(asked, tmp_path):
    run(SimulatedNode().with_intent(), tmp_path)
    assert asked == []


def test_what_cut_the_node_off_is_not_done_again(asked, tmp_path):
    node = SimulatedNode().with_intent()
    node.files[OUTCOME] = outcome("abcdef0123456789").encode()
    _code, text = run(node, tmp_path)
    assert "rails left alone: the last change was undone at then, because of it: rail0: route" in text
    assert RAIL0 not in node.files


def test_another_intent_is_applied(asked, tmp_path):
    node = SimulatedNode().with_intent()
    node.files[OUTCOME] = outcome("another").encode()
    run(node, tmp_path)
    assert RAIL0 in node.files


def test_by_hand(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(safety, "FOLDER", str(tmp_path))
    assert main(["undo"]) == 0
    assert capsys.readouterr().out == "no change waits for a confirmation\n"
