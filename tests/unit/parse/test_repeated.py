# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Two outputs that ran into one are refused: neither the first nor the last value is taken by luck."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import (
    dcb,
    dmesg,
    ethtool,
    ethtool_m,
    ethtool_s,
    ibdev2netdev,
    ibstat,
    ibstatus,
    ibv_devinfo,
    ip_route,
    limits,
    lldp,
    lspci,
    mlnx_qos,
    rdma_dev,
    rdma_link,
    show_gids,
    sysfs,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import sysctls

_STATS = "NIC statistics:\n     rx_crc_errors_phy: {}\n"
_SETTINGS = "\tSpeed: {}\n\tLink detected: {}\n"
_PORT = "\tPort 1:\n\t\tState: {}\n\t\tPhysical state: {}\n"
_ULIMIT = "max locked memory       (kbytes, -l) {}\n"
_PROCESS = "Max locked memory         {}            unlimited            bytes\n"
_MODULE = "\tIdentifier : 0x11 (QSFP28)\n\tModule temperature : {}.00 degrees C / 100.00 degrees F\n"
_ROW = "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t{}\t{}\teth0\n"
_LINK = "link a/1 state {} physical_state {}\n"
_NEIGHBOUR = '{"chassis": {"leaf0": {}}, "port": {"id": {"type": "ifname", "value": "swp1"}}}'
_NEIGHBOURS = f'{{"lldp": {{"interface": {{"eth0": {_NEIGHBOUR}, "eth1": {_NEIGHBOUR}}}}}}}'
_LONG = "9" * 5000
_PORT_HEAD = "hca_id:\tmlx5_0\n\t\tport:\t1\n"
_GID = "\t\t\tGID[{}]:\t\tfe80::1, RoCE v2\n"


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (ethtool_s.parse, _STATS.format(386) + _STATS.format(0)),
        (ethtool_s.parse, _STATS.format(386) + "     rx_crc_errors_phy: 0\n"),
        (ethtool_s.parse, "NIC statistics:\n     [0]: drops: 1\n     [0]: drops: 2\n"),
        (ethtool_s.parse, _STATS.format(-1)),
        (
            ethtool.parse,
            "Settings for eth0:\n" + _SETTINGS.format("Unknown!", "no") + _SETTINGS.format("200000Mb/s", "yes"),
        ),
        (ibstat.parse, "CA 'mlx5_0'\n" + _PORT.format("Down", "Disabled") + _PORT.format("Active", "LinkUp")),
        (ibstat.parse, ("CA 'mlx5_0'\n" + _PORT.format("Down", "Disabled")) * 2),
        (ibstat.parse, "CA 'mlx5_0'\n" + _PORT.format("Down", "Disabled") + "\t\tPhysical state: LinkUp\n"),
        (limits.ulimit_memlock, _ULIMIT.format("unlimited") + _ULIMIT.format("64")),
        (limits.ulimit_memlock, _ULIMIT.format("unlimited64")),
        (limits.process_memlock, _PROCESS.format("unlimited") + _PROCESS.format("65536")),
        (ibv_devinfo.parse, _PORT_HEAD + _GID.format("  0") * 2),
        (ibv_devinfo.parse, _PORT_HEAD + "\t\t\tphys_state:\t\tDISABLED (3)\n\t\t\tphys_state:\t\tLINK_UP (5)\n"),
        (ibstatus.parse, "Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t 1: DOWN\n" * 2),
        (ibstatus.parse, "\tphys state:\t 3: Disabled\n\tphys state:\t 5: LinkUp\n"),
        (ibdev2netdev.parse, "mlx5_0 port 1 ==> eth0 (Down)\nmlx5_0 port 1 ==> eth0 (Up)\n"),
        (lspci.parse, "1a:00.0 NIC\n" + "\tLnkCap:\tSpeed 16GT/s, Width x8\n" * 2),
        (lspci.parse, "1a:00.0 NIC\n" + "\tLnkSta:\tSpeed 16GT/s, Width x8\n" * 2),
        # The second device's own line is lost, and its ability is taken for the first one's.
        (lspci.parse, "1a:00.0 NIC\n\tLnkCap:\tSpeed 8GT/s, Width x8\n\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8\n"),
        (lspci.parse, "1a:00.0 NIC\n\tLnkCap:\tSpeed 8GT/s, Width x8\n\tLnkSta:\tSpeed 8GT/s, Width x8 (downgraded)\n"),
        (ethtool_m.parse, _MODULE.format(40) + _MODULE.format(70)),
        (ethtool_m.parse, _MODULE.format(40) + "Module temperature high alarm : Ein\n"),
        (ethtool_m.parse, _MODULE.format(40) + "Module temperature high alarm : O\n"),
        (rdma_dev.parse, "0: mlx5_0: node_type ca fw 28.39\n1: mlx5_0: node_type ca fw 28.40\n"),
        (rdma_dev.parse, '[{"ifname": "mlx5_0", "node_type": "ca"}, {"ifname": "mlx5_0", "node_type": "ca"}]'),
        (show_gids.parse, _ROW.format("10.0.0.1", "v2") + _ROW.format("10.0.0.1", "v1")),
        (show_gids.parse, _ROW.format("10.0.0.2", "v2")),
        (mlnx_qos.parse, "dscp2prio mapping:\n\tprio:3 dscp:26,\n\tprio:0 dscp:26,\n"),
        (mlnx_qos.parse, "dscp2prio mapping:\n\tprio:3 dscp:99,\n"),
        (dcb.app, "dscp-prio\n"),
        (rdma_link.parse, _LINK.format("DOWN", "DISABLED") + _LINK.format("ACTIVE", "LINK_UP")),
        (lldp.parse, _NEIGHBOURS.replace("eth1", "eth0")),
    ],
)
def test_what_is_there_twice_is_refused(parse, text):
    with pytest.raises(ParseError) as error:
        parse(text)
    assert error.value.place


def test_rings_of_one_netdev_are_summed_up():
    assert ethtool_s.parse("NIC statistics:\n     [0]: drops: 1\n     [1]: drops: 2\n") == {"drops": 3}


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (ibv_devinfo.parse, _PORT_HEAD + _GID.format(_LONG)),
        (limits.ulimit_memlock, f"max locked memory       ({_LONG}-byte blocks, -l) {_LONG}\n"),
        (limits.process_memlock, _PROCESS.format(_LONG)),
        (
            lambda text: limits.session_memlock([("limits.conf", text)]),
            f"* soft memlock {_LONG}\n* hard memlock {_LONG}1\n",
        ),
        (ip_route.routes, f'[{{"dst": "default", "dev": "eth0", "table": "{_LONG}"}}]'),
        (sysfs.counter, _LONG),
        (sysfs.link_width, _LONG),
        (sysfs.link_speed, f"{_LONG} GT/s PCIe"),
    ],
)
def test_a_number_without_end_is_refused(parse, text):
    with pytest.raises(ParseError):
        parse(text)


def test_a_table_with_a_number_without_end_has_no_name():
    assert ip_route.table_names(f"{_LONG} endless\n100 rail0\n") == {"rail0": 100}


def test_a_parameter_with_a_number_without_end_is_not_known():
    assert sysctls.effective("net.core.rmem_max", {"net.core.rmem_max": _LONG}) is None


def test_what_stands_in_place_of_a_log_is_no_clean_log():
    for text in (
        "dmesg: read kernel buffer failed: Operation not permitted\n",
        "bash: line 1: dmesg: command not found\n",
        "sudo: a password is required\n",
    ):
        with pytest.raises(ParseError, match="the log could not be read"):
            dmesg.parse(text)
    assert dmesg.parse("[    0.000000] Linux version 6.1.0\n") == ()


@pytest.mark.parametrize(
    ("parse", "line"),
    [
        (ibstat.parse, "CA 'a'\n " + "a " * 15000),
        (ibstatus.parse, "Infiniband device 'a' port 1 status:\n " + "a " * 15000),
        (mlnx_qos.parse, "= show configuration for device " + "=" * 30000 + "x"),
    ],
)
def test_a_long_line_is_refused_in_no_more_than_a_glance(parse, line):
    """By expressions that look at each character a few times: with others this takes a quarter of a minute."""
    with pytest.raises(ParseError):
        parse(line + "\n")


def test_two_netdevs_have_a_neighbour_each():
    assert [found.netdev for found in lldp.parse(_NEIGHBOURS)] == ["eth0", "eth1"]
