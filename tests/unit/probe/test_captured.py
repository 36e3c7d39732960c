# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import NodeFacts
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.captured import merge_captured

from tests.unit import dcb, trees

GIDS = (
    "DEV\tPORT\tINDEX\tGID\t\tIPv4\tVER\tDEV\n"
    "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1\tv2\tenp24s0np0\n"
)


def test_texts_complete_one_another():
    captured = {
        "ibv_devinfo": trees._devinfo(trees.rail_nics()[0]),
        "rdma_link": "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev enp24s0np0\n",
        "show_gids": GIDS,
        "ibstat": "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n",
    }
    found = merge_captured(NodeFacts(), captured)
    (device,) = found.rdma
    (port,) = device.ports
    assert (device.firmware, device.hca_type) == ("28.43.2026", "MT4129")
    assert (port.state, port.netdev, port.active_mtu, port.rate_gbps) == ("ACTIVE", "enp24s0np0", 4096, 400)
    assert [gid.index for gid in port.gids] == [3]
    assert found.netdevs is None


def test_what_is_known_stands(tmp_path):
    facts = probe(RecordedPort(str(trees.eight_rails(tmp_path))))
    text = (
        "link mlx5_0/1 state DOWN physical_state DISABLED netdev other\nlink new/1 state INIT physical_state LINK_UP\n"
    )
    found = merge_captured(facts, {"rdma_link": text})
    assert found.rdma[:8] == facts.rdma
    assert found.rdma[8].name == "new"


def test_other_sections():
    captured = {
        "ip_address": json.dumps(trees._ip([trees.rail_nics()[0]], [])),
        "lldpcli": json.dumps(trees._lldp([trees.rail_nics()[0]])),
        "lsmod": "ib_core 1 0\n",
        "ulimit": "max locked memory       (kbytes, -l) 64\n",
    }
    found = merge_captured(NodeFacts(), captured)
    assert (found.netdevs[0].name, found.lldp[0].system) == ("enp24s0np0", "su1-leaf0")
    assert (found.modules, found.memlock, found.rdma) == (("ib_core",), "64", None)


def test_a_management_child_and_a_binding():
    found = merge_captured(
        NodeFacts(),
        {
            "rdma_dev": "0: mlx5_0: node_type ca fw 28.1\n2: smi1: node_type ca fw 28.1 type smi parent mlx5_0\n",
            "ibdev2netdev": "mlx5_0 port 1 ==> eth0 (Up)\n",
            "ibv_devices": "    mlx5_0\tb8cef60300000001\n",
        },
    )
    (device,) = found.rdma
    assert (device.firmware, device.node_guid, device.ports[0].netdev) == ("28.1", "0xb8cef60300000001", "eth0")
    assert device.ports[0].state is None


def test_a_tool_without_a_parser():
    with pytest.raises(ParseError, match="no parser"):
        merge_captured(NodeFacts(), {"mlxlink": "…"})


def test_lossless_settings_of_netdevs(tmp_path):
    root = trees.node(tmp_path, [replace(trees.rail_nics()[0], gid_table=8)])
    texts = {
        "dcb_app": '{"dscp_prio":[[26,3],[48,6," "]]}',
        "dcb_dcbx": "{}",
        "dcb_pfc": "pfc-cap 8 macsec-bypass off delay 0\nprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n",
        "ethtool_a": "Pause parameters for eth0:\nAutonegotiate: off\nRX: off\nTX: on\n",
    }
    part = "Priority trust state: pcp\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
    part += "\tenabled     0   0   0   0   0   1   0   0   \n"
    other = {"mlnx_qos": part, **texts, "ethtool_a": texts["ethtool_a"].replace("eth0", "eth1")}
    found = merge_captured(probe(RecordedPort(str(root))), {}, {"eth0": texts, "eth1": other})
    known, first, second = found.qos
    assert (known.netdev, known.pfc) == ("enp24s0np0", None)
    assert (first.trust, first.dscp_prio, first.dcbx, first.pfc) == ("dscp", ((26, 3), (48, 6)), (), (3,))
    assert (first.pause_rx, first.pause_tx, first.prio_tc) == (False, True, None)
    assert (second.trust, second.pfc, second.dscp_prio) == ("pcp", (5,), ((26, 3), (48, 6)))


def test_what_the_kernel_said_stands(tmp_path):
    root = trees.node(tmp_path, [replace(trees.rail_nics()[0], gid_table=8)])
    dcb.record(root, "enp24s0np0", dcb.Dcb(dcbx=(), pfc=()), None)
    texts = {"dcb_dcbx": "host", "dcb_pfc": json.dumps({"pfc_cap": 8, "delay": 7, "prio_pfc": [True] * 8})}
    (state,) = merge_captured(probe(RecordedPort(str(root))), {}, {"enp24s0np0": texts}).qos
    assert (state.dcbx, state.pfc) == ((), ())


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"dcb_rewr": "{}"}, "no parser"),
        ({"dcb_ets": "{}"}, "lacking"),
        ("mlnx_qos", "texts by tool"),
        ({"ethtool_a": "Pause parameters for eth1:\nAutonegotiate: off\nRX: off\nTX: on\n"}, "another netdev"),
    ],
)
def test_texts_of_netdevs_that_are_refused(texts, words):
    with pytest.raises(ParseError, match=words):
        merge_captured(NodeFacts(), {}, {"eth0": texts})
