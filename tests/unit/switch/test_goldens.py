# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Whole switch configurations byte by byte, and their numbers as worked out by hand from spec and vendors' words.

The spec: DSCP 26 on priority 3 is lossless and marked, DSCP 48 on priority 6 carries CNPs, 50/50 with CNPs strictly
first, links of 400 Gbit/s, cables of 7 m. To rewrite the files after a deliberate change, run with RAILWRIGHT_REGEN=1
and read the difference against the sources that each renderer names.
"""

from __future__ import annotations

import json
import os

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.render import file_name, render

from tests.unit.switch.sites import FIXTURES, SYSTEMS, intent

CASES = [(system, role) for system in SYSTEMS for role in ("leaf", "spine")]


@pytest.mark.parametrize(("system", "role"), CASES)
def test_the_configuration_is_the_golden_one(system: str, role: str) -> None:
    wanted = intent(system, role)
    text = render(wanted)
    golden = FIXTURES / "switch" / system / file_name(wanted)
    if os.environ.get("RAILWRIGHT_REGEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert render(intent(system, role)) == text


def test_numbers_of_the_intent() -> None:
    wanted = intent("sonic")
    # By eights (RFC 2474, class selectors), but nobody else in the classes of data (3) and CNPs (6).
    by_eights = [0] * 8 + [1] * 8 + [2] * 8 + [0, 0, 3, 0, 0, 0, 0, 0] + [4] * 8 + [5] * 8 + [6] + [0] * 7 + [7] * 8
    assert list(wanted.dscp_priority) == by_eights
    assert wanted.priority_queue == (0, 0, 0, 3, 0, 0, 6, 0)
    assert (wanted.pfc, wanted.ecn_queues, wanted.queues) == ((3,), (3,), (0, 3, 6))
    assert (wanted.tsa[0], wanted.tsa[3], wanted.tsa[6]) == ("ets", "ets", "strict")
    assert (wanted.share[0], wanted.share[3], wanted.share[6]) == (50, 50, 0)
    # 400 Gbit/s are 16 times 25 Gbit/s: 100 kB and 400 kB of the HPCC paper's DCQCN become 1.6 MB and 6.4 MB, 20 %.
    assert wanted.ecn is not None
    assert (wanted.ecn.min_bytes, wanted.ecn.max_bytes, wanted.ecn.probability) == (1_600_000, 6_400_000, 20)
    assert [(port.name, port.description, port.cable_length_m) for port in wanted.ports] == [
        ("Ethernet0", "gpu001 rail0", 7),
        ("Ethernet8", "gpu002 rail0", 7),
        ("Ethernet248", "spine0", 40),
    ]
    assert wanted.mtu == 9216


def test_sonic_as_its_own_templates_have_it() -> None:
    tables = json.loads(render(intent("sonic")))
    # qos_config.j2: PORT_QOS_MAP
    assert tables["PORT_QOS_MAP"]["Ethernet0"] == {
        "dscp_to_tc_map": "RAILWRIGHT",
        "tc_to_queue_map": "RAILWRIGHT",
        "tc_to_pg_map": "RAILWRIGHT",
        "pfc_to_queue_map": "RAILWRIGHT",
        "pfc_enable": "3",
        "pfcwd_sw_enable": "3",
    }
    # A lossless priority has a priority group of its own; all others share one that is not lossless.
    assert tables["TC_TO_PRIORITY_GROUP_MAP"]["RAILWRIGHT"] == {
        "0": "0", "1": "0", "2": "0", "3": "3", "4": "0", "5": "0", "6": "0", "7": "0",
    }  # fmt: skip
    assert tables["QUEUE"]["Ethernet8|3"] == {"scheduler": "RAILWRIGHT.3", "wred_profile": "RAILWRIGHT"}
    assert tables["SCHEDULER"] == {
        "RAILWRIGHT.0": {"type": "DWRR", "weight": "50"},
        "RAILWRIGHT.3": {"type": "DWRR", "weight": "50"},
        "RAILWRIGHT.6": {"type": "STRICT"},
    }
    # The next cable length above 7 m and 40 m that pg_profile_lookup.ini knows (5, 40, 300); no BUFFER_PG of our own.
    assert tables["CABLE_LENGTH"] == {"AZURE": {"Ethernet0": "40m", "Ethernet8": "40m", "Ethernet248": "40m"}}
    assert "BUFFER_PG" not in tables
    # sonic-utilities:pfcwd/main.py, DEFAULT_*: 200 ms each, drop.
    assert tables["PFC_WD"]["GLOBAL"] == {"POLL_INTERVAL": "200"}
    assert tables["PFC_WD"]["Ethernet248"] == {
        "action": "drop",
        "detection_time": "200",
        "restoration_time": "200",
    }


def test_sonic_with_the_dynamic_buffer_model_and_on_mellanox() -> None:
    tables = json.loads(render(intent("sonic", switch_buffer_model="dynamic", switch_asic="mellanox")))
    assert tables["CABLE_LENGTH"]["AZURE"] == {"Ethernet0": "7m", "Ethernet8": "7m", "Ethernet248": "40m"}
    assert tables["BUFFER_PG"] == {
        "Ethernet0|3": {"profile": "NULL"},
        "Ethernet8|3": {"profile": "NULL"},
        "Ethernet248|3": {"profile": "NULL"},
    }
    # qos_config.j2, pfc_to_pg_map_supported_asics
    assert tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] == {"RAILWRIGHT": {"3": "3"}}
    assert tables["PORT_QOS_MAP"]["Ethernet0"]["pfc_to_pg_map"] == "RAILWRIGHT"


def test_cumulus_says_state_from_5_15_on() -> None:
    assert 'roce: {enable: "on", mode: lossless, cable-length: 40}' in render(intent("cumulus"))
    assert "roce: {state: enabled, mode: lossless" in render(intent("cumulus", switch_os_version="5.15"))
    assert "ecn: enabled" in render(intent("cumulus", switch_os_version="5.16.1"))


def test_profiles_without_pfc_or_without_marks() -> None:
    lossy = {"profile": "lossy", "cnp": None, "traffic_classes": None}
    for system, words in {
        "sonic": ('"ecn_all"', '"green_min_threshold"', '"PFC_WD"', '"CABLE_LENGTH"'),
        "cumulus": ("{state: enable}", "min-threshold", "cable-length", "traffic-pool"),
        "eos": ("priority-flow-control on", " no-drop", "minimum-threshold"),
    }.items():
        text = render(intent(system, qos=lossy))
        assert [word for word in words if word in text] == []
        # What an earlier profile has set is taken back in so many words.
        for word in {
            "sonic": ('"pfc_enable": ""', '"pfcwd_sw_enable": ""', '"ecn": "ecn_none"'),
            "cumulus": ("pfc-watchdog: {state: disable}", "tx: disable", "rx: disable"),
            "eos": ("no priority-flow-control\n", "no priority-flow-control pause watchdog", "no random-detect ecn"),
        }[system]:
            assert word in text
    assert '"3": {ecn: disable}' in render(intent("cumulus", qos={**lossy, "profile": "pfc"}))
    assert "mode: lossy" in render(intent("cumulus", qos={"profile": "dcqcn"}))
    assert '"wred_profile"' not in render(intent("sonic", qos={**lossy, "profile": "pfc"}))
