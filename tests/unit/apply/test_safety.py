# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A change that cuts the node off: seen and taken back at once, or undone by the node when nobody confirms it."""

from __future__ import annotations

import json
import sys

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply import safety
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import apply_network
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.safety import (
    FOLDER,
    PROGRAM,
    Safety,
    confirm,
    forget_undone,
    last_undone,
    settle_pending,
    undone_intent,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ApplyError

from tests.unit.apply.simulated import RAIL0, RAIL1, Clock, SimulatedNode, intent

RECORD, OUTCOME = f"{FOLDER}/record.json", f"{FOLDER}/outcome.json"
VIA = [{"dst": "192.0.2.9", "gateway": "10.0.2.2", "dev": "ens2"}]


def node(**tools):
    found = SimulatedNode()
    found.files["/proc/sys/kernel/random/boot_id"] = b"one\n"
    found.tools["ip -j -4 route get 192.0.2.9"] = json.dumps(VIA)
    found.tools["ip -j -4 route show default table main"] = json.dumps([{"gateway": "10.0.2.2", "dev": "ens2"}])
    found.tools["ip -j -6 route show default table main"] = (2, "Error: ipv6: FIB table does not exist.")
    found.tools["systemd-run"] = ""
    found.tools.update(tools)
    return found


def network(port, watch, **options):
    return apply_network(port, intent(), timer=Clock().timer, watch=watch, **options)


def armed(port):
    return Safety(port, "abcdef0123456789", "192.0.2.9", confirm=True)


def test_the_record_is_there_before_the_first_change():
    port = node()
    seen = []
    port.on_write = seen.append
    network(port, armed(port))
    assert seen[:2] == [PROGRAM, RECORD]
    assert seen.index(RECORD) < seen.index(RAIL0)
    record = json.loads(port.read(RECORD))
    assert record["files"][RAIL0] is None
    assert {"argv": ["networkctl", "reload"], "timeout": 30.0, "allowed": [0]} in record["commands"]
    assert port.modes[RECORD] == 0o600


def test_the_bound_starts_anew_when_the_change_is_done():
    port = node()
    watch = armed(port)
    network(port, watch)
    timers = [call.split(" ") for call in port.calls if call.startswith("systemd-run")]
    assert [words[4] for words in timers] == ["--on-active=45s", "--on-active=30s"]
    assert timers[0][6:] == [sys.executable, "-IS", PROGRAM, FOLDER]


def test_nothing_is_armed_without_a_change():
    port = node()
    network(port, Safety(port, "x"))
    port.forget()
    watch = armed(port)
    assert network(port, watch).steps == ()
    assert watch.token is None
    assert port.changes == []


def test_without_systemd_a_process_waits():
    port = node(**{"systemd-run": (1, "System has not been booted with systemd"), sys.executable: ""})
    network(port, armed(port))
    assert f"{sys.executable} -IS {PROGRAM} --after 45 {FOLDER}" in port.calls


def test_no_change_without_a_way_to_undo_it():
    port = node(**{"systemd-run": (1, "no"), sys.executable: (1, "no")})
    with pytest.raises(ApplyError, match="cannot undo a change by itself, so it was not made"):
        network(port, armed(port))
    assert RAIL0 not in port.files
    assert RECORD not in port.files


def test_confirmed():
    port = node(systemctl="")
    watch = armed(port)
    network(port, watch)
    assert confirm(port, "another") == "no change waits for a confirmation"
    assert confirm(port, watch.token) == ""
    assert RECORD not in port.files
    assert last_undone(port) == ""


@pytest.mark.parametrize("way", [[{**VIA[0], "dev": "ens4", "gateway": "10.100.0.254"}], []])
def test_a_way_back_that_goes_astray_is_taken_back_at_once(way):
    port = node()
    port.tools["ip -j -4 route get 192.0.2.9"] = lambda found: json.dumps(way if RAIL0 in found.files else VIA)
    with pytest.raises(ApplyError, match=r"the way back to the controller 192\.0\.2\.9 is .*, and was dev ens2 via"):
        network(port, armed(port))
    assert RAIL0 not in port.files
    assert RECORD not in port.files
    assert undone_intent(port) == "abcdef0123456789"
    assert "because network: " not in last_undone(port)
    assert "the way back to the controller" in last_undone(port)


def test_a_default_route_that_is_lost():
    port = node()
    routes = [{"gateway": "10.0.2.2", "dev": "ens2"}]
    port.tools["ip -j -4 route show default table main"] = lambda found: json.dumps(routes * (RAIL1 not in found.files))
    with pytest.raises(ApplyError, match="the default route is gone, and was dev ens2 via 10"):
        network(port, Safety(port, "x"))
    assert RAIL0 not in port.files


def test_a_roll_back_that_fails_is_left_to_the_node():
    port = node(**{"networkctl reload": (1, "Connection timed out")})
    with pytest.raises(ApplyError, match="Rolling back failed as well"):
        network(port, armed(port))
    assert RECORD in port.files


def test_a_route_that_is_away_for_a_moment_is_no_danger():
    port = node()
    answers = [json.dumps(VIA), "[]"]
    port.tools["ip -j -4 route get 192.0.2.9"] = lambda found: answers.pop(0) if answers else json.dumps(VIA)
    assert network(port, armed(port)).steps


def test_who_connects_anew_confirms_what_waits():
    port = node(systemctl="")
    network(port, armed(port))
    settle_pending(port)
    assert RECORD not in port.files
    settle_pending(port)


def test_what_was_undone_is_said_until_the_node_is_as_wanted():
    port = node()
    port.files[OUTCOME] = json.dumps(
        {"intent": "x", "steps": ["a", "b"], "when": "then", "why": "of it", "failed": ["c"]}
    ).encode()
    assert last_undone(port) == "the last change was undone at then, because of it: a; b; failed: c"
    forget_undone(port)
    assert last_undone(port) == ""
    assert undone_intent(port) is None


@pytest.mark.parametrize("damage", [b"", b"[]", b"{", b"\xff"])
def test_a_damaged_record_waits_for_nothing(damage):
    port = node()
    port.files[RECORD] = port.files[OUTCOME] = damage
    assert confirm(port, "x") == "no change waits for a confirmation"
    assert undone_intent(port) is None


def test_the_program_is_the_source_of_the_undo():
    assert safety._program().startswith("# Copyright")
