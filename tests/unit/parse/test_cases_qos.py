# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools that show lossless settings, as the field has them."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import QosState
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import (
    dcb,
    dcbtool,
    ethtool_a,
    ethtool_s,
    lldptool,
    mlnx_qos,
    niccli,
    qos_files,
    tc_qdisc,
)

from tests.unit.cases import case

BY_EIGHTS = tuple((dscp, dscp >> 3) for dscp in range(64))
SWAPPED = (1, 0, 2, 3, 4, 5, 6, 7)


def test_mlnx_qos_trusts_dscp_and_has_no_pfc():
    found = mlnx_qos.parse(case("mlnx_qos/dscp-trust-nopfc.txt"), "eth0")
    assert found == QosState(
        "eth0",
        dcbx=("host",),
        trust="dscp",
        dscp_prio=BY_EIGHTS,
        prio_tc=SWAPPED,
        tsa=("vendor",) * 8,
        share=(0,) * 8,
        pfc=(),
        cable_length_m=7,
        buffer_size=(524160, 0, 0, 0, 0, 0, 0, 0),
        prio_buffer=(0,) * 8,
    )


def test_mlnx_qos_as_it_comes_from_the_factory():
    found = mlnx_qos.parse(case("mlnx_qos/factory-default-pcp-nopfc.txt"))
    assert (found.trust, found.pfc, found.dscp_prio, found.prio_tc) == ("pcp", (), None, SWAPPED)


def test_mlnx_qos_of_a_port_that_firmware_owns():
    found = mlnx_qos.parse(case("mlnx_qos/firmware-controlled-dcbx-ets-50-50-maxbuf.txt"))
    assert (found.dcbx, found.trust, found.pfc) == ((), "dscp", (3,))
    assert found.prio_tc == (0, 0, 0, 3, 0, 0, 6, 0)
    assert found.tsa == ("ets", "", "", "ets", "", "", "vendor", "")
    assert found.share == (50, 0, 0, 50, 0, 0, 0, 0)
    assert (found.buffer_size, found.buffer_total) == ((130944, 130944, 0, 0, 0, 0, 0, 0), 262016)
    assert found.prio_buffer == (0, 0, 0, 1, 0, 0, 0, 0)


def test_mlnx_qos_of_which_a_script_shows_a_part():
    found = mlnx_qos.parse(case("mlnx_qos/set-rdma-qos-script-prio5.txt"))
    assert (found.trust, found.pfc) == ("dscp", (5,))
    assert (found.dscp_prio, found.prio_tc, found.dcbx, found.cable_length_m) == (None, None, None, None)


def test_dcb_names_dscps():
    assert dcb.app(case("dcb/app-dscp-af31.txt"), "eth0") == QosState("eth0", trust="dscp", dscp_prio=((26, 3),))


def test_dcb_of_the_first_version_with_statistics():
    found = dcb.pfc(case("dcb/pfc-first-version-pg-pfc-with-stats.txt"))
    assert (found.pfc, found.pfc_classes) == ((1, 7), 8)
    assert found.pfc_sent == (0, 217, 0, 0, 0, 0, 0, 28)
    assert found.pfc_received == (0, 179, 0, 0, 0, 0, 0, 18)


def test_dcb_with_pfc_on_one_priority():
    found = dcb.pfc(case("dcb/pfc-mlx4-prio3-on.txt"))
    assert (found.pfc, found.pfc_sent, found.cable_length_m) == ((3,), None, None)


def test_dcbtool():
    found = dcbtool.parse(case("dcbtool/gc-dcb-off.txt"))
    assert (found.netdev, found.on, found.version) == ("eth0", False, "FORCED CIN")
    with pytest.raises(ParseError, match="lldpad is not running"):
        dcbtool.parse(case("dcbtool/lldpad-not-running.txt"))


def test_lldptool_with_pfc_on_priority_0():
    found = lldptool.parse(case("lldptool/ice-pfc0-willing-no.txt"))
    assert (found.pfc, found.willing, found.pfc_classes) == ((0,), False, 8)
    assert (found.ets_willing, found.share, found.apps) == (False, (100, 0, 0, 0, 0, 0, 0, 0), None)
    assert found.tsa == ("ets", *["strict"] * 7)


def test_lldptool_of_a_willing_peer():
    found = lldptool.parse(case("lldptool/ieee-tni-pfc-1257.txt"))
    assert (found.pfc, found.willing) == ((1, 2, 5, 7), True)
    assert found.share == (12, 12, 12, 12, 13, 13, 13, 13)
    assert [(app.priority, app.selector, app.value) for app in found.apps] == [(2, 2, 3260), (5, 1, 0x8906)]
    assert found.dscp_prio == ()


def test_lldptool_without_pfc():
    found = lldptool.parse(case("lldptool/pfc-none.txt"))
    assert (found.pfc, found.willing, found.prio_tc) == ((), True, None)


def test_niccli_does_not_follow_pci():
    found = niccli.parse(case("niccli/listdev-8x400g-order.txt"))
    assert {device.pci: device.netdev for device in found} == {
        "0000:06:00.0": "benic1p1",
        "0000:16:00.0": "benic2p1",
        "0000:66:00.0": "benic4p1",
        "0000:76:00.0": "benic3p1",
        "0000:86:00.0": "benic5p1",
        "0000:96:00.0": "benic6p1",
        "0000:e6:00.0": "benic8p1",
        "0000:f6:00.0": "benic7p1",
    }
    assert [device.number for device in found] == list(range(1, 9))
    assert found[0].mac == "8c:84:74:26:d2:70"


def test_pause_that_was_negotiated_off():
    found = ethtool_a.parse(case("ethtool-a/negotiated-off.txt"))
    assert (found.netdev, found.rx, found.tx) == ("eth0", True, True)
    assert (found.rx_active, found.tx_active) == (False, False)
    assert found.state == QosState("eth0", pause_rx=True, pause_tx=True, pause_autoneg=True)


def test_pause_that_is_not_supported_is_not_off():
    found = ethtool_a.parse(case("ethtool-a/not-supported.txt"))
    assert (found.netdev, found.supported, found.rx, found.rx_active) == ("__wlp3s0", False, None, None)
    assert found.state == QosState("__wlp3s0")


def test_pause_of_an_old_ethtool():
    found = ethtool_a.parse(case("ethtool-a/space-before-colon-blank-line.txt"))
    assert (found.netdev, found.autoneg, found.rx, found.tx) == ("enp0s25", True, False, False)
    assert (found.rx_negotiated, found.tx_negotiated) == (False, None)


def test_ethtool_that_was_called_wrongly():
    with pytest.raises(ParseError):
        ethtool_a.parse(case("ethtool-a/bad-args.txt"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bnxt_en-ring-and-port", {"rx_pause": 0, "tx_pause": 0, "rx_discards": 49337}),
        ("i40e", {"rx_pause": 0, "tx_pause": 0, "rx_discards": 0}),
        ("ice-e810", {"rx_pause": 0, "tx_pause": 0, "rx_discards": 0}),
        ("mlx5-100g-crc-symbol-errors", {"rx_pause": 0, "tx_pause": 2, "storm_warnings": 0, "storm_errors": 0}),
        ("mlx5_core-cx4-old", {"rx_pause": 0, "rx_discards": 0, "rx_global_pause": 0, "tx_global_pause": 0}),
    ],
)
def test_pauses_and_discards(name, expected):
    found = ethtool_s.reading(ethtool_s.parse(case(f"ethtool-S/{name}.txt")))
    assert {key: found[key] for key in expected} == expected


def test_discards_of_broadcoms_rings():
    assert ethtool_s.parse(case("ethtool-S/bnxt_en-ring-and-port.txt"))["rx_discards"] > 8 * 9_000_000


def test_a_driver_that_counts_no_pauses():
    found = ethtool_s.reading(ethtool_s.parse(case("ethtool-S/ena-aws.txt")))
    assert {"rx_pause", "tx_pause", "rx_discards", "storm_warnings"}.isdisjoint(found)


def test_old_names_have_no_storms():
    found = ethtool_s.reading(ethtool_s.parse(case("ethtool-S/mlx5_core-cx4-old.txt")))
    assert "storm_warnings" not in found


def test_connection_manager():
    assert qos_files.cm_mode(case("cma_roce_mode/default_roce_mode-sysfs.txt")) == "RoCE v2"


def test_traffic_class_with_a_comment():
    found = qos_files.traffic_class(case("traffic_class/global-tclass-236-dscp59.txt"))
    assert (found, found >> 2) == (236, 59)


def test_mqprio_of_an_old_tc():
    found = tc_qdisc.parse(case("tc-qdisc/mqprio-3tc-pfifo-children.txt"))
    assert (found.handle, found.tcs, found.mode, found.shaper) == ("8001", 3, None, None)
    assert found.prio_tc == (2, 2, 1, 1, 0, *[2] * 11)
    assert found.children == (("pfifo_fast", "8001:3"), ("pfifo_fast", "8001:2"), ("pfifo_fast", "8001:1"))


def test_mqprio_of_a_channel():
    found = tc_qdisc.parse(case("tc-qdisc/mqprio-adq-6tc.txt"))
    assert (found.tcs, found.mode, found.shaper) == (6, "channel", "dcb")
    assert found.prio_tc == (0, 1, 2, 3, 4, 5, *[0] * 10)
    assert found.queues == ((0, 15), (16, 19), (20, 23), (24, 27), (28, 31), (32, 63))
