# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch's own dump: what was rendered reads as no difference, a drift as exactly one, damage never as none."""

from __future__ import annotations

import copy
import itertools
import json
from typing import Any, Callable, Iterator

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.switch import Difference, SwitchIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.switch_dump import parse
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.render import cumulus, render, sonic
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.switch_config import compare
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.switch.sites import PORTS, SYSTEMS, dump, intent, ports_up, sonic_tables

FREE = {"cnp": None, "traffic_classes": None}
QOS = (
    {},
    {**FREE, "profile": "pfc"},
    {"profile": "dcqcn"},
    {**FREE, "profile": "lossy"},
    {"switch": {"ecn": {"min_bytes": 1000, "max_bytes": 2000}, "pfc_watchdog": {"detection_ms": 400}}},
)
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "sonic": ({}, {"switch_buffer_model": "dynamic"}, {"switch_asic": "barefoot"}),
    "cumulus": ({}, {"switch_os_version": "5.15"}),
    "eos": ({}, {"switch_tx_queue": "uc-tx-queue"}),
}
LEAVES = {system: intent(system) for system in SYSTEMS}


def differences(wanted: SwitchIntent, text: str) -> tuple[Difference, ...]:
    return compare(wanted, parse(wanted.os, text))


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_was_rendered_reads_as_no_difference(system: str) -> None:
    for qos, more, role in itertools.product(QOS, VARIANTS[system], ("leaf", "spine")):
        wanted = intent(system, role, qos, **more)
        assert differences(wanted, dump(wanted)) == (), (qos, more, role)


def test_eos_reads_its_json_as_its_text() -> None:
    wanted = LEAVES["eos"]

    def tree(lines: list[str], depth: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, line in enumerate(lines):
            if line.startswith(" " * depth) and not line[depth:].startswith((" ", "!")) and line.strip():
                below = itertools.takewhile(lambda later: later.startswith(" " * (depth + 1)), lines[number + 1 :])
                inner = tree(list(below), depth + 3)
                found[line.strip()] = {"cmds": inner} if inner else None
        return found

    text = json.dumps({"cmds": tree(render(wanted).splitlines()), "header": ["! device: leaf"]})
    assert '"mtu 9214"' in text
    assert differences(wanted, text) == ()
    assert [x.setting for x in differences(wanted, text.replace("priority 3 no-drop", "priority 4 no-drop"))] == ["pfc"]


# Each drift: what somebody changed, and the one difference that must come of it: setting, number, wanted, found, ports.
def _set(*path: Any) -> Callable[[Any], None]:
    *steps, last, value = path

    def change(data: Any) -> None:
        for step in steps:
            data = data[step]
        if value is None:
            del data[last]
        else:
            data[last] = value

    return change


ALL = "all"
N = "RAILWRIGHT"
SONIC: list[tuple[Any, tuple[str, Any, str, Any], Any]] = [
    (_set("PORT", "Ethernet0", "mtu", "9100"), ("mtu", None, "9216", "9100"), 0),
    (_set("PORT", "Ethernet8", None), ("port", None, "configured", "absent"), 1),
    (_set("PORT_QOS_MAP", "Ethernet0", "dscp_to_tc_map", None), ("trust", None, "dscp", "none"), 0),
    (_set("DSCP_TO_TC_MAP", N, "26", "4"), ("dscp", 26, "3", "4"), ALL),
    (_set("DSCP_TO_TC_MAP", N, "27", "3"), ("dscp", 27, "0", "3"), ALL),
    (_set("DSCP_TO_TC_MAP", N, "26", None), ("dscp", 26, "3", None), ALL),
    (_set("TC_TO_QUEUE_MAP", N, "3", "4"), ("priority", 3, "3", "4"), ALL),
    (_set("TC_TO_PRIORITY_GROUP_MAP", N, "3", "0"), ("priority_group", 3, "3", "0"), ALL),
    (_set("TC_TO_PRIORITY_GROUP_MAP", N, "1", "3"), ("priority_group", 1, "0", "3"), ALL),
    (_set("MAP_PFC_PRIORITY_TO_QUEUE", N, "3", "0"), ("pause_queue", 3, "3", "0"), ALL),
    (_set("PORT_QOS_MAP", "Ethernet8", "pfc_enable", "4"), ("pfc", None, "3", "4"), 1),
    (_set("PORT_QOS_MAP", "Ethernet8", "pfc_enable", "3,4"), ("pfc", None, "3", "3,4"), 1),
    (_set("PORT_QOS_MAP", "Ethernet8", "pfc_enable", None), ("pfc", None, "3", "none"), 1),
    (_set("PORT_QOS_MAP", "Ethernet8", "pfcwd_sw_enable", None), ("watchdog_priorities", None, "3", "none"), 1),
    (_set("SCHEDULER", f"{N}.3", "weight", "60"), ("schedule", 3, "ets 50", "ets 60"), ALL),
    (_set("SCHEDULER", f"{N}.6", {"type": "DWRR", "weight": "1"}), ("schedule", 6, "strict", "ets 1"), ALL),
    (_set("QUEUE", "Ethernet0|3", "scheduler", "gone"), ("schedule", 3, "ets 50", None), 0),
    (_set("QUEUE", "Ethernet0|3", "wred_profile", None), ("ecn", 3, "on", "off"), 0),
    (_set("QUEUE", "Ethernet0|3", "wred_profile", "gone"), ("ecn", 3, "on", None), 0),
    (_set("WRED_PROFILE", N, "ecn", "ecn_none"), ("ecn", 3, "on", "off"), ALL),
    (_set("WRED_PROFILE", N, "green_min_threshold", "5"), ("ecn_min_bytes", 3, "1600000", None), ALL),
    (_set("WRED_PROFILE", N, "green_drop_probability", None), ("ecn_probability", 3, "20", None), ALL),
    (_set("CABLE_LENGTH", "AZURE", "Ethernet0", "5m"), ("cable_length", None, "40m", "5m"), 0),
    (_set("BUFFER_QUEUE", "Ethernet0|3", "profile", "egress_lossy_profile"),
     ("lossless_buffer", 3, "egress_lossless_profile", "egress_lossy_profile"), 0),
    (_set("PFC_WD", "Ethernet0", None), ("watchdog", None, "on", "off"), 0),
    (_set("PFC_WD", "Ethernet0", "detection_time", "400"), ("watchdog_detection_ms", None, "200", "400"), 0),
    (_set("PFC_WD", "Ethernet0", "action", "alert"), ("watchdog_action", None, "drop", "alert"), 0),
    (_set("PFC_WD", "GLOBAL", "POLL_INTERVAL", "100"), ("watchdog_poll_ms", None, "200", "100"), ALL),
    (_set("PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable", ""), ("watchdog", None, "on", "off"), 0),
    (_set("PORT", "Ethernet0", "admin_status", "down"), ("link", None, "up", "down"), 0),
    (_set("PORT", "Ethernet0", "admin_status", None), ("link", None, "up", "down"), 0),
    (_set("PORT", "Ethernet0", "pfc_asym", "on"), ("asymmetric_pfc", None, "off", "on"), 0),
    (_set("PORT_QOS_MAP", "Ethernet0", "tc_to_dscp_map", "x"), ("remark", None, "off", "on"), 0),
    (_set("SCHEDULER", f"{N}.3", "pir", "1000"), ("shaper", 3, "none", "pir 1000"), ALL),
    (_set("BUFFER_PG", {"Ethernet0|3": {"profile": "ingress_lossy_profile"}}), ("headroom", 3, "on", "off"), 0),
    (_set("BUFFER_PG", {"Ethernet0|3": {"profile": "pg_lossless_100000_5m_profile"}}),
     ("headroom", 3, "on", "pg_lossless_100000_5m_profile"), 0),
    (_set("DEVICE_METADATA", {"localhost": {"hostname": "su1-leaf1"}}),
     ("hostname", None, "su1-leaf0", "su1-leaf1"), ALL),
]  # fmt: skip
Q = ("qos",)
P = "default-global"
CUMULUS: list[tuple[Any, tuple[str, Any, str, Any], Any]] = [
    (_set("interface", "swp1s0", "link", "mtu", 1500), ("mtu", None, "9216", "1500"), 0),
    (_set("interface", "swp1s1", None), ("port", None, "configured", "absent"), 1),
    (_set("interface", "swp1s0", "qos", "pfc-watchdog", "state", "disable"), ("watchdog", None, "on", "off"), 0),
    (_set("interface", "swp1s0", "qos", "link-pause", {"profile": "x"}), ("pause", None, "off", "on"), 0),
    (_set(*Q, "mapping", P, "trust", "l2"), ("trust", None, "dscp", "pcp"), ALL),
    (_set(*Q, "mapping", P, "dscp", "26", "switch-priority", 2), ("dscp", 26, "3", "2"), ALL),
    (_set(*Q, "mapping", P, "dscp", "25", None), ("dscp", 25, "0", "3"), ALL),
    (_set(*Q, "egress-queue-mapping", P, "switch-priority", "3", "traffic-class", 0), ("priority", 3, "3", "0"), ALL),
    (_set(*Q, "egress-scheduler", P, "traffic-class", "0", "bw-percent", 60), ("schedule", 0, "ets 50", "ets 60"), ALL),
    (_set(*Q, "congestion-control", P, "traffic-class", "3", "ecn", "disable"), ("ecn", 3, "on", "off"), ALL),
    (_set(*Q, "congestion-control", P, "traffic-class", "3", "min-threshold", 150000),
     ("ecn_min_bytes", 3, "1600000", "150000"), ALL),
    (_set(*Q, "congestion-control", P, "traffic-class", "3", "probability", None),
     ("ecn_probability", 3, "20", "100"), ALL),
    (_set(*Q, "pfc", P, "switch-priority", {"4": {}}), ("pfc", None, "3", "4"), ALL),
    (_set(*Q, "pfc", P, "rx", "disable"), ("pfc", None, "3", "3 (rx off)"), ALL),
    (_set(*Q, "roce", "cable-length", 5), ("cable_length", None, "40m", "5m"), ALL),
    (_set(*Q, "pfc-watchdog", "robustness", 3), ("watchdog_detection_ms", None, "200", "600"), ALL),
    (_set(*Q, "traffic-pool", "roce-lossless", "memory-percent", 20), ("lossless_percent", None, "50", "20"), ALL),
    (_set("interface", "swp1s0", "qos", "mapping", {"profile": "gone"}), ("trust", None, "dscp", None), 0),
    (_set("interface", "swp1s0", "link", "state", {"down": {}}), ("link", None, "up", "down"), 0),
    (_set("interface", "swp1s0", "qos", "egress-shaper", {"profile": "x"}), ("shaper", None, "none", "on"), 0),
    (_set(*Q, "remark", {P: {"rewrite": "l3"}}), ("remark", None, "off", "on"), ALL),
    (_set(*Q, "pfc", P, "switch-priority", {"3": {}, "4": {}}), ("pfc", None, "3", "3,4"), ALL),
    (_set("system", {"hostname": "su1-leaf1"}), ("hostname", None, "su1-leaf0", "su1-leaf1"), ALL),
]  # fmt: skip
EOS: list[tuple[Any, tuple[str, Any, str, Any], Any]] = [
    (("   description gpu001 rail0\n   mtu 9214\n", "   mtu 1500\n"), ("mtu", None, "9214", "1500"), 0),
    (("interface Ethernet1/5\n", "interface Ethernet2/5\n"), ("port", None, "configured", "absent"), 1),
    (("   qos trust dscp\n", "   qos trust cos\n"), ("trust", None, "dscp", "pcp"), ALL),
    (("qos map dscp 26 to traffic-class 3", "qos map dscp 26 to traffic-class 4"), ("dscp", 26, "3", "4"), ALL),
    (("qos map traffic-class 3 to tx-queue 3", "qos map traffic-class 3 to tx-queue 2"),
     ("priority", 3, "3", "2"), ALL),
    (("qos map traffic-class 3 to tx-queue 3\n", ""), ("priority", 3, "3", None), ALL),
    (("priority 3 no-drop\n   priority-flow-control priority 4 drop\n",
      "priority 3 drop\n   priority-flow-control priority 4 no-drop\n"), ("pfc", None, "3", "4"), ALL),
    (("   priority-flow-control on\n", ""), ("pfc", None, "3", "none"), ALL),
    (("qos profile", "priority-flow-control all off\n!\nqos profile"), ("pfc", None, "3", "none"), ALL),
    (("   tx-queue 6\n      priority strict\n      no bandwidth percent",
      "   tx-queue 6\n      no priority\n      bandwidth percent 5"),
     ("schedule", 6, "strict", "ets 5"), ALL),
    (("minimum-threshold 1600000 bytes", "minimum-threshold 9 kbytes"), ("ecn_min_bytes", 3, "1600000", "9000"), ALL),
    (("minimum-threshold 1600000 bytes", "minimum-threshold 9 segments"), ("ecn_min_bytes", 3, "1600000", None), ALL),
    (("      random-detect ecn", "      random-detect drop"), ("ecn", 3, "on", "off"), ALL),
    (("   priority-flow-control pause watchdog\n", ""), ("watchdog", None, "on", "off"), ALL),
    (("default timeout 0.20", "default timeout 0.40"), ("watchdog_detection_ms", None, "200", "400"), ALL),
    (("priority-flow-control pause watchdog action drop\n", ""), ("watchdog_action", None, "drop", "errdisable"), ALL),
    (("   description spine0\n", "   flowcontrol receive on\n"), ("pause", None, "off", "on"), 2),
    (("   description spine0\n", "   shutdown\n"), ("link", None, "up", "down"), 2),
    (("   description spine0\n", "   priority-flow-control mode off\n"), ("pfc", None, "3", "none"), 2),
    # An override of the profile, or the default that overrides nothing: the line does not tell.
    (("   description spine0\n", "   no priority-flow-control\n"), ("pfc", None, "3", None), 2),
    (("   description spine0\n", "   no priority-flow-control priority 3\n"), ("pfc", None, "3", None), 2),
    (("   description spine0\n", "   no priority-flow-control pause watchdog\n"), ("watchdog", None, "on", None), 2),
    (("   description spine0\n", "   shape rate 10 percent\n"), ("shaper", None, "none", "10 percent"), 2),
    (("   tx-queue 3\n", "   tx-queue 3\n      shape rate 1000 kbps\n"), ("shaper", 3, "none", "1000 kbps"), ALL),
    (("qos profile", "qos rewrite dscp\n!\nqos profile"), ("remark", None, "off", "on"), ALL),
    (("qos profile", "hostname su1-leaf1\n!\nqos profile"), ("hostname", None, "su1-leaf0", "su1-leaf1"), ALL),
]  # fmt: skip


def _drifts() -> Iterator[Any]:
    for system, drifts in (("sonic", SONIC), ("cumulus", CUMULUS), ("eos", EOS)):
        for number, (change, expected, ports) in enumerate(drifts):
            name = f"{system}-{number}-{expected[0]}-{expected[3]}"
            yield pytest.param(system, change, expected, ports, id=name.replace(" ", "_"))


def _changed(system: str, change: Any) -> str:
    wanted = LEAVES[system]
    if system == "eos":
        old, new = change
        text = dump(wanted)
        assert old in text
        return text.replace(old, new)
    data: Any = copy.deepcopy(sonic_tables(wanted) if system == "sonic" else cumulus.document(wanted))
    change(data)
    return json.dumps(data if system == "sonic" else [{"set": data}])


@pytest.mark.parametrize(("system", "change", "expected", "ports"), list(_drifts()))
def test_each_single_drift_is_exactly_one_difference(system: str, change: Any, expected: Any, ports: Any) -> None:
    found = differences(LEAVES[system], _changed(system, change))
    names = PORTS[system] if ports == ALL else (PORTS[system][ports],)
    assert [(x.setting, x.number, x.wanted, x.found) for x in found] == [expected]
    assert (found[0].switch, found[0].ports) == ("su1-leaf0", names)


def test_a_difference_in_words() -> None:
    found = differences(LEAVES["sonic"], _changed("sonic", _set("DSCP_TO_TC_MAP", N, "26", "4")))
    assert str(found[0]) == "su1-leaf0: Ethernet0, Ethernet8, Ethernet248: dscp 26 is 4, wanted 3"
    found = differences(LEAVES["sonic"], _changed("sonic", _set("QUEUE", "Ethernet0|3", "wred_profile", "gone")))
    assert str(found[0]) == "su1-leaf0: Ethernet0: ecn 3 is unknown, wanted on"


def test_sonic_as_an_image_comes_with_it() -> None:
    # Several ports and queues in one key, old references, two classes with PFC (qos_config.j2, Configuration.md).
    ports = "Ethernet0,Ethernet8,Ethernet248"
    data = {
        "PORT": {port: {"mtu": "9100"} for port in ports.split(",")},
        "PORT_QOS_MAP": {
            port: {
                "dscp_to_tc_map": "[DSCP_TO_TC_MAP|AZURE]",
                "tc_to_queue_map": "[TC_TO_QUEUE_MAP|AZURE]",
                "pfc_enable": "3,4",
            }
            for port in ports.split(",")
        },
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): "1" for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {"AZURE": {str(tc): str(tc) for tc in range(8)}},
        "QUEUE": {f"{ports}|3-4": {"scheduler": "[SCHEDULER|s]", "wred_profile": "[WRED_PROFILE|w]"}},
        "SCHEDULER": {"s": {"type": "DWRR", "weight": "15"}},
        "WRED_PROFILE": {
            "w": {
                "ecn": "ecn_green",
                "wred_green_enable": "true",
                "green_min_threshold": "1048576",
                "green_max_threshold": "2097152",
                "green_drop_probability": "5",
            }
        },
        "BUFFER_QUEUE": {f"{ports}|3-4": {"profile": "[BUFFER_PROFILE|egress_lossless_profile]"}},
    }
    found = {(x.setting, x.number): x.found for x in differences(LEAVES["sonic"], json.dumps(data))}
    assert found["mtu", None] == "9100"
    assert (found["dscp", 26], found["priority", 1], found["pfc", None]) == ("1", "1", "3,4") or found
    assert (found["schedule", 3], found["ecn_min_bytes", 3], found["ecn_probability", 3]) == ("ets 15", "1048576", "5")
    assert found["watchdog", None] == "off"
    assert not {("ecn", 3), ("lossless_buffer", 3), ("watchdog_action", None)} & set(found)


def test_cumulus_with_nothing_but_nv_set_qos_roce() -> None:
    # "Default RoCE Configuration" of the user guide: nearly what is wanted here. Interfaces may stand in one range.
    data = [
        {"header": {"model": "SN4700", "version": "Cumulus Linux 5.14.0"}},
        {"set": {"interface": {"swp1s0-1,swp32": {"qos": {"pfc-watchdog": {}}}}, "qos": {"roce": {}}}},
    ]
    found = {(x.setting, x.number): x.found for x in differences(LEAVES["cumulus"], json.dumps(data))}
    for dscp in (*range(24, 32), *range(49, 56)):
        if dscp != 26:
            assert found.pop(("dscp", dscp)) == str(dscp >> 3)
    assert found == {
        ("ecn_min_bytes", 3): "150000",
        ("ecn_max_bytes", 3): "1500000",
        ("ecn_probability", 3): "100",
        ("cable_length", None): "100m",
        ("lossless_percent", None): None,
        ("watchdog_detection_ms", None): "300",
        ("watchdog_restoration_ms", None): "100",
    }
    off = json.dumps([{"set": {"interface": {"swp1s0-1,swp32": {}}, "qos": {"roce": {"enable": "off"}}}}])
    found = {(x.setting, x.number): x.found for x in differences(LEAVES["cumulus"], off)}
    assert (found["trust", None], found["pfc", None], found["roce_mode", None]) == ("pcp", "none", "off")
    assert (found["schedule", 3], found["ecn", 3], found["watchdog", None]) == ("ets 13", "off", "off")


@pytest.mark.parametrize("later", [{"set": {"qos": {"roce": {"enable": "off"}}}}, {"unset": {"qos": {"roce": {}}}}])
def test_cumulus_dumps_have_one_set(later: dict[str, Any]) -> None:
    with pytest.raises(ParseError, match="more than one set, or an unset"):
        parse("cumulus", json.dumps([{"set": cumulus.document(LEAVES["cumulus"])}, later]))


def test_cumulus_ports_may_have_profiles_of_their_own() -> None:
    data = cumulus.document(LEAVES["cumulus"])
    data["qos"]["pfc"]["mine"] = {"switch-priority": {"3": {}}, "cable-length": 40}
    data["interface"]["swp1s0"]["qos"]["pfc"] = {"profile": "mine"}
    assert differences(LEAVES["cumulus"], json.dumps(data)) == ()
    data["qos"]["pfc"]["mine"]["switch-priority"] = {"4-5": {}}
    found = differences(LEAVES["cumulus"], json.dumps(data))
    assert [(x.setting, x.found, x.ports) for x in found] == [("pfc", "4,5", ("swp1s0",))]


def test_eos_ports_override_their_profile_and_leave_out_defaults() -> None:
    text = dump(LEAVES["eos"]).replace(
        "   service-profile RAILWRIGHT\n!\ninterface Ethernet1/5",
        "   service-profile RAILWRIGHT\n   priority-flow-control priority 3 drop\n!\ninterface Ethernet1/5",
    )
    found = differences(LEAVES["eos"], text)
    assert [(x.setting, x.found, x.ports) for x in found] == [("pfc", "none", ("Ethernet1/1",))]
    # What is at its default need not be there: 40-47 are traffic class 5 on every platform.
    left_out = dump(LEAVES["eos"]).replace("qos map dscp 40 41 42 43 44 45 46 47 to traffic-class 5\n", "")
    assert differences(LEAVES["eos"], left_out) == ()
    port = "   service-profile RAILWRIGHT\n!\ninterface Ethernet1/5"
    gone = dump(LEAVES["eos"]).replace(port, port.replace("RAILWRIGHT", "X"))
    unknown = {(x.setting, x.found) for x in differences(LEAVES["eos"], gone)}
    assert {("trust", None), ("pfc", None), ("watchdog", None), ("ecn", None)} <= unknown


NOT_A_DUMP = ("", "[]", "{}", "null", "3", '"x"', "{", '{"PORT": 1}', "% Invalid input", '[{"set": {}}]', '{"cmds": 1}')


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("text", NOT_A_DUMP)
def test_what_is_no_dump_is_an_error(system: str, text: str) -> None:
    with pytest.raises(ParseError):
        parse(system, text)


@pytest.mark.parametrize("system", SYSTEMS)
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_part_of_a_dump_reads_as_the_whole(system: str, data: st.DataObject) -> None:
    text = dump(LEAVES[system]).rstrip()
    length = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ParseError):
        parse(system, text[:length])
    start = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:start] + text[min(len(text), start + data.draw(st.integers(1, 400))) :]
    try:
        parse(system, damaged)
    except ParseError:
        pass


@pytest.mark.parametrize("system", SYSTEMS)
@given(
    st.text(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "PORT",
                        "PORT_QOS_MAP",
                        "Ethernet0",
                        "PFC_WD",
                        "QUEUE",
                        "Ethernet0|3",
                        "set",
                        "interface",
                        "qos",
                        "swp1-3",
                        "pfc",
                        "mapping",
                        "cmds",
                        "interface Ethernet1",
                        "roce",
                        "default-global",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(json.dumps)
)
@settings(max_examples=120, deadline=None)
def test_no_text_crashes_a_parser(system: str, text: str) -> None:
    try:
        state = parse(system, text)
    except ParseError:
        return
    assert compare(LEAVES[system], state) != ()


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _leaves(entry, (*path, key))
    else:
        yield path


def test_no_field_of_a_sonic_configuration_can_go_or_change_unseen() -> None:
    wanted = intent("sonic", switch_buffer_model="dynamic")
    whole = sonic.document(wanted)
    for path in _leaves(whole):
        # Priorities without pause frames, and words for people, are nobody's concern.
        if path[-1] == "description" or (path[0] == "MAP_PFC_PRIORITY_TO_QUEUE" and path[-1] != "3"):
            continue
        for value in (None, "77"):
            data = copy.deepcopy(whole)
            _set(*path, value)(data)
            assert differences(wanted, json.dumps(data)) != (), (path, value)


def test_no_line_of_an_eos_configuration_can_go_unseen() -> None:
    wanted = LEAVES["eos"]
    lines = dump(wanted).splitlines()
    # At their defaults: these code points; polling follows from the times.
    silent = ("!", "   !", "   description", "qos map dscp", "priority-flow-control pause watchdog default polling")
    stated = ("      no bandwidth percent", "      no random-detect ecn", "      priority strict")
    for number, line in enumerate(lines):
        if line.startswith(silent) or line in stated or line.endswith(" drop"):
            continue
        text = "\n".join(lines[:number] + lines[number + 1 :])
        try:
            found = differences(wanted, text)
        except ParseError:
            continue
        assert found != (), line


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("qos", [{**FREE, "profile": "lossy"}, {**FREE, "profile": "pfc"}, {"profile": "dcqcn"}])
def test_a_push_over_an_older_profile_converges(system: str, qos: dict[str, Any]) -> None:
    """What is pushed is merged: it must say what is no longer wanted, too."""
    wanted = intent(system, qos=qos)
    if system == "eos":
        text = _merged_lines(render(LEAVES["eos"]), render(wanted))
    else:
        module = sonic if system == "sonic" else cumulus
        tree = _merged_tree(copy.deepcopy(module.document(LEAVES[system])), module.document(wanted))
        text = json.dumps(ports_up(tree) if system == "sonic" else [{"set": tree}])
    assert differences(wanted, text) == ()


def _merged_tree(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    for key, value in new.items():
        inner = isinstance(value, dict) and isinstance(old.get(key), dict)
        old[key] = _merged_tree(old[key], value) if inner else copy.deepcopy(value)
    return old


def _merged_lines(*texts: str) -> str:
    """Lines of both, nested, each where it came last."""
    tree: dict[str, Any] = {}
    for text in texts:
        stack = [(-1, tree)]
        for line in text.splitlines():
            depth = len(line) - len(line.lstrip())
            if line.strip().startswith("!"):
                continue
            while stack[-1][0] >= depth:
                stack.pop()
            above = stack[-1][1]
            above[line.strip()] = above.pop(line.strip(), {})
            stack.append((depth, above[line.strip()]))

    def walk(level: dict[str, Any], depth: int) -> Iterator[str]:
        for line, below in level.items():
            yield " " * depth + line
            yield from walk(below, depth + 3)

    return "\n".join([*walk(tree, 0), "end", ""])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("interface Ethernet1/1\n", "<--- More --->\ninterface Ethernet1/1\n"), "pager"),
        (lambda text: text.replace("priority 3 no-drop", "priority 3 drop") + text, "more than one dump"),
        (lambda text: text.replace("interface Ethernet1/5\n", "interface Ethernet1/1\n"), "there twice"),
        (lambda text: "hostname a\nhostname a\n" + text, "there twice"),
    ],
)
def test_an_eos_dump_that_is_mixed_or_paged_is_refused(change: Callable[[str], str], words: str) -> None:
    with pytest.raises(ParseError, match=words):
        parse("eos", change(dump(LEAVES["eos"])))


@pytest.mark.parametrize(("change", "found"), [({}, None), ({"3": "0"}, "0")])
def test_pause_frames_of_a_mellanox_switch_lead_to_their_group(change: dict[str, str], found: Any) -> None:
    wanted = intent("sonic", switch_asic="mellanox")
    tables = sonic_tables(wanted)
    if change:
        tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"][N].update(change)
    else:
        del tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]
    assert [(x.setting, x.number, x.found) for x in differences(wanted, json.dumps(tables))] == [
        ("pause_group", 3, found)
    ]


def test_headroom_of_a_former_priority_is_seen_in_the_dynamic_model() -> None:
    wanted = intent("sonic", switch_buffer_model="dynamic")
    tables = sonic_tables(wanted)
    tables["BUFFER_PG"]["Ethernet0|4"] = {"profile": "NULL"}
    told = differences(wanted, json.dumps(tables))
    assert [(x.setting, x.number, x.found, x.ports) for x in told] == [("headroom", 4, "on", ("Ethernet0",))]


def test_another_buffer_model_has_no_headroom_by_itself() -> None:
    tables = sonic_tables(LEAVES["sonic"])
    tables["DEVICE_METADATA"] = {"localhost": {"buffer_model": "dynamic", "hostname": "SU1-leaf0.pod1"}}
    found = {x.setting for x in differences(LEAVES["sonic"], json.dumps(tables))}
    assert found == {"buffer_model", "headroom"}


def test_another_release_of_cumulus_is_refused() -> None:
    document = cumulus.document(LEAVES["cumulus"])
    for version in ("Cumulus Linux 3.7.2", "4.4.0"):
        with pytest.raises(ParseError, match="version 5"):
            parse("cumulus", json.dumps([{"header": {"version": version}}, {"set": document}]))
