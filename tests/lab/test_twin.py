# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The NIC twin does what docs/lab.md promises of it: what a test of the QoS code may rely on."""

from __future__ import annotations

import json
import time

import pytest

from lab import LabError
from lab.nic import Nic, captured, reload_twin
from lab.topology import rail_mac

pytestmark = [pytest.mark.lab, pytest.mark.full]

# DSCP 26 with ECT(0), and 48.
ROCE_TOS, CNP_DSCP = 106, 48
OFF, ON_3 = [False] * 8, [False] * 3 + [True] + [False] * 4


@pytest.fixture
def pair(fresh_lab):
    """rail0 of node1 (inbox) and of node2 (ofed), up and with an address."""
    nics = [Nic(fresh_lab, node, "rail0") for node in ("node1", "node2")]
    for number, nic in enumerate(nics, 1):
        nic.run(f"ip link set {{netdev}} up && ip address add 192.0.2.{number}/24 dev {{netdev}}")
    nics[0].run("ping -c1 -W5 192.0.2.2")
    return nics


def dcb(nic: Nic, thing: str) -> dict:
    return json.loads(nic.run(f"dcb -j -s {thing} show dev {{netdev}}"))


def send(nic: Nic, tos: int, count: int = 40, size: int = 1000) -> None:
    """RoCE-like packets to node2; none of them is a whole message, so that nobody answers."""
    nic.run(
        "python3 -c 'import socket,time\ns=socket.socket(2,2)\n"
        f"s.setsockopt(0,1,{tos})\nfor n in range({count}):\n"
        f' s.sendto(bytes([4])+bytes({size - 1}),("192.0.2.2",4791)); time.sleep(.001)\''
    )


def grown(nic: Nic, before: dict[str, int]) -> dict[str, int]:
    return {name: value - before.get(name, 0) for name, value in nic.counters().items() if value != before.get(name, 0)}


def await_carrier(nic: Nic) -> None:
    nic.run(
        'for i in $(seq 100); do [ "$(cat /sys/class/net/{netdev}/carrier)" = 1 ] && exit 0; sleep .1; done; exit 1'
    )


def test_each_node_has_the_files_of_its_personality(pair):
    inbox, ofed = pair
    assert inbox.run("cat {knobs}/personality; stat -c %a {cc_params}/np_cnp_dscp; cat {cc_params}/np_cnp_dscp") == (
        "inbox\n600\n48\n"
    )
    assert "qos" not in inbox.run("ls /sys/class/net/{netdev}").split()
    assert ofed.run("cat {knobs}/personality; ls /sys/kernel/debug/mlx5") == "ofed\n"
    files = "cd /sys/class/net/{netdev}; echo $(ls qos) / $(ls settings) / $(ls ecn/roce_np)"
    assert ofed.run(files).strip() == (
        "buffer_size dscp2prio maxrate prio2buffer trust / pfc_stall_prevention / "
        "cnp_802p_prio cnp_dscp enable min_time_between_cnps"
    )


def test_congestion_parameters(pair):
    inbox, ofed = pair
    # A value is cut to its field, and setting the priority makes the mode fixed.
    assert inbox.run(
        "cd {cc_params}; echo 1 > np_cnp_prio_mode; echo 5 > np_cnp_prio; echo 110 > np_cnp_dscp;"
        "echo 3 > rp_ai_rate; cat np_cnp_prio_mode np_cnp_prio np_cnp_dscp rp_ai_rate"
    ).split() == ["0", "5", str(110 & 63), "3"]
    assert ofed.run(
        "cd /sys/class/net/{netdev}/ecn; echo 0 > roce_np/enable/3; echo 5 > roce_np/cnp_802p_prio;"
        "echo 7 > roce_rp/rpg_ai_rate; cat roce_np/enable/2 roce_np/enable/3 roce_rp/enable/3"
        " roce_np/cnp_802p_prio roce_rp/rpg_ai_rate roce_rp/dce_tcp_g"
    ).split() == ["1", "0", "1", "5", "7", "1019"]
    with pytest.raises(LabError):
        ofed.run("echo 2 > /sys/class/net/{netdev}/ecn/roce_np/enable/3")


def test_trust_follows_the_first_and_the_last_dscp_entry(pair):
    ofed = pair[1]
    trust = "cat /sys/class/net/{netdev}/qos/trust"
    assert ofed.run(trust) == "pcp\n"
    ofed.run("dcb app add dev {netdev} dscp-prio 26:3 48:6")
    assert ofed.run(trust) == "dscp\n"
    with pytest.raises(LabError, match="Invalid argument"):
        ofed.run("dcb app add dev {netdev} dgram-port-prio 4791:3")
    # One priority for a DSCP. Whether the tool minds that its second step finds nothing to remove is its own affair.
    ofed.run("dcb app replace dev {netdev} dscp-prio 26:4 || true")
    assert dcb(ofed, "app") == {"dscp_prio": [[26, 4], [48, 6]]}
    assert ofed.run("grep -E '^(25|26|48)' /sys/class/net/{netdev}/qos/dscp2prio") == "25\t3\n26\t4\n48\t6\n"
    ofed.run("dcb app del dev {netdev} dscp-prio 26:4 48:6")
    assert ofed.run(trust) == "pcp\n"


def test_the_ofed_files_and_dcb_are_one_state(pair):
    ofed = pair[1]
    ofed.run(
        "cd /sys/class/net/{netdev}/qos; echo dscp > trust; echo '26 5 ' > dscp2prio;"
        "echo '1000000 0 0 0 0 0 0 0' > maxrate; echo 0,0,0,1,0,0,0,0, > prio2buffer;"
        "echo 131000,131000,0,0,0,0,0,0, > buffer_size; echo auto > ../settings/pfc_stall_prevention"
    )
    entries = dict(dcb(ofed, "app")["dscp_prio"])
    assert (len(entries), entries[25], entries[26], entries[48]) == (64, 3, 5, 6)
    buffer = dcb(ofed, "buffer")
    assert (buffer["prio_buffer"], buffer["buffer_size"]) == ([0, 0, 0, 1, 0, 0, 0, 0], [131000, 131000] + [0] * 6)
    assert dcb(ofed, "maxrate")["tc_maxrate"][:2] == [1000000, 0]
    assert "100" in ofed.run("ethtool --get-tunable {netdev} pfc-prevention-tout")
    ofed.run("dcb ets set dev {netdev} tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:50 3:50; dcb app flush dev {netdev}")
    assert ofed.run("cat /sys/class/net/{netdev}/qos/trust") == "pcp\n"
    lines = ofed.run("cat /sys/class/net/{netdev}/qos/buffer_size").splitlines()
    assert lines[0] == "Port buffer size = 262016"
    assert lines[3].split() == ["0", "131000", "0", "0"]


def test_dcbx_and_ets_refuse_what_the_driver_refuses(pair):
    inbox = pair[0]
    assert dcb(inbox, "dcbx") == {"host": True, "cee": True, "ieee": True}
    ets = dcb(inbox, "ets")
    assert (ets["prio_tc"], ets["tc_tsa"], ets["tc_bw"]) == ([1, 0, 2, 3, 4, 5, 6, 7], ["vendor"] * 8, [100] * 8)
    for command in (
        "dcbx set dev {netdev} lld-managed",
        "ets set dev {netdev} tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:60 3:60",
    ):
        with pytest.raises(LabError):
            inbox.run(f"dcb {command}")
    # The tool is silent about a refusal here.
    inbox.run("dcb buffer set dev {netdev} buffer-size all:0 0:300000 || true")
    assert dcb(inbox, "buffer")["buffer_size"] == [262016] + [0] * 7
    inbox.run("dcb ets set dev {netdev} tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60 prio-tc all:0 3:3")
    ets = dcb(inbox, "ets")
    assert ets["tc_bw"] == [40, 100, 100, 60, 100, 100, 100, 100]
    assert (ets["tc_tsa"][0], ets["tc_tsa"][1], ets["prio_tc"]) == ("ets", "strict", [0, 0, 0, 3, 0, 0, 0, 0])


def test_a_changed_pfc_mask_toggles_the_link_and_the_same_mask_does_not(pair):
    inbox = pair[0]
    changes = "cat /sys/class/net/{netdev}/carrier_changes"
    before = int(inbox.run(changes))
    inbox.run("dcb pfc set dev {netdev} prio-pfc all:off 3:on delay 20")
    await_carrier(inbox)
    assert int(inbox.run(changes)) == before + 2
    assert inbox.counters()["link_down_events_phy"] == 1
    pfc = dcb(inbox, "pfc")
    assert (pfc["prio_pfc"], pfc["delay"], pfc["pfc_cap"]) == (ON_3, 20, 8)
    # The lossless priority has moved to a buffer of its own.
    assert dcb(inbox, "buffer")["prio_buffer"] == [0, 0, 0, 1, 0, 0, 0, 0]
    inbox.run("dcb pfc set dev {netdev} prio-pfc all:off 3:on delay 20")
    time.sleep(1)
    assert int(inbox.run(changes)) == before + 2
    inbox.run("ping -c1 -W5 192.0.2.2")


def test_global_pause_and_what_is_listed(pair):
    inbox = pair[0]
    names = set(inbox.counters())
    assert {"rx_global_pause", "rx_prio3_packets", "rx_discards_phy"} <= names
    assert "tx_prio3_pause" not in names
    inbox.run("ethtool -A {netdev} rx off tx off; dcb pfc set dev {netdev} prio-pfc 3:on")
    assert inbox.run("ethtool -a {netdev}").split()[-6:] == ["Autonegotiate:", "off", "RX:", "off", "TX:", "off"]
    names = set(inbox.counters())
    assert "rx_global_pause" not in names
    assert {"rx_prio3_pause", "tx_prio3_pause", "tx_prio3_pause_duration"} <= names
    inbox.count("rx_prio3_pause", 5)
    assert inbox.counters()["rx_prio3_pause"] == 5
    assert dcb(inbox, "pfc")["indications"][3] == 5


def test_packets_are_counted_where_their_dscp_belongs(pair):
    inbox, ofed = pair
    before = ofed.counters()
    send(inbox, ROCE_TOS)
    # Nobody trusts DSCP yet.
    assert grown(ofed, before)["rx_prio0_packets"] >= 40
    for nic in pair:
        nic.run("dcb app add dev {netdev} dscp-prio 26:3")
    before, sent = ofed.counters(), inbox.counters()
    with captured(inbox.lab, "node1", "rail0") as packets:
        send(inbox, ROCE_TOS)
        received = grown(ofed, before)
    assert received["rx_prio3_packets"] == 40
    assert received["rx_prio3_bytes"] == 40 * (1000 + 28 + 14)
    assert grown(inbox, sent)["tx_prio3_packets"] == 40
    mine = [packet for packet in packets if packet.roce and packet.source == rail_mac("node1", "rail0")]
    assert [(packet.dscp, packet.ecn) for packet in mine] == [(26, 2)] * 40


def test_pressure_pauses_where_pfc_is_on_and_drops_where_it_is_off(pair):
    inbox, ofed = pair
    for nic in pair:
        nic.run("ethtool -A {netdev} rx off tx off; dcb app add dev {netdev} dscp-prio 26:3 48:6")
        nic.run("dcb pfc set dev {netdev} prio-pfc 3:on")
        await_carrier(nic)
    inbox.run("ping -c1 -W5 192.0.2.2")
    ofed.pressure(3)
    before = ofed.counters()
    with captured(inbox.lab, "node2", "rail0") as packets:
        send(inbox, ROCE_TOS)
        paused = grown(ofed, before)
    assert paused["tx_prio3_pause"] > 0
    assert paused["rx_prio3_marked"] > 0
    assert "rx_discards_phy" not in paused
    # The receiver notified the sender on the wire, and the sender's NIC took it.
    cnps = [packet for packet in packets if packet.opcode == 0x81]
    counted = ofed.hw_counters()
    assert counted["np_cnp_sent"] == len(cnps) > 0
    assert counted["np_ecn_marked_roce_packets"] >= len(cnps)
    assert {packet.dscp for packet in cnps} == {CNP_DSCP}
    assert inbox.hw_counters()["rp_cnp_handled"] == len(cnps)

    ofed.run("dcb pfc set dev {netdev} prio-pfc 3:off; echo 0 > /sys/class/net/{netdev}/ecn/roce_np/enable/3")
    await_carrier(ofed)
    inbox.run("ping -c1 -W5 192.0.2.2")
    before = ofed.counters()
    send(inbox, ROCE_TOS)
    dropped = grown(ofed, before)
    assert dropped["rx_prio3_packets"] == 40
    assert dropped["rx_discards_phy"] == dropped["rx_prio3_discards"] == dropped["rx_prio3_buf_discard"] > 0
    assert ofed.hw_counters() == counted

    # Without pressure nothing is lost, and other priorities never were.
    ofed.pressure(3, 0)
    before = ofed.counters()
    send(inbox, ROCE_TOS)
    assert "rx_discards_phy" not in grown(ofed, before)


def test_firmware_that_owns_the_port_puts_its_own_back(pair):
    inbox = pair[0]
    inbox.dcbx_owner("firmware")
    assert dcb(inbox, "dcbx") == {"cee": True, "ieee": True}
    inbox.run("dcb pfc set dev {netdev} prio-pfc 3:on; sleep 3")
    assert dcb(inbox, "pfc")["prio_pfc"] == OFF
    inbox.run("dcb dcbx set dev {netdev} host ieee && dcb pfc set dev {netdev} prio-pfc 3:on; sleep 3")
    assert dcb(inbox, "dcbx") == {"host": True, "ieee": True}
    assert dcb(inbox, "pfc")["prio_pfc"] == ON_3
    inbox.dcbx_owner("locked")
    with pytest.raises(LabError):
        inbox.run("dcb dcbx set dev {netdev} host ieee")


def test_a_willing_port_adopts_what_its_peer_has(pair):
    inbox = pair[0]
    inbox.run("dcb ets set dev {netdev} tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:50 3:50")
    inbox.willing(True, peer_pfc=[3])
    time.sleep(3)
    ets = dcb(inbox, "ets")
    assert (ets["willing"], ets["tc_tsa"]) == (True, ["vendor"] * 8)
    assert dcb(inbox, "pfc")["prio_pfc"] == ON_3


def test_settings_survive_a_link_flap_and_not_a_new_device_or_module(pair):
    settings = "dcb app add dev {netdev} dscp-prio 26:3; dcb pfc set dev {netdev} prio-pfc 3:on"
    for nic, mine, initial in zip(
        pair, ("{cc_params}/np_cnp_dscp", "/sys/class/net/{netdev}/ecn/roce_np/cnp_dscp"), ("48", "48"), strict=True
    ):

        def state(nic: Nic = nic, mine: str = mine) -> tuple:
            return dcb(nic, "app"), dcb(nic, "pfc")["prio_pfc"], nic.run(f"cat {mine}").strip()

        set_up = ({"dscp_prio": [[26, 3]]}, ON_3, "40")
        nic.run(f"{settings}; echo 40 > {mine}")
        await_carrier(nic)
        nic.run("ip link set {netdev} down; ip link set {netdev} up")
        nic.lab.link(nic.node, "rail0", False)
        nic.lab.link(nic.node, "rail0", True)
        assert state() == set_up
        nic.recreate()
        assert state() == ({}, OFF, initial)
        nic.run(f"{settings}; echo 40 > {mine}")
        assert state() == set_up
        reload_twin(nic.lab, nic.node)
        assert state() == ({}, OFF, initial)
