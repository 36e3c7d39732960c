# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What each parser takes, and what it must refuse although it looks nearly right."""

from __future__ import annotations

import json

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import (
    ethtool_i,
    ibstat,
    ibstatus,
    ibv_devinfo,
    ip_address,
    limits,
    lldp,
    modules,
    os_release,
    rdma_dev,
    rdma_link,
    show_gids,
    sysfs,
    text,
)

from tests.unit import trees


def test_rdma_link_json():
    output = [
        {"ifindex": 0, "ifname": "mlx5_0", "port": 1, "state": "ACTIVE", "physical_state": "LINK_UP", "netdev": "e"}
    ]
    output.append({"ifname": "ib0", "port": 1, "lid": 65535, "sm_lid": 0, "state": "DOWN", "physical_state": "POLLING"})
    roce, infiniband = rdma_link.parse(json.dumps(output))
    assert (roce.name, roce.ports[0].netdev, roce.ports[0].lid) == ("mlx5_0", "e", None)
    assert (infiniband.ports[0].lid, infiniband.ports[0].sm_lid, infiniband.ports[0].netdev) == (None, 0, None)
    assert rdma_link.parse("[ ]\n") == ()
    assert rdma_link.parse("") == ()


@pytest.mark.parametrize(
    "line",
    [
        "link mlx5_0/1 state ACTIVATED physical_state LINK_UP",
        "link mlx5_0/1 physical_state LINK_UP netdev eth0",
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev",
        "link mlx5_0 state ACTIVE physical_state LINK_UP",
        "link a/1 state ACTIVE physical_state LINK_UP\nlink a/1 state DOWN physical_state DISABLED",
        '[{"ifname": "a", "state": "ACTIVE", "physical_state": "LINK_UP"}]',
        '[{"ifname": "a", "port": 1, "state": "ACTIVE", "physical_state": "GOOD"}]',
        "Error: Invalid argument",
    ],
)
def test_rdma_link_refuses(line):
    with pytest.raises(ParseError) as error:
        rdma_link.parse(line)
    assert error.value.place.startswith("rdma link")


def test_rdma_dev_json():
    output = [{"ifindex": 0, "ifname": "mlx5_0", "node_type": "ca", "fw": "28.39", "node_guid": "b8ce:f603:0000:0001"}]
    (entry,) = rdma_dev.parse(json.dumps(output))
    assert (entry.device.firmware, entry.device.node_guid) == ("28.39", "0xb8cef60300000001")
    with pytest.raises(ParseError, match="node_type"):
        rdma_dev.parse("0: mlx5_0: fw 28.39\n")


def test_ibv_devinfo_knows_ports_apart():
    one = trees._devinfo(trees.rail_nics()[0])
    two = one + one.partition("phys_port_cnt")[2].partition("\n")[2].replace("port:\t1", "port:\t2", 1)
    (device,) = ibv_devinfo.parse(two)
    assert [port.number for port in device.ports] == [1, 2]
    grepped = "hca_id:\tmlx5_0\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tstate:\t\t\tPORT_DOWN (1)\n"
    with pytest.raises(ParseError, match="second port"):
        ibv_devinfo.parse(grepped)


@pytest.mark.parametrize(
    "line",
    [
        "state: PORT_ACTIVE (1)",
        "state: PORT_ACTIVE",
        "active_mtu: 4096 (3)",
        "active_mtu: 9000 (5)",
        "link_layer: Ether",
    ],
)
def test_ibv_devinfo_refuses_words_and_codes_that_do_not_fit(line):
    with pytest.raises(ParseError) as error:
        ibv_devinfo.parse(f"hca_id: mlx5_0\n\tport: 1\n\t\t{line}\n")
    assert error.value.place == "ibv_devinfo:3"


def test_ibv_devinfo_gids_in_short_form():
    output = "hca_id: a\n\tport: 1\n\t\tGID[  3]:\t::ffff:10.0.0.1, RoCE v2\n\t\tGID[  4]:\t::, RoCE v2\n"
    (gid,) = ibv_devinfo.parse(output)[0].ports[0].gids
    assert (gid.index, gid.gid, gid.kind) == (3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2")


def test_show_gids_whose_count_does_not_fit_was_cut():
    row = "mlx5_0\t1\t0\tfe80:0000:0000:0000:9640:c9ff:fe9d:b19c\t\t\tv1\teth0\n"
    with pytest.raises(ParseError, match="1 GIDs are listed"):
        show_gids.parse(row + "n_gids_found=2\n")
    with pytest.raises(ParseError, match="version"):
        show_gids.parse(row.replace("v1", "v3"))


def test_ibstat_refuses_an_unknown_state():
    with pytest.raises(ParseError) as error:
        ibstat.parse("CA 'a'\n\tPort 1:\n\t\tState: Acti\n")
    assert error.value.place == "ibstat:3"


def test_ip_address():
    first, second = trees.rail_nics()[:2]
    second = trees.replace(second, master="bond0", addresses=())
    third = trees.replace(second, netdev="slow", admin_up=False, carrier=False, master="")
    bond = trees.Upper("bond0", mac=first.mac, mode="802.3ad", addresses=("10.9.0.1/24",))
    vlan = trees.Upper("bond0.100", lower="bond0", vlan=100)
    found = {
        netdev.name: netdev for netdev in ip_address.parse(json.dumps(trees._ip([first, second, third], [bond, vlan])))
    }
    assert "lo" not in found
    rail = found[first.netdev]
    assert (rail.mtu, rail.carrier, rail.admin_up, rail.permanent_mac) == (9000, True, True, first.mac)
    assert rail.addresses == first.addresses
    member = found[second.netdev]
    assert (member.mac, member.permanent_mac, member.master, member.kind) == (first.mac, second.mac, "bond0", None)
    assert (found["bond0"].kind, found["bond0"].bond.mode, found["bond0"].permanent_mac) == ("bond", "802.3ad", None)
    assert (found["bond0.100"].lower, found["bond0.100"].vlan_id) == ("bond0", 100)
    assert (found["slow"].admin_up, found["slow"].carrier) == (False, None)


def test_ip_address_refuses_text():
    with pytest.raises(ParseError):
        ip_address.parse("1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536\n")


def test_lldp_port_names():
    nic = trees.rail_nics()[0]
    (neighbour,) = lldp.parse(json.dumps(trees._lldp([nic])))
    assert (neighbour.netdev, neighbour.system, neighbour.port) == (nic.netdev, "su1-leaf0", "Ethernet8")
    assert lldp.parse('{"lldp": {}}') == ()
    assert lldp.parse('{"lldp": [{}]}') == ()


def test_os_release():
    found = os_release.parse("# comment\nID=ubuntu\nVERSION_ID=\"24.04\"\nID_LIKE='debian'\nnot a line\n")
    assert found == {"ID": "ubuntu", "VERSION_ID": "24.04", "ID_LIKE": "debian"}


@pytest.mark.parametrize(
    ("texts", "limit"),
    [
        (["* soft memlock unlimited"], "unlimited"),
        (["* - memlock -1"], "unlimited"),
        (["* - memlock 64 # small"], "64"),
        (["* - memlock unlimited", "* soft memlock 8192"], "8192"),
        (["* - memlock unlimited", "* hard memlock 8192"], "8192"),
        (["* soft memlock 16384\n* hard memlock 8192"], "8192"),
        (["* soft memlock 8192\n* hard memlock 16384"], "8192"),
        (["* hard memlock unlimited"], None),
        (["root hard memlock unlimited"], None),
        (["#* hard memlock unlimited"], None),
        (["* hard nofile 1024"], None),
    ],
)
def test_session_memlock(texts, limit):
    assert limits.session_memlock([(f"/etc/{n}", text) for n, text in enumerate(texts)]) == limit


def test_a_limit_that_is_no_number_is_refused():
    with pytest.raises(ParseError) as error:
        limits.session_memlock([("/etc/security/limits.d/x.conf", "\n* hard memlock much\n")])
    assert error.value.place == "/etc/security/limits.d/x.conf:2"


def test_a_module_on_its_way_is_not_loaded():
    assert modules.parse("a 1 0 - Loading 0x0\nb 1 0 - Unloading 0x0\nc 1 0 - Live 0x0\n") == ("c",)


def test_modules_of_both_forms():
    assert modules.parse("Module  Size  Used by\nib_core 1 0\n") == ("ib_core",)
    assert modules.parse("ib_core 557056 9 rdma_cm,ib_cm, Live 0x0\n") == ("ib_core",)
    with pytest.raises(ParseError):
        modules.parse("ib_core\n")


def test_ethtool_without_a_driver_is_refused():
    with pytest.raises(ParseError):
        ethtool_i.parse("Cannot get driver information: Operation not supported\n")
    with pytest.raises(ParseError):
        ethtool_i.parse("")


def test_sysfs_values():
    assert sysfs.rate("2.5 Gb/sec (1X SDR)\n") == (2.5, 1)
    assert sysfs.rate("800 Gb/sec (4X XDR)\n") == (800.0, 4)
    assert sysfs.rate("10 Gb/sec (4X)\n") == (10.0, 4)
    assert sysfs.counter("N/A (no PMA)\n") is None
    assert sysfs.lid("0xffff\n") is None
    assert sysfs.lid("0x6c\n") == 108
    assert sysfs.state("5: ACTIVE_DEFER\n") == "ACTIVE_DEFER"


@pytest.mark.parametrize(("parse", "value"), [(sysfs.state, "1: ACTIVE"), (sysfs.state, "ACTIVE"), (sysfs.rate, "400")])
def test_sysfs_refuses(parse, value):
    with pytest.raises(ParseError):
        parse(value)


def test_guids_have_one_form():
    assert text.guid("0xB8CEF60300000001") == text.guid("b8ce:f603:0000:0001") == "0xb8cef60300000001"
    assert text.guid("0000:0000:0000:0000") is None
    assert text.guid("b8ce:f603") is None


TWO_IN_ONE = {
    rdma_link.parse: "link a/1 state DOWN physical_state DISABLED netdev e0 state ACTIVE physical_state LINK_UP\n",
    rdma_dev.parse: "0: a: node_type ca fw 1 node_type ca fw 2\n",
    ibv_devinfo.parse: "hca_id: a\n\tport: 1\n\t\tstate: PORT_DOWN (1)\n\tport: 1\n\t\tstate: PORT_ACTIVE (4)\n",
    ibstat.parse: "CA 'a'\n\tPort 1:\n\t\tState: Down\n\t\tState: Active\n",
    ibstatus.parse: "Infiniband device 'a' port 1 status:\n\tstate:\t\t 1: DOWN\n\tstate:\t\t 4: ACTIVE\n",
    ethtool_i.parse: "driver: a\nfirmware-version: 1\nbus-info: b\nfirmware-version: 2\n",
}


@pytest.mark.parametrize("parser", TWO_IN_ONE, ids=lambda parser: parser.__module__.rpartition(".")[2])
def test_the_second_of_two_that_ran_into_one_does_not_win(parser):
    with pytest.raises(ParseError):
        parser(TWO_IN_ONE[parser])


def test_a_physical_state_that_is_no_word_is_refused():
    with pytest.raises(ParseError):
        rdma_link.parse('[{"ifname": "a", "port": 1, "state": "ACTIVE", "physical_state": []}]')


@pytest.mark.parametrize(
    ("text", "limit"),
    [("512-byte blocks, -l) 128", "64"), ("kbytes, -l) 64", "64"), ("kbytes, -l) unlimited", "unlimited")],
)
def test_ulimit_in_blocks_and_in_kbytes(text, limit):
    assert limits.ulimit_memlock(f"max locked memory       ({text}\n") == limit
