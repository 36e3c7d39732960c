# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools and files that show lossless settings: shapes, versions, and what they are refused for."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import QosState
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import (
    dcb,
    dcbnl,
    dcbtool,
    ethtool_a,
    lldptool,
    mlnx_qos,
    niccli,
    qos_files,
    tc_qdisc,
)

from tests.unit.dcb import Dcb

ETS = {
    "willing": False,
    "ets_cap": 8,
    "cbs": False,
    "tc_bw": [50, 0, 0, 50, 0, 0, 0, 0],
    "pg_bw": [0] * 8,
    "tc_tsa": ["ets", "strict", "strict", "ets", "strict", "strict", "strict", "vendor"],
    "prio_tc": [0, 0, 0, 3, 0, 0, 6, 0],
}
ETS_TEXT = (
    "willing off ets-cap 8 cbs off\n"
    "tc-bw 0:50 1:0 2:0 3:50 4:0 5:0 6:0 7:0\n"
    "pg-bw 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0\n"
    "tc-tsa 0:ets 1:strict 2:strict 3:ets 4:strict 5:strict 6:strict 7:vendor\n"
    "prio-tc 0:0 1:0 2:0 3:3 4:0 5:0 6:6 7:0\n"
)
BUFFER = {"prio_buffer": [0, 0, 0, 1, 0, 0, 0, 0], "buffer_size": [130944, 130944, *[0] * 6], "total_size": 1027728}
PFC = {"pfc_cap": 8, "macsec_bypass": False, "delay": 7, "prio_pfc": [n == 3 for n in range(8)]}
ROWS = "\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   0   0   0   \n"
CLASSES = "".join(f"tc: {n} ratelimit: 10.0 Gbps, tsa: strict\n\t priority:  {n}\n" for n in range(8))
MQPRIO = "qdisc mqprio 8001: root tc 2 map 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0\nqueues:(0:3) (4:7)\n"
LLDPDU = "IEEE 8021QAZ PFC TLV\n\t Willing: yes\n\t PFC capable traffic classes: 8\n\t PFC enabled: 3\n"
NIC = "1 ) Broadcom\n  Device Interface Name : eth0\n  MAC Address : 8C:84:74:26:D2:70\n  PCI Address : 0000:06:00.0\n"


@pytest.mark.parametrize("entries", ["[[26,3],[48,6]]", '[[26,3," "],[48,6," "]]'])
def test_dcb_app_of_every_version(entries):
    assert dcb.app(f'{{"dscp_prio":{entries}}}').dscp_prio == ((26, 3), (48, 6))


def test_dcb_app_that_is_empty():
    assert dcb.app('{"default_prio":[2]}') == QosState("", trust="pcp", dscp_prio=())
    assert dcb.app("ethtype-prio 0x8906:3\n").trust == "pcp"
    with pytest.raises(ParseError, match="no table"):
        dcb.app("\n")


@pytest.mark.parametrize(
    ("name", "dscp"), [("CS0", 0), ("CS6", 48), ("AF11", 10), ("AF43", 38), ("EF", 46), ("LE", 1), ("26", 26)]
)
def test_names_of_dscps(name, dscp):
    assert dcb.app(f"default-prio 0\ndscp-prio {name}:3 48:6\n").dscp_prio == tuple(sorted(((dscp, 3), (48, 6))))


@pytest.mark.parametrize(
    "text",
    [
        "dscp-prio AF34:3",
        "dscp-prio 64:3",
        "dscp-prio 26:8",
        "dscp-prio 26",
        "Befehl nicht gefunden",
        '{"dscp_prio":[[26]]}',
        '{"dscp_prio":[[26,true]]}',
        '{"dscp_prio":{"26":3}}',
        "[]",
        "Attribute read: Operation not supported",
    ],
)
def test_dcb_app_refused(text):
    with pytest.raises(ParseError):
        dcb.app(text)


def test_dcb_pfc_as_json():
    found = dcb.pfc(json.dumps({**PFC, "requests": [0] * 8, "indications": [0, 0, 0, 9, 0, 0, 0, 0]}), "eth0")
    assert (found.netdev, found.pfc, found.pfc_classes, found.cable_length_m) == ("eth0", (3,), 8, 7)
    assert found.pfc_received == (0, 0, 0, 9, 0, 0, 0, 0)


def test_dcb_ets_as_json_and_as_text():
    found = dcb.ets(json.dumps(ETS))
    assert found == dcb.ets(ETS_TEXT)
    assert found == QosState(
        "",
        willing=False,
        tcs=8,
        share=tuple(ETS["tc_bw"]),
        tsa=tuple(ETS["tc_tsa"]),
        prio_tc=tuple(ETS["prio_tc"]),
    )


def test_a_class_that_does_not_share_has_no_share():
    bandwidths = [50, 100, 100, 50, 100, 100, 100, 100]  # as mlx5 has it
    assert dcb.ets(json.dumps({**ETS, "tc_bw": bandwidths})).share == (50, 0, 0, 50, 0, 0, 0, 0)
    assert dcbnl.parse(Dcb(share=tuple(bandwidths)).message("eth0"), "eth0").share == (50, 0, 0, 50, 0, 0, 0, 0)


def test_dcb_buffer_as_json_and_as_text():
    found = dcb.buffer(json.dumps(BUFFER))
    assert (found.buffer_size[:2], found.prio_buffer[3], found.buffer_total) == ((130944, 130944), 1, 1027728)
    text = (
        "prio-buffer 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:0\n"
        "buffer-size 0:128Kb 1:130944b 2:0b 3:0b 4:0b 5:0b 6:0b 7:0b\ntotal-size 1Mb\n"
    )
    told = dcb.buffer(text)
    assert (told.buffer_size[:3], told.buffer_total) == ((131072, 130944, 0), 1 << 20)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ('{"host":true,"ieee":true}', ("host", "ieee")),
        ("{}", ()),
        ("host ieee \n", ("host", "ieee")),
        ("lld-managed cee", ("lld_managed", "cee")),
    ],
)
def test_dcb_dcbx(text, flags):
    assert dcb.dcbx(text).dcbx == flags


@pytest.mark.parametrize("text", ["", "\n", "host firmware", '{"host":1}', '{"firmware":true}'])
def test_dcb_dcbx_refused(text):
    with pytest.raises(ParseError):
        dcb.dcbx(text)


def test_dcb_apptrust():
    assert dcb.apptrust('{"order":["dscp","pcp"]}').trust == "dscp"
    assert dcb.apptrust("order: ethtype pcp dscp \n").trust == "pcp"
    assert dcb.apptrust('{"order":[]}').trust is None
    for text in ("", "dscp pcp", '{"order":"dscp"}', '{"order":[5]}'):
        with pytest.raises(ParseError):
            dcb.apptrust(text)


def test_dcb_maxrate():
    assert dcb.maxrate('{"tc_maxrate":[0,0,0,3125000000,0,0,0,0]}')[3] == 25_000_000_000
    assert dcb.maxrate("tc-maxrate 0:0bit 1:0bit 2:0bit 3:25Gbit 4:0bit 5:0bit 6:0bit 7:0bit\n")[3] == 25_000_000_000
    with pytest.raises(ParseError):
        dcb.maxrate("tc-maxrate 0:0bit 1:0bit 2:0bit 3:fast 4:0bit 5:0bit 6:0bit 7:0bit\n")


@pytest.mark.parametrize(
    ("parse", "good", "key", "value"),
    [
        (dcb.pfc, PFC, "prio_pfc", [True] * 7),
        (dcb.pfc, PFC, "prio_pfc", ["an"] * 8),
        (dcb.pfc, PFC, "pfc_cap", 9),
        (dcb.pfc, PFC, "delay", None),
        (dcb.ets, ETS, "tc_bw", [101] * 8),
        (dcb.ets, ETS, "tc_tsa", ["wrr"] * 8),
        (dcb.ets, ETS, "prio_tc", [8] * 8),
        (dcb.ets, ETS, "willing", "no"),
        (dcb.buffer, BUFFER, "buffer_size", ["1Tb"] * 8),
        (dcb.buffer, BUFFER, "total_size", [1]),
    ],
)
def test_dcb_refused(parse, good, key, value):
    with pytest.raises(ParseError):
        parse(json.dumps({**good, key: value}))
    lacking = {name: kept for name, kept in good.items() if name != key}
    with pytest.raises(ParseError):
        parse(json.dumps(lacking))


@pytest.mark.parametrize(
    "text",
    [
        ETS_TEXT + "tc-bw 0:50 1:0 2:0 3:50 4:0 5:0 6:0 7:0\n",
        ETS_TEXT.replace("2:0 3:50", "3:50 2:0"),
        ETS_TEXT.replace("willing off", "willing"),
        ETS_TEXT + "Cannot open netlink socket\n",
    ],
)
def test_dcb_text_that_is_interleaved_or_cut(text):
    with pytest.raises(ParseError):
        dcb.ets(text)


def test_mlnx_qos_of_today():
    text = (
        "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"
        "DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n"
        "\tprio:3 dscp:26,\n\tprio:6 dscp:48,46,\ndefault priority:\n\tprio:2\n"
        "Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,total_size=1027728\nCable len: 5\n"
        f"PFC configuration:\n{ROWS}\tbuffer      0   0   0   1   0   0   0   0   \n{CLASSES}"
    )
    found = mlnx_qos.parse(text)
    assert mlnx_qos.lldpad_runs(text)
    assert found.dscp_prio == ((26, 3), (46, 6), (48, 6))
    assert (found.buffer_total, found.cable_length_m, found.pfc) == (1027728, 5, (3,))
    assert (found.tsa, found.prio_tc) == (("strict",) * 8, tuple(range(8)))
    assert not mlnx_qos.lldpad_runs(text.partition("\n")[2])


def test_mlnx_qos_of_a_nic_without_buffers_and_trust():
    lacks = "Priority trust state is not supported on your system\nBuffers commands are not supported on your system\n"
    found = mlnx_qos.parse(f"{lacks}Priority trust state: none\nPFC configuration:\n{ROWS}")
    assert (found.trust, found.buffer_size, found.prio_buffer, found.pfc) == (None, None, None, (3,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PFC configuration:\n",
        "PFC configuration:\n" + ROWS.splitlines()[0],
        "PFC configuration:\n" + ROWS + ROWS,
        "PFC configuration:\n" + ROWS.replace("3   4", "4   3"),
        "PFC configuration:\n" + ROWS.replace("0   1   0", "0   2   0"),
        ROWS,
        "Priority trust state: dscp\ndscp2prio mapping:\n",
        "Priority trust state: dscp\nprio:3 dscp:26,\n",
        "Priority trust state: dscp\nPriority trust state: pcp\n",
        "DCBX-Modus: vom Betriebssystem\n",
        "Receive buffer size (bytes): 1,2,3\n",
        CLASSES[: CLASSES.index("tc: 7")],
        CLASSES + "tc: 7 ratelimit: unlimited, tsa: strict\n",
        CLASSES.replace("tsa: strict", "tsa: ets"),
        CLASSES.replace("priority:  7", "priority:  6"),
        "priority:  3\n",
        "mlnx_qos: command not found\n",
    ],
)
def test_mlnx_qos_refused(text):
    with pytest.raises(ParseError):
        mlnx_qos.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        LLDPDU,
        LLDPDU.replace("PFC enabled: 3", "PFC enabled: ") + "End of LLDPDU TLV\n",
        LLDPDU.replace("PFC enabled: 3", "PFC enabled: 5 3") + "End of LLDPDU TLV\n",
        LLDPDU.replace("yes", "ja") + "End of LLDPDU TLV\n",
        LLDPDU + LLDPDU + "End of LLDPDU TLV\n",
        LLDPDU + "End of LLDPDU TLV\nEnd of LLDPDU TLV\n",
        "IEEE 8021QAZ APP TLV\n\tApp#0:\n\t Priority: 3\n\t Sel: 5\nEnd of LLDPDU TLV\n",
        "IEEE 8021QAZ APP TLV\n\tApp#0:\n\t Priority: 9\n\t Sel: 5\n\t DSCP: 26\nEnd of LLDPDU TLV\n",
        "connect: Connection refused\n",
    ],
)
def test_lldptool_refused(text):
    with pytest.raises(ParseError):
        lldptool.parse(text)


def test_lldptool_knows_dscps():
    text = LLDPDU + "IEEE 8021QAZ APP TLV\n\tApp#0:\n\t Priority: 3\n\t Sel: 5\n\t DSCP: 26\n\nEnd of LLDPDU TLV\n"
    found = lldptool.parse(text)
    assert (found.pfc, found.dscp_prio) == ((3,), ((26, 3),))


@pytest.mark.parametrize("text", ["", "Command: Get Config\n", "Port: a\nPort: b\n", "Statut : éteint\n"])
def test_dcbtool_refused(text):
    with pytest.raises(ParseError):
        dcbtool.parse(text)


@pytest.mark.parametrize(
    "text", ["", NIC[: NIC.index("PCI")], NIC + NIC.replace("1 )", "2 )"), "  MAC Address : x\n", NIC + "Error\n"]
)
def test_niccli_refused(text):
    with pytest.raises(ParseError):
        niccli.parse(text)


def test_pause_as_json():
    entry = {"ifname": "eth0", "autonegotiate": True, "rx": True, "tx": False, "negotiated": {"rx": True, "tx": False}}
    found = ethtool_a.parse(json.dumps([entry]))
    assert (found.rx_active, found.tx_active) == (True, False)
    assert ethtool_a.parse(json.dumps([{**entry, "negotiated": {}}])).rx_active is None
    for bad in ([], [entry, entry], [{}], [{**entry, "rx": "an"}], [{**entry, "negotiated": []}], {"ifname": "eth0"}):
        with pytest.raises(ParseError):
            ethtool_a.parse(json.dumps(bad))


def test_pause_with_statistics():
    text = "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\ton\nStatistics:\n  tx_pause_frames: 7\n"
    found = ethtool_a.parse(text)
    assert (found.rx_active, found.tx_active) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Pause parameters for eth0:\n",
        "Pause parameters for eth0:\nAutonegotiate: off\nRX: off\n",
        "Pause parameters for eth0:\nAutonegotiate: aus\nRX: off\nTX: off\n",
        "Pause parameters for eth0:\nRX: off\nRX: on\nTX: off\nAutonegotiate: off\n",
        "RX: off\n",
    ],
)
def test_pause_refused(text):
    with pytest.raises(ParseError):
        ethtool_a.parse(text)


def test_roots_that_are_no_mqprio():
    for text in (
        "qdisc noqueue 0: root refcnt 2 \n",
        "qdisc mq 0: dev eth0 root \nqdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024\n",
    ):
        assert tc_qdisc.parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "qdisc fq_codel 0: parent :1 limit 10240p\n",
        MQPRIO.splitlines()[0],
        MQPRIO + MQPRIO,
        MQPRIO.replace("tc 2", "tc 3"),
        MQPRIO.replace("0 1 0", "0 2 0"),
        MQPRIO.replace("4:7", "7:4"),
        'Cannot find device "eth9"\n',
    ],
)
def test_mqprio_refused(text):
    with pytest.raises(ParseError):
        tc_qdisc.parse(text)


def test_mqprio_with_a_netdev():
    found = tc_qdisc.parse(MQPRIO.replace("root", "dev eth0 root") + "mode: dcb\nshaper:bw_rlimit\n")
    assert (found.mode, found.shaper, found.queues) == ("dcb", "bw_rlimit", ((0, 3), (4, 7)))


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (qos_files.trust, "both\n"),
        (qos_files.flag, "2\n"),
        (qos_files.number, "-1\n"),
        (qos_files.number, ""),
        (qos_files.cm_tos, "256\n"),
        (qos_files.cm_mode, "RoCE\n"),
        (qos_files.traffic_class, "Global tclass=256\n"),
        (qos_files.traffic_class, "Global tclass=\n"),
        (qos_files.traffic_class, "Invalid argument\n"),
        (qos_files.lockdown, "none integrity confidentiality\n"),
        (qos_files.lockdown, "[none] [integrity]\n"),
        (qos_files.dscp2prio, "dscp\tprio\n0\t0\n"),
        (qos_files.dscp2prio, "".join(f"{n} {n >> 3}\n" for n in range(63)) + "62 7\n"),
        (qos_files.dscp2prio, "".join(f"{n} {n}\n" for n in range(64))),
        (qos_files.prio2buffer, "".join(f"{n} 0\n" for n in range(7))),
        (qos_files.buffer_size, "Port buffer size = many\n"),
    ],
)
def test_files_refused(parse, text):
    with pytest.raises(ParseError):
        parse(text)


def test_files():
    assert qos_files.traffic_class("") == -1
    assert qos_files.traffic_class("tclass=96,dst_ip=10.0.0.0/8\n") == -1
    assert qos_files.traffic_class("Global tclass=106\ntclass=96,dst_ip=10.0.0.0/8\n") == 106
    assert qos_files.lockdown("[none] integrity confidentiality\n") == "none"
    assert qos_files.cm_mode("IB/RoCE v1\n") == "IB/RoCE v1"
