# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""No input ends a parser other than by ParseError, and a cut output never looks better than the whole."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import (
    dmesg,
    ethtool,
    ethtool_i,
    ethtool_m,
    ethtool_s,
    filters,
    ibdev2netdev,
    ibstat,
    ibstatus,
    ibv_devices,
    ibv_devinfo,
    ip_address,
    ip_route,
    iptables_save,
    limits,
    lldp,
    lspci,
    mlxlink,
    modules,
    nft,
    os_release,
    rdma_dev,
    rdma_link,
    show_gids,
    sysfs,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit import trees

_NIC = trees.rail_nics()[0]
_ROCE = "Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
_CHAIN = {"family": "inet", "table": "t", "name": "in", "type": "filter", "hook": "input", "policy": "drop"}
_MATCH = {
    "op": "==",
    "left": {"payload": {"protocol": "udp", "field": "dport"}},
    "right": {"set": [4791, {"range": [1, 2]}]},
}
_RULE = {"family": "inet", "table": "t", "chain": "in", "handle": 7, "expr": [{"match": _MATCH}, {"drop": None}]}
_NFT = json.dumps({"nftables": [{"chain": _CHAIN}, {"rule": _RULE}]})
_SAVED = "*filter\n:INPUT DROP [0:0]\n-A INPUT ! -i lo+ -p udp -m multiport --dports 4791,1:2 -j DROP\nCOMMIT\n"
SAMPLES = {
    rdma_link.parse: "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0\n"
    "link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 12 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n",
    rdma_dev.parse: "0: mlx5_0: node_type ca fw 28.39.1002 node_guid b8ce:f603:0000:0001 sys_image_guid 0\n",
    ibv_devinfo.parse: trees._devinfo(_NIC)
    + "\t\t\tactive_width:\t\t4X (2)\n\t\t\tactive_speed:\t\t100.0 Gbps (128)\n\t\t\tphys_state:\t\tLINK_UP (5)\n"
    "\t\t\tGID[  0]:\t\tfe80::bace:f6ff:fe00:1, RoCE v2\n",
    ibv_devices.parse: "    device\t   node GUID\n    ------\t-------\n    mlx5_0\tb8cef60300000001\n",
    show_gids.parse: "DEV\tPORT\nmlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1\tv2\teth0\n"
    "n_gids_found=1\n",
    ibdev2netdev.parse: "mlx5_0 port 1 ==> eth0 (Up)\n",
    ibstat.parse: "CA 'mlx5_0'\n\tCA type: MT4129\n"
    "\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n",
    ibstatus.parse: _ROCE + "\trate:\t\t 400 Gb/sec (4X NDR)\n\tlink_layer:\t Ethernet\n",
    ethtool_i.parse: "driver: mlx5_core\nfirmware-version: 28.39.1002 (MT_0000000838)\nbus-info: 0000:18:00.0\n",
    lldp.parse: json.dumps(trees._lldp([_NIC])),
    modules.parse: "Module                  Size  Used by\nib_core 557056 9 rdma_cm,ib_ipoib\n",
    ip_address.parse: json.dumps(trees._ip([_NIC], [trees.Upper("bond0", mode="802.3ad")])),
    ip_route.routes: json.dumps(list(trees._routes(trees.MANAGEMENT, [_NIC], []))),
    ip_route.rules: json.dumps(trees.RULES),
    ethtool.parse: "Settings for eth0:\n\tSpeed: 200000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n",
    ethtool_m.parse: "\tIdentifier : 0x11 (QSFP28)\n\tModule temperature : 41.55 degrees C / 106.78 degrees F\n"
    "\tRcvr signal avg optical power(Channel 1) : 0.5784 mW / -2.38 dBm\n",
    ethtool_s.parse: "NIC statistics:\n     [0]: rx_discards: 7\n     rx_crc_errors_phy: 386\n",
    mlxlink.parse: "State : Active\nPhysical state : LinkUp\nRaw Physical BER : 1E-9\nTemperature [C] : 46 [-5..75]\n",
    lspci.parse: "1a:00.0 NIC\n\tLnkCap:\tSpeed 32GT/s, Width x16\n\tLnkSta:\tSpeed 16GT/s (downgraded), Width x8\n",
    dmesg.parse: "[ 8.4] mlx5_core 0000:43:00.0: poll_health:694:(pid 0): Fatal error 1 detected\n",
    nft.parse: _NFT,
    iptables_save.parse: _SAVED,
    limits.process_memlock: "Limit   Soft Limit   Hard Limit   Units\nMax locked memory   65536   unlimited   bytes\n",
    os_release.parse: 'ID=debian\nVERSION_ID="12"\n',
    limits.ulimit_memlock: "max locked memory       (kbytes, -l) unlimited\n",
    sysfs.state: "4: ACTIVE\n",
    sysfs.physical_state: "5: LinkUp\n",
    sysfs.rate: "400 Gb/sec (4X NDR)\n",
    sysfs.lid: "0x1\n",
    sysfs.link_layer: "Ethernet\n",
    sysfs.counter: "12\n",
    sysfs.link_speed: "16.0 GT/s PCIe\n",
    sysfs.link_width: "16\n",
}
PARSERS = pytest.mark.parametrize(
    "parse", SAMPLES, ids=lambda parse: f"{parse.__module__.rpartition('.')[2]}.{parse.__name__}"
)


def outcome(parse, text):
    """What a parser makes of a text: its result, or None when it refuses. Any other error fails the test."""
    try:
        return parse(text)
    except ParseError as error:
        return None if error.place else pytest.fail("the error names no place")


@PARSERS
def test_the_sample_itself_is_understood(parse):
    assert parse(SAMPLES[parse])


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


@pytest.mark.parametrize("parse", [rdma_link.parse, ibv_devinfo.parse, ibstat.parse, ibstatus.parse])
def test_a_cut_output_never_shows_a_port_that_the_whole_does_not(parse):
    sample = SAMPLES[parse]
    whole = {(device.name, port.number): port for device in parse(sample) for port in device.ports}
    for end in range(len(sample)):
        for device in outcome(parse, sample[:end]) or ():
            for port in device.ports:
                full = whole[device.name, port.number]
                assert port.state in (None, full.state)
                assert port.physical_state in (None, full.physical_state)
                assert port.active_mtu in (None, full.active_mtu)
                assert port.link_layer in (None, full.link_layer)
                assert port.rate_gbps is None or port.rate_gbps <= full.rate_gbps


_WITH_LID = {
    ibstat.parse: "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Initializing\n\t\tBase lid: 65535\n\t\tLMC: 0\n\t\tSM lid: 132\n",
    ibstatus.parse: _ROCE + "\tbase lid:\t 0xffff\n\tsm lid:\t\t 0x84\n",
    ibv_devinfo.parse: "hca_id:\tmlx5_0\n\t\tport:\t1\n\t\t\tport_lid:\t\t65535\n\t\t\tsm_lid:\t\t\t132\n",
}


@pytest.mark.parametrize("parse", _WITH_LID)
def test_a_cut_lid_is_not_believed(parse):
    """65535 is no LID, 655 is one: what is left of a number looks as good as the whole."""
    sample = _WITH_LID[parse]
    for end in range(len(sample) + 1):
        for device in outcome(parse, sample[:end]) or ():
            for port in device.ports:
                assert port.lid is None
                assert port.sm_lid == (132 if end == len(sample) else None)


@pytest.mark.parametrize("value", ["0x", "84", "0x10000", "0xfffg", ""])
def test_ibstatus_takes_a_lid_only_as_the_kernel_prints_it(value):
    with pytest.raises(ParseError, match=r"no LID"):
        ibstatus.parse(_ROCE + f"\tsm lid:\t\t {value}\n\tlink_layer:\t InfiniBand\n")


@pytest.mark.parametrize("parse", [sysfs.state, sysfs.physical_state, sysfs.rate, sysfs.link_layer])
def test_a_cut_value_is_refused(parse):
    sample = SAMPLES[parse].strip()
    for end in range(len(sample)):
        assert outcome(parse, sample[:end]) is None


@pytest.mark.parametrize("parse", [nft.parse, iptables_save.parse])
@pytest.mark.parametrize("length", range(1, 9))
def test_a_damaged_ruleset_that_drops_is_never_open(parse, length):
    """Nothing in the samples accepts: whatever is cut out of them, RoCE is closed, unknown, or not told."""
    sample = SAMPLES[parse]
    for start in range(len(sample)):
        chains = outcome(parse, sample[:start] + sample[start + length :]) or ()
        if any(chain.hook and chain.policy == filters.DROP for chain in chains):
            packet = filters.Packet("eth0", "udp", 4791, "10.0.0.1/24")
            assert filters.judge(chains, packet)[0] != filters.OPEN, f"{start}: {sample[start : start + length]!r}"


@pytest.mark.parametrize(
    ("parse", "whole", "damaged"),
    [
        (nft.parse, '"family": "inet"', '"family": "net"'),
        (nft.parse, '"hook": "input"', '"hook": "inputx"'),
        (nft.parse, '"type": "filter"', '"type": "filterx"'),
        (nft.parse, '"policy": "drop"', '"policy": "dro"'),
        (nft.parse, '"chain": "in"', '"chain": "i"'),
        (iptables_save.parse, "*filter", "*filterx"),
        (iptables_save.parse, ":INPUT DROP", ":INPUT DOP"),
        (iptables_save.parse, ":INPUT DROP", ":INPUTX DROP"),
        (iptables_save.parse, "-A INPUT", "-A INPUTX"),
    ],
)
def test_a_word_that_the_tool_does_not_have_is_refused(parse, whole, damaged):
    assert whole in SAMPLES[parse]
    with pytest.raises(ParseError):
        parse(SAMPLES[parse].replace(whole, damaged))


@pytest.mark.parametrize("parse", [ip_address.parse, ip_route.routes, ip_route.rules, lldp.parse, nft.parse])
def test_cut_json_is_refused(parse):
    sample = SAMPLES[parse]
    for end in range(1, len(sample), 7):
        with pytest.raises(ParseError):
            parse(sample[:end])


@pytest.mark.parametrize(
    "parse", [ip_address.parse, ip_route.routes, ip_route.rules, lldp.parse, rdma_link.parse, rdma_dev.parse]
)
@given(data=st.data())
def test_any_json_parses_or_is_a_parse_error(parse, data):
    names = (
        "ifname ifindex flags port lldp interface state chassis addr_info id dst table gateway via nexthops priority"
    )
    keys = st.sampled_from([*names.split(), "src", "linkinfo", "info_kind", "info_slave_data"])
    leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just("ACTIVE") | st.just("LINK_UP")
    value = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4))
    outcome(parse, json.dumps(data.draw(value)))


@given(data=st.data())
def test_any_ruleset_parses_or_is_a_parse_error(data):
    keys = st.sampled_from(
        ["match", "left", "right", "payload", "meta", "key", "set", "vmap", "data", "jump", "xt", "accept"]
    )
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=4)
        | st.sampled_from(["iifname", "@s", "==", "dport"])
    )
    value = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4))
    rule = {**_RULE, "expr": data.draw(value)}
    chains = outcome(nft.parse, json.dumps({"nftables": [{"chain": _CHAIN}, {"rule": rule}]})) or ()
    filters.judge(chains, filters.Packet("eth0", "udp", 4791, "10.0.0.1/24"))
