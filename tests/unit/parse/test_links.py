# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of outputs about links and modules that no case has."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import (
    dmesg,
    ethtool,
    ethtool_m,
    ethtool_s,
    lspci,
    mlxlink,
)

# Keys and columns as ethtool's qsfp.c and sff-common.c print them.
QSFP = """\tIdentifier                                : 0x18 (QSFP-DD Double Density 8X Pluggable (INF-8628))
\tVendor name                               : NVIDIA
\tVendor PN                                 : MMA4Z00-NS
\tVendor SN                                 : MT2231FT00001
\tModule temperature                        : 46.20 degrees C / 115.16 degrees F
\tAlarm/warning flags implemented           : Yes
\tTransmit avg optical power (Channel 1)    : 1.2017 mW / 0.80 dBm
\tRcvr signal avg optical power(Channel 1)  : 0.9000 mW / -0.46 dBm
\tRcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm
\tLaser bias current high alarm   (Chan 1)  : Off
\tRx power low alarm   (Channel 2)          : On
\tModule temperature high alarm             : Off
\tModule temperature high warning           : On
\tModule temperature high alarm threshold   : 75.00 degrees C / 167.00 degrees F
\tLaser rx power low warning threshold      : 0.0631 mW / -12.00 dBm
"""


def test_lanes_and_alarms():
    module = ethtool_m.parse(QSFP, "eth0")
    assert module.kind == "QSFP-DD Double Density 8X Pluggable"
    assert (module.vendor, module.part, module.serial) == ("NVIDIA", "MMA4Z00-NS", "MT2231FT00001")
    assert (module.temperature, module.rx_dbm, module.tx_dbm) == (46.2, (-0.46, -40.0), (0.8,))
    assert module.alarms == ("Rx power low alarm (Channel 2)", "Module temperature high warning")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Cannot get module EEPROM information: Invalid argument\n",
        "Vendor name : X\n",
        "Identifier : 0x11 (QSFP28)\nModule temperature : hot\n",
        "Identifier : 0x11 (QSFP28)\nRcvr signal avg optical power(Channel 1) : 0.9 mW\n",
        "Identifier : 0x11 (QSFP28)\nnonsense\n",
    ],
)
def test_no_module(text):
    with pytest.raises(ParseError):
        ethtool_m.parse(text)


def test_mlxlink_as_json():
    output = {
        "Operational Info": {"State": "Active", "Physical state": "LinkUp", "Speed": "IB-NDR", "Width": "4x"},
        "Troubleshooting Info": {"Status Opcode": "0", "Recommendation": "No issue was observed"},
        "Physical Counters and BER Info": {
            "Time Since Last Clear [Min]": "23.4",
            "Effective Physical BER": "15E-255",
            "Raw Physical BER": "3E-9",
            "Raw Physical Errors Per Lane": {"values": ["1", "2"]},
            "Symbol BER": "N/A",
        },
        "Module Info": {
            "Temperature [C]": "46 [-5..75]",
            "Vendor Name": "NVIDIA",
            "Vendor Part Number": "MCP4Y10-N001",
        },
    }
    link = mlxlink.parse(json.dumps({"status": {"code": 0}, "result": {"output": output}}))
    assert (link.state, link.speed, link.temperature, link.part) == ("Active", "IB-NDR", 46.0, "MCP4Y10-N001")
    assert (link.raw_ber, link.effective_ber, link.symbol_ber, link.minutes) == (3e-9, 0.0, None, 23.4)


@pytest.mark.parametrize(
    "text",
    ["", "Speed : 200G\n", "{}", '{"result": {"output": []}}', "State : Active\nRaw Physical BER : low\n"],
)
def test_no_link_of_mlxlink(text):
    with pytest.raises(ParseError):
        mlxlink.parse(text)


def test_ethtool_without_a_link():
    found = ethtool.parse("Settings for eth0:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: no\n")
    assert (found.speed_mbps, found.link) == (None, False)


@pytest.mark.parametrize(
    "text", ["", "Speed: 1000Mb/s\n", "Settings for eth0:\n", "Settings for a:\nSettings for b:\n"]
)
def test_no_settings(text):
    with pytest.raises(ParseError):
        ethtool.parse(text)


@pytest.mark.parametrize("text", ["", "NIC statistics:\n", "no stats available\n", "rx_crc_errors_phy: many\n"])
def test_no_statistics(text):
    with pytest.raises(ParseError):
        ethtool_s.parse(text)


def test_old_names_of_mlx5():
    assert ethtool_s.reading({"check_seq_err": 3, "symbol_err": 4, "pause_ctrl_rx": 5}) == {
        "crc_errors": 3,
        "symbol_errors": 4,
        "rx_pause": 5,
    }


@pytest.mark.parametrize("text", ["LnkSta: Speed 2.5GT/s, Width x1\n", "1a:00.0 NIC\n\tLnkSta: fast\n"])
def test_no_pcie_link(text):
    with pytest.raises(ParseError):
        lspci.parse(text)


def test_a_link_of_unknown_speed_is_neither_slow_nor_fast():
    (link,) = lspci.parse("1a:00.0 NIC\n\tLnkCap:\tSpeed unknown, Width x0\n\tLnkSta:\tSpeed 8GT/s, Width x8\n")
    assert (link.slow, link.narrow) == (None, None)


def test_a_watchdog_names_the_netdev():
    text = (
        "NETDEV WATCHDOG: ens1f0np0 (mlx5_core): transmit queue 3 timed out\nmlx5_core 0000:41:00.0 eth2: Link down\n"
    )
    assert [(event.kind, event.device) for event in dmesg.parse(text)] == [
        ("transmit_timeout", "ens1f0np0"),
        ("carrier_lost", "eth2"),
    ]
