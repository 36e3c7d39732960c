# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools that tell about links, slots and modules, on outputs of real sites."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Module
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import (
    dmesg,
    ethtool,
    ethtool_m,
    ethtool_s,
    lspci,
    mlxlink,
    sysctl_conf,
    sysfs,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import sysctls

from tests.unit.cases import case


def test_passive_copper_has_no_light():
    module = ethtool_m.parse(case("ethtool-m/passive-dac-1m.txt"), "eth0")
    assert module == Module("eth0", kind="QSFP28, copper")


def test_memory_that_a_driver_did_not_decode_is_a_module_all_the_same():
    assert ethtool_m.parse(case("ethtool-m/ice-bug-hexdump.txt")) == Module("", kind="QSFP28, not decoded")


def test_a_small_module():
    module = ethtool_m.parse(case("ethtool-m/sfp-dom-short.txt"))
    assert (module.rx_dbm, module.tx_dbm, module.temperature, module.alarms) == ((-2.38,), (-3.59,), 41.55, ())


def test_mlxlink_is_active_though_the_port_has_no_subnet_manager():
    link = mlxlink.parse(case("mlxlink/bf3-ib-edr-active-but-logical-down.txt"))
    assert (link.state, link.physical_state, link.speed, link.width) == ("Active", "LinkUp", "IB-EDR", "4x")
    assert (link.fec, link.opcode) == ("Standard LL RS-FEC - RS(271,257)", 0)
    assert (link.firmware, link.raw_ber, link.temperature) == ("32.47.1088", None, None)


def test_mlxlink_without_columns():
    link = mlxlink.parse(case("mlxlink/cx6-200g-eth-an.txt"))
    assert (link.state, link.physical_state, link.speed) == ("Active", "ETH_AN_FSM_ENABLE", "200G")


@pytest.mark.parametrize(
    ("name", "netdev", "speed", "warnings"),
    [
        ("bond-200g-virtual", "bond0", 200000, 0),
        ("errors-before-settings", "eth1", 1000, 2),
        ("rhel-10g-netlink-error", "eth0", 1000, 1),
    ],
)
def test_ethtool(name, netdev, speed, warnings):
    found = ethtool.parse(case(f"ethtool/{name}.txt"))
    assert (found.netdev, found.speed_mbps, found.link, found.duplex) == (netdev, speed, True, "Full")
    assert len(found.warnings) == warnings


def test_ethtool_without_data_says_nothing_about_the_link():
    with pytest.raises(ParseError, match="no data available"):
        ethtool.parse(case("ethtool/no-data.txt"))


def test_a_bad_lane():
    found = ethtool_s.reading(ethtool_s.parse(case("ethtool-S/mlx5-100g-crc-symbol-errors.txt")))
    assert (found["crc_errors"], found["symbol_errors"], found["pcs_symbol_errors"]) == (386, 386, 386)
    assert [found[f"lane_{lane}"] for lane in range(4)] == [28116, 0, 0, 17722623]
    assert (found["rx_discards"], found["tx_pause"], found["link_downs"]) == (0, 2, 0)


@pytest.mark.parametrize(
    ("name", "there", "absent"),
    [
        ("mlx5_core-cx4-old", {"crc_errors": 0, "rx_pause": 0, "pcie_errors": 0, "out_of_buffer": 0}, {"lane_0"}),
        ("bnxt_en-ring-and-port", {"rx_discards": 49337, "rx_pause": 0, "tx_pause": 0}, {"symbol_errors", "lane_0"}),
        ("ice-e810", {"rx_discards": 0, "crc_errors": 0, "rx_pause": 0}, {"symbol_errors", "link_downs"}),
        ("i40e", {"rx_discards": 0, "crc_errors": 0, "tx_pause": 0}, {"symbol_errors", "link_downs"}),
        ("ena-aws", {}, {"rx_discards", "rx_pause", "crc_errors", "link_downs"}),
    ],
)
def test_drivers_have_their_own_names(name, there, absent):
    found = ethtool_s.reading(ethtool_s.parse(case(f"ethtool-S/{name}.txt")))
    assert {key: found[key] for key in there} == there
    assert not absent & set(found)


def test_rings_are_summed_up():
    text = case("ethtool-S/bnxt_en-ring-and-port.txt")
    rings = [int(line.rpartition(" ")[2]) for line in text.splitlines() if "]: rx_discards:" in line]
    assert ethtool_s.parse(text)["rx_discards"] == 123116579 == sum(rings)


def events(name):
    return {(event.kind, event.device): event.count for event in dmesg.parse(case(f"dmesg/{name}.txt"))}


def test_a_cable_that_is_not_there_and_a_bandwidth_that_nothing_limits():
    assert events("mlx5-cx4lx-boot-module1-unplugged") == {("module_unplugged", "0000:41:00.1"): 1}


def test_a_dead_device():
    assert events("mlx5-health-compromised-fatal") == {
        ("health", "0000:00:00.0"): 2,
        ("command_timeout", "0000:00:00.0"): 3,
    }


def test_power_heat_and_noise():
    assert events("mlx5-pcie-power-temp-accessreg") == {
        ("slot_power", "0000:5c:00.0"): 1,
        ("module_temperature", None): 1,
        ("register_refused", "0000:d2:00.0"): 1,
        ("register_refused", None): 1,
    }


def test_a_narrow_slot():
    assert events("mlx5-pcie-x8-limited") == {("pcie_limited", "0001:43:00.0"): 1}
    (event,) = dmesg.parse(case("dmesg/mlx5-pcie-x8-limited.txt"))
    assert "x8 link at 0001:42:01.0" in event.text


def test_raw_kmsg():
    assert events("nvidia-peermem-invalid-context") == {("peermem", None): 7}


def test_a_flapping_link_in_syslog():
    assert events("syslog-ib6-flapping") == {("carrier_lost", "ib6"): 6}


def test_lspci_of_a_good_server():
    links = lspci.parse(case("lspci/h100-cx7-nodomain-vvv.txt"))
    assert [(link.address, link.speed_gts, link.width, link.max_speed_gts, link.max_width) for link in links] == [
        ("1a:00.0", 32.0, 16, 32.0, 16),
        ("1b:00.0", 16.0, 16, 16.0, 16),
        ("1b:00.1", 16.0, 16, 16.0, 16),
    ]
    assert not any(link.slow or link.narrow for link in links)
    assert links[0].name.endswith("[ConnectX-7]")


def test_lspci_of_a_whole_server():
    text = case("lspci/full-h100-server-vvv.txt")
    links = lspci.parse(text)
    nics = [link for link in links if "ConnectX" in link.name]
    assert nics
    assert not any(link.slow or link.narrow for link in nics)
    assert len(links) == text.count("LnkSta:\t")
    said = sum("(downgraded)" in line for line in text.splitlines() if "LnkSta:" in line)
    assert sum(bool(link.slow or link.narrow) for link in links) >= said


def test_lspci_of_slow_and_narrow_links():
    links = lspci.parse(case("lspci/mi50-four-gpus-gen1-x8.txt"))
    assert [(link.address, link.slow, link.narrow) for link in links] == [
        (address, True, True) for address in ("31:00.0", "34:00.0", "4b:00.0", "4e:00.0")
    ]


def test_acs_alone_is_no_link():
    assert lspci.parse(case("lspci/acsctl-mixed-grep.txt")) == ()


def test_sysctls_of_a_load_balancer():
    found = dict(sysctl_conf.parse(case("sysctl/load-balancer-arp-and-rpfilter.txt")))
    assert found["net.ipv4.conf.all.rp_filter"] == "0"
    assert "net.ipv4.conf.all.arp_ignore" not in found
    assert sysctls.good("net.ipv4.conf.lo.arp_announce", "2", found) is True
    assert sysctls.good("net.ipv4.conf.lo.arp_ignore", "1", found) is None


def test_sysctls_of_two_rails_in_one_subnet():
    found = dict(sysctl_conf.parse(case("sysctl/weka-multi-rail-same-subnet.txt")))
    assert found["net.ipv4.conf.ib0.arp_announce"] == found["net.ipv4.conf.all.arp_announce"] == "2"
    assert found["net.ipv4.conf.default.arp_filter"] == "1"


def test_counters_of_a_congested_bond():
    found = {}
    for line in case("hw_counters/show_counters-bond-cnp-oos.txt").splitlines()[1:]:
        name, _, value = line.partition(": ")
        found[name] = sysfs.counter(value)
    assert (found["out_of_sequence"], found["np_cnp_sent"]) == (1811101, 1052612505)
    assert (found["np_ecn_marked_roce_packets"], found["rp_cnp_handled"]) == (21278189006, 0)
