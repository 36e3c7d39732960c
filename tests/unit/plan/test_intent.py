# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What changes with an intent is told in words, setting by setting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import IntentError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.document import PATH, dump, from_data, load
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.intent import plan_intent

from tests.unit.apply.simulated import intent, rail
from tests.unit.fakes import FakePort


def steps(new, old):
    return [str(step) for step in plan_intent(new, old).steps]


def test_same_intent():
    assert steps(intent(), dump(intent())) == []


def test_a_changed_setting():
    changed = intent(rail(0, host_mtu=9000), rail(1))
    assert steps(changed, dump(intent())) == ["rail0: host_mtu 4200 -> 9000"]


def test_only_one_step_writes():
    changed = replace(intent(rail(0, host_mtu=9000, addresses=()), rail(1)), spec_hash="00")
    plan = plan_intent(changed, dump(intent()))
    assert [step.setting for step in plan.steps] == ["spec_hash", "addresses", "host_mtu"]
    assert [len(step.actions) for step in plan.steps] == [1, 0, 0]
    assert plan.steps[1].before == "10.100.0.1/24"


def test_a_rail_that_goes():
    found = steps(intent(rail(0)), dump(intent()))
    assert "rail1: addresses 10.100.1.1/24 -> (none)" in found
    assert not [line for line in found if line.startswith("rail0")]


@pytest.mark.parametrize("have", ["{", "", "[]"])
def test_damaged_document_is_replaced(have):
    assert plan_intent(intent(), have).steps[0].actions


def test_another_layout_of_the_same_intent_is_written_anew():
    assert steps(intent(), dump(intent()) + "\n") == [f"intent: {PATH} another layout -> as this version writes it"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no intent yet"),
        ("{", "damaged"),
        ("[]", "a mapping is expected"),
        ('{"schema": 2, "core_version": "9.0.0", "new": 1}', r"written by version 9\.0\.0 in a schema"),
        ('{"schema": 1}', "missing 7 required"),
    ],
)
def test_load_refuses(text, message):
    port = FakePort({PATH: text} if text is not None else {})
    with pytest.raises(IntentError, match=message):
        load(port)


def test_load_what_was_dumped():
    assert load(FakePort({PATH: dump(intent())})) == intent()


def test_schema_is_judged_before_unknown_keys():
    with pytest.raises(IntentError, match="schema"):
        from_data({"schema": 7, "unheard_of": True}, "intent")
