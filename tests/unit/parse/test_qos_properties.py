# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""No input ends a reader of lossless settings other than by ParseError, and no damage makes settings look better."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
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
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.dcb import Dcb
from tests.unit.parse import test_qos_tools as shapes

_APP = json.dumps({"dscp_prio": [[26, 3], [48, 6, " "]]})
_PFC = "pfc-cap 8 macsec-bypass off delay 7\nprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n"
_MLNX = (
    "DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n\tprio:3 dscp:26,\n\tprio:6 dscp:48,\n"
    "Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,max_buffer_size=262016\nCable len: 7\n"
    f"PFC configuration:\n{shapes.ROWS}\tbuffer      0   0   0   1   0   0   0   0   \n{shapes.CLASSES}"
)
_PAUSE = "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n"
_DCBTOOL = "Command: Get Config\nFeature: DCB State\nPort: eth0\nStatus: Off\nDCBX Version: FORCED CIN\n"
SAMPLES = {
    dcb.app: _APP,
    dcb.pfc: _PFC,
    dcb.ets: shapes.ETS_TEXT,
    dcb.buffer: json.dumps(shapes.BUFFER),
    dcb.dcbx: "host ieee\n",
    dcb.apptrust: "order: dscp pcp\n",
    dcb.maxrate: json.dumps({"tc_maxrate": [0] * 8}),
    mlnx_qos.parse: _MLNX,
    ethtool_a.parse: _PAUSE,
    lldptool.parse: shapes.LLDPDU + "End of LLDPDU TLV\n",
    dcbtool.parse: _DCBTOOL,
    niccli.parse: shapes.NIC,
    tc_qdisc.parse: shapes.MQPRIO,
    qos_files.dscp2prio: "dscp\tprio\n" + "".join(f"{n}\t{n >> 3}\n" for n in range(64)),
    qos_files.prio2buffer: "".join(f"{n} 0\n" for n in range(8)),
    qos_files.buffer_size: "Port buffer size = 1027728\n" + "".join(f"{n} 0 0 0\n" for n in range(8)),
    qos_files.trust: "dscp\n",
    qos_files.flag: "1\n",
    qos_files.number: "48\n",
    qos_files.traffic_class: "Global tclass=106\n",
    qos_files.cm_mode: "RoCE v2\n",
    qos_files.cm_tos: "106\n",
    qos_files.lockdown: "none [integrity] confidentiality\n",
}
PARSERS = pytest.mark.parametrize(
    "parse", SAMPLES, ids=lambda parse: f"{parse.__module__.rpartition('.')[2]}.{parse.__name__}"
)


def outcome(parse, *args):
    """What a parser makes of something: its result, or None when it refuses. Any other error fails the test."""
    try:
        return parse(*args)
    except ParseError as error:
        return None if error.place else pytest.fail("the error names no place")


@PARSERS
def test_the_sample_itself_is_understood(parse):
    assert parse(SAMPLES[parse]) is not None


@PARSERS
@given(data=st.data())
def test_any_text_parses_or_is_a_parse_error(parse, data):
    outcome(parse, data.draw(st.text()))


@PARSERS
@given(data=st.data())
def test_a_damaged_output_parses_or_is_a_parse_error(parse, data):
    sample = SAMPLES[parse]
    start = data.draw(st.integers(0, len(sample)))
    length = data.draw(st.integers(0, 30))
    outcome(parse, sample[:start] + data.draw(st.text(max_size=12)) + sample[start + length :])


@pytest.mark.parametrize(
    "parse", [dcb.app, dcb.pfc, dcb.ets, dcb.buffer, dcb.dcbx, dcb.apptrust, dcb.maxrate, ethtool_a.parse]
)
@given(data=st.data())
def test_any_json_parses_or_is_a_parse_error(parse, data):
    names = "dscp_prio pfc_cap delay prio_pfc requests willing ets_cap tc_bw tc_tsa prio_tc buffer_size prio_buffer"
    keys = st.sampled_from([*names.split(), "total_size", "order", "tc_maxrate", "host", "ifname", "rx", "negotiated"])
    leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just("ets") | st.floats()
    eight = st.lists(leaves, min_size=8, max_size=8)
    value = st.recursive(
        leaves | eight, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6)
    )
    outcome(parse, json.dumps(data.draw(value)))


@pytest.mark.parametrize("parse", [dcb.pfc, mlnx_qos.parse, ethtool_a.parse])
def test_a_cut_output_never_shows_what_the_whole_does_not(parse):
    sample = SAMPLES[parse]
    whole = parse(sample)
    for end in range(len(sample)):
        found = outcome(parse, sample[:end])
        for name, value in vars(found).items() if found is not None else ():
            full = getattr(whole, name)
            if name == "dscp_prio" and value is not None:
                assert set(value) <= set(full)
            elif name == "cable_length_m" and value is not None:
                assert str(full).startswith(str(value))
            else:
                # A number at the very end may have lost digits; nothing else may differ.
                assert value in (None, full) or (name == "buffer_total" and str(full).startswith(str(value)))


def test_a_cut_table_of_dscps_is_never_more_than_the_whole():
    for end in range(len(_APP)):
        assert outcome(dcb.app, _APP[:end]) is None


@pytest.mark.parametrize("parse", [dcb.ets, lldptool.parse, dcbtool.parse, tc_qdisc.parse])
def test_a_cut_output_is_refused(parse):
    sample = SAMPLES[parse].rstrip()
    for end in range(len(sample)):
        if parse is dcbtool.parse and end >= sample.index("FORCED"):
            continue  # the version is a free text
        found = outcome(parse, sample[:end])
        assert found is None or (parse is dcb.ets and end >= sample.rindex("prio-tc"))


def test_a_cut_message_is_refused():
    message = Dcb().message("eth0")
    for end in range(len(message)):
        with pytest.raises(ParseError):
            dcbnl.parse(message[:end], "eth0")


@given(message=st.binary(max_size=400))
def test_any_bytes_parse_or_are_a_parse_error(message):
    outcome(dcbnl.parse, message, "eth0")


@given(data=st.data())
def test_a_damaged_message_parses_or_is_a_parse_error(data):
    message = bytearray(Dcb().message("eth0"))
    for _ in range(data.draw(st.integers(1, 6))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    outcome(dcbnl.parse, bytes(message), "eth0")


def test_messages_of_other_kinds_are_refused():
    message = Dcb().message("eth0")
    for other in (message[:4] + b"\x02\0" + message[6:], message[:17] + b"\x16" + message[18:]):
        with pytest.raises(ParseError, match="not the reply"):
            dcbnl.parse(other, "eth0")
    empty = Dcb(share=None, pfc=None, apps=None, buffer_size=None).message("eth0")
    assert dcbnl.parse(empty, "eth0").dcbx == ("host", "ieee")
    with pytest.raises(ParseError, match="transmission selection"):
        dcbnl.parse(Dcb(tsa=("wrr",) * 8).message("eth0"), "eth0")
