# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent document and the agent on a node."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.agent.archive import digest, pack_sources
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.agent import apply_agent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.intent import apply_intent, current_intent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import (
    ApplyError,
    IntentError,
    MissingError,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.document import PATH, dump
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.agent import (
    DISPATCHERS,
    ENABLED,
    PROGRAM,
    RESTORE,
    RULES,
    UNIT,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import LocalPort

from tests.unit.apply.simulated import intent, rail
from tests.unit.fakes import FakePort

SOURCES = pack_sources({"agent/main.py": "def run():\n    return 0\n"})


def node(**tools):
    port = FakePort(
        tools={
            f"{PROGRAM} --version": "railwright 0.1.0\n",
            "systemctl daemon-reload": "",
            "udevadm control --reload": "",
            **tools,
        }
    )

    def enable(port):
        port.files[ENABLED] = b""
        return ""

    port.tools.setdefault("systemctl enable", enable)
    return port


def test_intent_is_written_once():
    port = node()
    plan = apply_intent(port, intent())
    assert [str(step) for step in plan.steps] == [f"intent: {PATH} (none) -> spec lab, 2 rails"]
    assert port.read(PATH) == dump(intent())
    port.forget()
    assert apply_intent(port, intent()).steps == ()
    assert port.changes == []


def test_intent_check_writes_nothing():
    port = node()
    assert apply_intent(port, intent(), check=True).steps
    assert port.changes == []


def test_current_intent():
    port = node()
    with pytest.raises(IntentError, match="no intent yet"):
        current_intent(port, intent(), check=False)
    assert current_intent(port, intent(), check=True) == (intent(), False)
    with pytest.raises(IntentError, match="no intent yet"):
        current_intent(port, None, check=True)
    apply_intent(port, intent())
    assert current_intent(port, intent(), check=False) == (intent(), True)
    assert current_intent(port, None, check=False) == (intent(), True)


def test_stale_intent_names_the_missing_step():
    port = node()
    apply_intent(port, intent())
    newer = replace(intent(rail(0)), spec_hash="fedcba9876543210")
    with pytest.raises(IntentError, match=r"expected fedcba987654.*intent part first \(tag intent\)"):
        current_intent(port, newer, check=False)
    assert current_intent(port, newer, check=True) == (newer, False)
    # The same spec, but a host variable changed: the hash alone would not tell.
    with pytest.raises(IntentError):
        current_intent(port, intent(rail(0)), check=False)


def test_agent_is_installed_once_and_sources_are_asked_for_first():
    port = node()
    plan, needed = apply_agent(port, digest(SOURCES))
    assert needed
    assert len(plan.steps) == 5
    assert port.changes == []
    plan, needed = apply_agent(port, digest(SOURCES), SOURCES)
    assert not needed
    assert port.modes[PROGRAM] == 0o755
    assert port.exists(UNIT)
    port.forget()
    plan, needed = apply_agent(port, digest(SOURCES))
    assert (plan.steps, needed, port.changes) == ((), False, [])


def test_agent_that_was_damaged_is_built_again():
    port = node()
    apply_agent(port, digest(SOURCES), SOURCES)
    data = bytearray(port.files[PROGRAM])
    data[len(data) // 2] ^= 1
    port.files[PROGRAM] = bytes(data)
    plan, needed = apply_agent(port, digest(SOURCES))
    assert needed
    assert "damaged" in plan.steps[0].before


@pytest.mark.parametrize("missing", [UNIT, ENABLED, RESTORE, RULES])
def test_agent_parts_come_back_without_the_sources(missing):
    port = node()
    apply_agent(port, digest(SOURCES), SOURCES)
    del port.files[missing]
    plan, needed = apply_agent(port, digest(SOURCES))
    assert not needed
    assert len(plan.steps) == 1
    assert port.exists(missing)


def test_agent_is_woken_by_the_dispatchers_that_are_there():
    port = node()
    port.files["/etc/NetworkManager/dispatcher.d/no-wait.d/x"] = b""
    apply_agent(port, digest(SOURCES), SOURCES)
    assert [path for path in DISPATCHERS if port.exists(path)] == ["/etc/NetworkManager/dispatcher.d/50-railwright"]
    assert port.modes["/etc/NetworkManager/dispatcher.d/50-railwright"] == 0o755
    assert "railwright-restore.service" in port.read(RULES)
    assert "apply --event" in port.read(RESTORE)


def test_agent_that_does_not_start_is_rolled_back():
    port = node()
    apply_agent(port, digest(SOURCES), SOURCES)
    before = port.files[PROGRAM]
    port.tools[f"{PROGRAM} --version"] = (126, "Permission denied")
    newer = pack_sources({"agent/main.py": "def run():\n    return 1\n"})
    with pytest.raises(ApplyError, match=r"Permission denied"):
        apply_agent(port, digest(newer), newer)
    assert port.files[PROGRAM] == before


def test_first_agent_that_does_not_start_leaves_nothing():
    """The way back does not start the program, which is gone by then."""
    port = node(**{f"{PROGRAM} --version": (126, "Permission denied")})
    with pytest.raises(ApplyError, match=rf"Permission denied.*Rolled back: {PROGRAM}$"):
        apply_agent(port, digest(SOURCES), SOURCES)
    assert not port.exists(PROGRAM)
    assert port.calls.count(f"{PROGRAM} --version") == 1


def test_agent_sources_damaged_on_their_way():
    with pytest.raises(ApplyError, match="damaged on their way"):
        apply_agent(node(), digest(SOURCES), SOURCES[:-1])


def test_mode_of_a_file(tmp_path):
    file = tmp_path / "file"
    file.touch()
    file.chmod(0o640)
    assert LocalPort().mode(str(file)) == 0o640
    with pytest.raises(MissingError):
        LocalPort().mode(str(tmp_path / "none"))
