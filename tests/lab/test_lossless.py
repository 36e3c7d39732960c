# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Lossless RoCE on the NIC twins: it comes back by itself, drift is found and repaired, and the wire carries the DSCP.

node1's NICs have mlx5's inbox files, node2's those of OFED.
"""

from __future__ import annotations

import json
import re
import time

import pytest

from lab.nic import Nic, captured, reload_twin
from tests.lab.test_faults import only_root

pytestmark = pytest.mark.lab
PROVE = "playbooks/prove.yml"
NODES = ("node1", "node2")
# The bound, and what an emulated node takes for a program that a real one starts at once.
BACK_S = 10.0
SETTLE_S = 30.0
DATA_DSCP, DATA_TOS = 26, 106
TEST_PORT = 18700


def flap(lab, node):
    Nic(lab, node, "rail0").run("ip link set {netdev} down; sleep 1; ip link set {netdev} up")


def recreate(lab, node):
    Nic(lab, node, "rail0").recreate()


@pytest.mark.full
@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("event", [recreate, flap, reload_twin])
def test_the_state_is_back_without_a_run(converged_lab, node, event):
    """The bound counts from the end of the event; the node itself is asked, over and over."""
    lab = converged_lab.lab
    event(lab, node)
    began = time.monotonic()
    while (check := lab.run(node, ["railwright", "check"], check=False)).returncode:
        assert time.monotonic() - began < BACK_S + SETTLE_S, check.stdout
    # It was the agent who did it, which says so once it has looked again.
    while event is not flap and "rail0" not in (
        log := lab.run(node, ["journalctl -b -u railwright-restore.service"]).stdout
    ):
        assert time.monotonic() - began < BACK_S + SETTLE_S, log


@pytest.mark.full
@pytest.mark.parametrize("node", NODES)
def test_the_state_is_back_after_a_reboot(converged_lab, node):
    converged_lab.lab.reboot(node)
    converged_lab.await_agent(node)


# setting, what changes it by hand (nodes), rule that finds it
DRIFT = [
    ("PFC off", "dcb pfc set dev {netdev} prio-pfc all:off", "qos.pfc", NODES),
    ("PFC on the wrong priority", "dcb pfc set dev {netdev} prio-pfc all:off 4:on", "qos.pfc", NODES),
    ("trust pcp", "dcb app flush dev {netdev}", "qos.trust", ("node1",)),
    ("trust pcp by its file", "echo pcp > /sys/class/net/{netdev}/qos/trust", "qos.trust", ("node2",)),
    ("DSCP map off by one", "dcb app replace dev {netdev} dscp-prio 26:2; true", "qos.dscp_map", NODES),
    ("ETS 60/40", "dcb ets set dev {netdev} tc-bw all:0 0:60 3:40", "qos.ets", NODES),
    ("priority in another class", "dcb ets set dev {netdev} tc-bw all:0 0:50 3:50 prio-tc 5:6", "qos.prio_tc", NODES),
    ("global pause", "ethtool -A {netdev} rx on tx on", "qos.pause", NODES),
    ("cable length", "dcb pfc set dev {netdev} delay 40", "qos.cable", NODES),
    ("CNP in the lossless class", "echo 3 > {cc_params}/np_cnp_prio", "qos.cnp", ("node1",)),
    ("CNP's DSCP", "echo 26 > {cc_params}/np_cnp_dscp", "qos.cnp", ("node1",)),
    ("CNP in the lossless class by OFED's file",
     "echo 3 > /sys/class/net/{netdev}/ecn/roce_np/cnp_802p_prio", "qos.cnp", ("node2",)),
    ("ECN off at the notification point",
     "echo 0 > /sys/class/net/{netdev}/ecn/roce_np/enable/3", "qos.ecn", ("node2",)),
    ("ECN off at the reaction point",
     "echo 0 > /sys/class/net/{netdev}/ecn/roce_rp/enable/3", "qos.ecn", ("node2",)),
    ("ToS 104", "echo 104 > /sys/kernel/config/rdma_cm/rxe_rail0/ports/1/default_roce_tos", "qos.tos", NODES),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("node", NODES)
def test_drift_in_each_setting_is_found_and_repaired(converged_lab, node):
    """Each alone, one after the other, from a state that passes to one that passes."""
    nic = Nic(converged_lab.lab, node, "rail0")
    told = {setting: drifted(nic, script, rule) for setting, script, rule, nodes in DRIFT if node in nodes}
    assert not {setting: words for setting, words in told.items() if words}


def drifted(nic, script, rule):
    """What is wrong with how the node finds and repairs a setting that was changed by hand; nothing, when all is well.

    Nothing but that setting is written; the DSCPs of a map that was emptied are settings as well.
    """
    nic.run(script)
    found = nic.lab.run(nic.node, ["railwright", "check", "--json"], check=False)
    findings = [entry for entry in json.loads(found.stdout)["findings"] if entry["state"] != "pass"]
    roots = [entry["rule"] for entry in findings if not entry["caused_by"]]
    done = nic.lab.run(nic.node, ["railwright", "apply"], check=False)
    again = nic.lab.run(nic.node, ["railwright", "check"], check=False)
    # The agent is held back by its own work, not by a person's.
    nic.lab.run(nic.node, ["rm -f /run/railwright/applied"])
    steps = [line for line in done.stdout.splitlines() if " -> " in line]
    due = 3 if "flush" in script else 1
    if (found.returncode, roots, done.returncode, len(steps), again.returncode) == (1, [rule], 0, due, 0):
        return ""
    return f"roots {roots}\napply {done.stdout}\nthen {again.stdout}"


@pytest.mark.full
def test_drift_is_shown_and_repaired_by_the_playbook(converged_lab):
    lab = converged_lab.lab
    Nic(lab, "node1", "rail0").run(
        "dcb pfc set dev {netdev} prio-pfc all:off 4:on; ethtool -A {netdev} rx on tx on;"
        "echo 5 > {cc_params}/np_cnp_prio"
    )
    Nic(lab, "node2", "rail1").run(
        "echo 0 > /sys/class/net/{netdev}/ecn/roce_np/enable/3; dcb ets set dev {netdev} tc-bw all:0 0:60 3:40;"
        "echo 104 > /sys/kernel/config/rdma_cm/rxe_rail1/ports/1/default_roce_tos"
    )
    predicted = converged_lab.playbook("site.yml", "--check", "--diff", check=False)
    assert "rail0: the link flaps, for PFC" in " ".join(predicted.out.split()), predicted.out
    played = converged_lab.playbook("site.yml", "--diff")
    assert played.report["verdict"] == "pass"
    assert played.changed() == {"node1": 1, "node2": 1, "localhost": 0}
    for word in ("PFC", "global pause", "priority of CNPs", "notification point", "RDMA-CM ToS"):
        assert re.search(rf"^\+rail[01]: .*{word}", played.out, re.MULTILINE), played.out
    assert not played.steps() - predicted.steps()
    assert converged_lab.playbook("site.yml").changed() == {"node1": 0, "node2": 0, "localhost": 0}


@pytest.mark.full
def test_a_link_flap_is_refused_while_a_job_runs(converged_lab):
    nic = Nic(converged_lab.lab, "node1", "rail0")
    nic.run(
        "systemd-run --quiet --unit job ib_write_bw -d rxe_rail0 -p 18900; sleep 1;"
        "dcb pfc set dev {netdev} prio-pfc all:off"
    )
    done = nic.lab.run("node1", ["railwright", "apply"], check=False)
    assert done.returncode == 1
    assert "rail0: a change would interrupt jobs: rxe_rail0" in done.stdout
    assert '"prio_pfc":[false,false,false,false' in nic.run("dcb -j pfc show dev {netdev}")
    nic.run("systemctl stop job")
    assert nic.lab.run("node1", ["railwright", "apply"], check=False).returncode == 0


def test_the_wire_carries_the_dscp(converged_lab):
    """RDMA-CM's own connections have the default ToS; others what the application says."""
    lab = converged_lab.lab
    for number, options in enumerate(("-R", f"--tclass={DATA_TOS}")):
        test = f"ib_write_bw {options} -d rxe_rail0 -p {TEST_PORT} -s 4096 -n 100"
        lab.run("node2", [f"systemd-run --quiet --collect --unit wire{number} {test}"])
        time.sleep(2)
        with captured(lab, "node1", "rail0") as packets:
            lab.run("node1", [f"{test} 10.100.0.2"], timeout=120)
        data = [packet for packet in packets if packet.roce and packet.opcode in (6, 7, 8, 10)]  # RC RDMA WRITE
        assert len(data) >= 100, f"{options}: {len(data)} of {len(packets)} packets"
        assert {(packet.dscp, packet.ecn & 2) for packet in data} == {(DATA_DSCP, 2)}, options


@pytest.mark.full
def test_without_the_default_tos_the_proof_fails_and_says_why(converged_lab):
    converged_lab.lab.run("node1", ["echo 0 > /sys/kernel/config/rdma_cm/rxe_rail0/ports/1/default_roce_tos"])
    played = converged_lab.playbook(PROVE, check=False)
    roots = played.roots()
    assert [(root["rule"], root["host"], root["rail"]) for root in roots] == [("qos.tos", "node1", "rail0")], roots
    pairs = [pair for pair in played.report["pairs"] if pair["kind"] == "cm_class" and pair["error"]]
    assert {(pair["host"], pair["rail"], pair["reason"]) for pair in pairs} == {("node1", "rail0", "wrong_class")}


@pytest.mark.full
def test_discards_under_pressure_fail_the_proof(converged_lab):
    nic = Nic(converged_lab.lab, "node2", "rail0")
    nic.run("systemctl mask --runtime --now railwright-restore.service; dcb pfc set dev {netdev} prio-pfc all:off")
    nic.pressure(3, 20000)
    played = converged_lab.playbook(PROVE, check=False)
    roots = played.roots()
    assert {(root["rule"], root["host"], root["rail"]) for root in roots} == {("qos.pfc", "node2", "rail0")}, roots
    assert [pair for pair in played.report["pairs"] if pair["kind"] == "lossless" and pair["error"]]


# name, node, what breaks it, rule, state, a word of the finding
FAULTS = [
    ("PFC off", "node1", "dcb pfc set dev {netdev} prio-pfc all:off", "qos.pfc", "fail", "3"),
    ("PFC on the wrong priority", "node2", "dcb pfc set dev {netdev} prio-pfc all:off 4:on", "qos.pfc", "fail", "4"),
    ("trust pcp", "node1", "dcb app flush dev {netdev}", "qos.trust", "fail", "pcp"),
    ("DSCP map off by one", "node1", "dcb app replace dev {netdev} dscp-prio 26:2; true", "qos.dscp_map", "fail", "26"),
    ("ECN off", "node2", "echo 0 > /sys/class/net/{netdev}/ecn/roce_np/enable/3", "qos.ecn", "fail", "3"),
    ("CNP in the lossless class", "node1", "echo 3 > {cc_params}/np_cnp_prio", "qos.cnp", "fail", "3"),
    ("global pause on", "node2", "ethtool -A {netdev} rx on tx on", "qos.pause", "fail", "on"),
    ("DCBX firmware-owned", "node2", "echo locked > {knobs}/dcbx", "qos.dcbx", "fail", "firmware"),
    ("lldpad running", "node1", "apt-get -qq install lldpad && systemctl start lldpad",
     "qos.lldpad", "fail", "lldpad"),
    ("ETS 60/40", "node1", "dcb ets set dev {netdev} tc-bw all:0 0:60 3:40", "qos.ets", "fail", "60"),
    ("ToS 104", "node1", "echo 104 > /sys/kernel/config/rdma_cm/rxe_rail0/ports/1/default_roce_tos",
     "qos.tos", "fail", "ECT(0)"),
    ("agent's unit disabled", "node1", "systemctl disable --now railwright-apply",
     "qos.agent", "fail", "railwright-apply"),
]  # fmt: skip
REPRESENTATIVE = ("PFC on the wrong priority",)


@pytest.mark.parametrize(
    ("node", "script", "rule", "state", "word"),
    [
        pytest.param(*fault, id=name, marks=() if name in REPRESENTATIVE else pytest.mark.full)
        for name, *fault in FAULTS
    ],
)
def test_one_root(converged_lab, node, script, rule, state, word):
    Nic(converged_lab.lab, node, "rail0").run(script)
    root = only_root(converged_lab)
    assert (root["rule"], root["host"], root["state"]) == (rule, node, state)
    assert word in f"{root['expected']} {root['found']} {root['cause']} {root['remedy']}"
