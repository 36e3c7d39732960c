# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import ethtool_i, limits, lldp, modules

from tests.unit.cases import case


@pytest.mark.parametrize("name", ["json-dict-form", "json0-list-form"])
def test_lldp_port_known_by_its_mac_is_named_by_its_description(name):
    (neighbour,) = lldp.parse(case(f"lldpctl/{name}.txt"))
    assert (neighbour.netdev, neighbour.system, neighbour.port) == ("eth0", "ns-2.example.com", "eth1")


def test_memlock_of_a_distribution():
    assert limits.ulimit_memlock(case("memlock/ulimit-a-old-64k.txt")) == "64"


def test_lsmod():
    found = modules.parse(case("lsmod/nvidia_peermem-loaded-uses-ib_core.txt"))
    assert {"nvidia_peermem", "ib_core"} <= set(found)
    assert modules.parse(case("lsmod/peermem-not-loaded-empty.txt")) == ()


def test_ethtool_of_emulex():
    (info,) = ethtool_i.parse(case("ethtool-i/be2net.txt"))
    assert (info.driver, info.firmware, info.psid) == ("be2net", "4.9.311.20", None)


def test_ethtool_of_two_cards():
    found = ethtool_i.parse(case("ethtool-i/mlx5-two-fw-on-one-host.txt"))
    assert {info.psid for info in found} == {"MT_2420110034"}
    assert {info.firmware for info in found} == {"14.28.2006", "14.32.1010"}


def test_ethtool_without_firmware():
    (info,) = ethtool_i.parse(case("ethtool-i/virtio-empty-fw.txt"))
    assert (info.driver, info.firmware, info.bus) == ("virtio_net", None, "0000:00:03.0")
