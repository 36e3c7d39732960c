# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The ``qos`` section: defaults by the maker of the NIC, worked out by hand, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import SpecError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.codec import decode, encode
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Qos
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.spec import QosSpec
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import dcqcn, fabric, host, qos, spec


def resolved(section: dict[str, Any], driver: Optional[str] = None) -> Qos:
    # The spec goes through plain data once more before a rail sees it.
    loaded = decode(QosSpec, encode(qos.load(section, "qos")), "qos", SpecError)
    return qos.qos(loaded, driver, "qos", "rail0 of gpu1")


def classes(found: Qos) -> list[tuple[Any, ...]]:
    return [(entry.tc, entry.priorities, entry.tsa, entry.share) for entry in found.traffic_classes]


# NVIDIA: data DSCP 26 on priority 3, CNPs DSCP 48 on priority 6 (mlxconfig: CNP_DSCP_P1=48, CNP_802P_PRIO_P1=6).
# DSCP 26 is 0x1a; 0x1a << 2 = 0x68 = 104, and ECT(0) = 0b10 makes it 106.
@pytest.mark.parametrize("driver", [None, "mlx5_core", "virtio_net"])
def test_defaults_of_nvidia(driver: Optional[str]) -> None:
    found = resolved({"profile": "pfc+dcqcn"}, driver)
    assert (found.pfc, found.ecn, found.tos) == ((3,), (3,), 106)
    assert (found.data_dscp, found.data_priority, found.cnp_dscp, found.cnp_priority) == (26, 3, 48, 6)
    assert classes(found) == [(3, (3,), "ets", 50), (6, (6,), "strict", None), (0, (0, 1, 2, 4, 5, 7), "ets", 50)]
    assert found.dscp_prio == ((26, 3), (48, 6))
    assert found.prio_tc == (0, 0, 0, 3, 0, 0, 6, 0)
    assert found.tsa == ("ets", "strict", "strict", "ets", "strict", "strict", "strict", "strict")
    assert found.share == (50, 0, 0, 50, 0, 0, 0, 0)


# Juniper Validated Design "AI Data Center Network with AMD Compute": CNPs of a Thor2 are on priority 7.
# bnxt_setupcc.sh: tc-tsa 0:ets 1:ets 2:strict tc-bw 0:50 1:50 prio-tc 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:2.
def test_defaults_of_broadcom() -> None:
    found = resolved({"profile": "pfc+dcqcn"}, "bnxt_en")
    assert (found.cnp_dscp, found.cnp_priority, found.tos) == (48, 7, 106)
    assert found.prio_tc == (0, 0, 0, 1, 0, 0, 0, 2)
    assert (found.tsa[:3], found.share[:3]) == (("ets", "ets", "strict"), (50, 50, 0))


# E810: at most four classes, without gaps, one lossless (kernel ice.rst; Intel irdma README).
def test_defaults_of_intel() -> None:
    found = resolved({"profile": "pfc+dcqcn"}, "ice")
    assert (found.cnp_priority, found.pfc) == (6, (3,))
    assert found.prio_tc == (0, 0, 0, 1, 0, 0, 2, 0)
    assert classes(found) == [(1, (3,), "ets", 50), (2, (6,), "strict", None), (0, (0, 1, 2, 4, 5, 7), "ets", 50)]


def test_what_is_written_goes_before_the_maker() -> None:
    assert resolved({"profile": "dcqcn", "cnp": {"dscp": 40, "priority": 5}}, "bnxt_en").cnp_priority == 5
    # 59 << 2 = 236, one site's tclass for lossless priority 5
    assert resolved({"profile": "pfc", "data": {"dscp": 59, "priority": 5}}).tos == 236


@pytest.mark.parametrize(
    ("profile", "pfc", "ecn", "tos", "cnp"),
    [
        ("pfc+dcqcn", (3,), (3,), 106, 48),
        ("pfc", (3,), (), 104, None),
        ("dcqcn", (), (3,), 106, 48),
        ("lossy", (), (), 104, None),
    ],
)
def test_profiles(profile: str, pfc: tuple, ecn: tuple, tos: int, cnp: Optional[int]) -> None:
    found = resolved({"profile": profile})
    assert (found.pfc, found.ecn, found.tos, found.cnp_dscp) == (pfc, ecn, tos, cnp)


def test_two_lossless_priorities_have_classes_and_shares_of_their_own() -> None:
    found = resolved({"profile": "pfc", "pfc": [4, 3]})
    assert found.pfc == (3, 4)
    # a third each, and what is left over goes to the rest: 33 + 33 + 34
    assert classes(found) == [(3, (3,), "ets", 33), (4, (4,), "ets", 33), (0, (0, 1, 2, 5, 6, 7), "ets", 34)]


def test_buffers_parameters_and_owners_are_handed_on() -> None:
    found = resolved(
        {
            "profile": "pfc+dcqcn",
            "dcqcn": {"rp_ai_rate": 10},
            "buffers": {"size": [128, 256, 0, 0, 0, 0, 0, 0], "priority": [0, 0, 0, 1, 0, 0, 0, 0]},
            "host": {"provider": "dcb", "lldpad": "stop", "firmware_dcbx": "take", "lockdown": "firmware"},
            "cable_length": "30m",
        }
    )
    assert (found.dcqcn, found.buffer_size[:2], found.prio_buffer[3]) == ({"rp_ai_rate": 10}, (128, 256), 1)
    assert (found.provider, found.lldpad, found.firmware_dcbx, found.lockdown) == ("dcb", "stop", "take", "firmware")
    assert found.cable_length_m == 30
    silent = resolved({"profile": "lossy"})
    assert (silent.provider, silent.lldpad, silent.firmware_dcbx) == ("auto", "refuse", "refuse")


REST = {"tc": 0, "priorities": "rest", "tsa": "ets", "share": 50}
DATA = {"tc": 3, "priorities": [3], "tsa": "ets", "share": 50}
BOTH = {"profile": "pfc+dcqcn"}


@pytest.mark.parametrize(
    ("section", "driver", "expected"),
    [
        ({"profile": "dcqcn", "pfc": [3]}, None, "qos.pfc: pfc belongs to PFC, which profile dcqcn does not have"),
        ({"profile": "pfc", "dcqcn": {"rp_gd": 1}}, None, "qos.dcqcn: dcqcn belongs to DCQCN, which profile pfc does"),
        ({"profile": "pfc", "pfc": [4]}, None, "qos.pfc: the data's priority 3 is not among the lossless ones"),
        ({"profile": "pfc", "pfc": [3, 9]}, None, "qos.pfc: priorities are 0 to 7 (found '9')"),
        ({**BOTH, "cnp": {"dscp": 48, "priority": 4}, "pfc": [3, 4]}, None, "CNPs must not be in a lossless class ("),
        ({**BOTH, "data": {"dscp": 26, "priority": 6}}, None, "that they slow down (the default of its NIC) (found '6"),
        ({**BOTH, "data": {"dscp": 26, "priority": 7}}, "bnxt_en", "slow down (the default of its NIC) (found '7')"),
        ({**BOTH, "data": {"dscp": 48, "priority": 3}}, None, "cannot have the same DSCP (the default of its NIC)"),
        (
            {**BOTH, "traffic_classes": [{**DATA, "priorities": [3, 6]}, REST]},
            None,
            "qos.traffic_classes[0].priorities: lossless priority 3 shares its traffic class with lossy priority 6",
        ),
        ({**BOTH, "dcqcn": {"rpg_ai_rate": 1}}, None, "qos.dcqcn: there is no such parameter (found 'rpg_ai_rate')"),
        ({**BOTH, "dcqcn": {"rp_gd": 16}}, None, "qos.dcqcn.rp_gd: a value from 0 to 15 is expected (found '16')"),
        ({**BOTH, "dcqcn": {"rp_gd": 11}}, "bnxt_en", "of NVIDIA's NICs, and rail0 of gpu1 has driver bnxt_en"),
        ({**BOTH, "buffers": {"size": [1, 2]}}, None, "qos.buffers.size: eight numbers are expected"),
        ({**BOTH, "buffers": {"priority": [0] * 7 + [8]}}, None, "qos.buffers.priority: buffers are 0 to 7"),
        ({**BOTH, "buffers": {"priority": [1] * 8}}, None, "lossy priority 0 shares receive buffer 1 with a lossless"),
        (
            {**BOTH, "buffers": {"size": [128] + [0] * 7, "priority": [0, 0, 0, 1, 0, 0, 0, 0]}},
            None,
            "qos.buffers.size: priority 3 goes to buffer 1, which has no room",
        ),
        ({**BOTH, "buffers": {"size": [0] * 8}}, None, "qos.buffers.size: no buffer has any room"),
        ({**BOTH, "buffers": {"size": [100001] + [0] * 7}}, None, "qos.buffers.size: bytes in multiples of 16"),
        ({**BOTH, "buffers": {"size": [1] + [0] * 7}}, None, "would never have what is written (found '1')"),
        ({**BOTH, "cable_length": "1000m"}, None, "qos.cable_length: a length from 1m to 999m is expected"),
        ({**BOTH, "cable_length": "99999m"}, None, "a length from 1m to 999m is expected (found '99999m')"),
        ({**BOTH, "cable_length": "0m"}, None, "a length from 1m to 999m is expected (found '0m')"),
        ({**BOTH, "cable_length": ""}, None, "a length from 1m to 999m is expected"),
        ({**BOTH, "cable_length": "m"}, None, "a length from 1m to 999m is expected (found 'm')"),
        ({**BOTH, "data": {"dscp": 0, "priority": 3}}, None, "qos.data.dscp: a value from 1 to 63 is expected; 0 is"),
        ({**BOTH, "data": {"dscp": 26, "priority": 0}}, None, "qos.data.priority: a value from 1 to 7 is expected"),
        ({**BOTH, "cnp": {"dscp": 0, "priority": 6}}, None, "qos.cnp.dscp: a value from 1 to 63 is expected"),
        ({**BOTH, "cnp": {"dscp": 48, "priority": 0}}, None, "qos.cnp.priority: a value from 1 to 7 is expected"),
        ({"profile": "pfc", "pfc": list(range(8))}, None, "qos.pfc: priority 0 is that of all traffic without a mark"),
        ({**BOTH, "pfc": [0, 1, 2, 3, 4, 5, 7]}, None, "qos.pfc: priority 0 is that of all traffic without a mark"),
        ({"profile": "pfc", "pfc": list(range(7))}, "bnxt_en", "qos.pfc: priority 0 is that of all traffic"),
        (
            {
                "profile": "pfc",
                "traffic_classes": [
                    {**DATA, "share": 1},
                    {"tc": 1, "priorities": [0, 1, 2, 4, 5, 6, 7], "tsa": "ets", "share": 1},
                    {**REST, "share": 98},
                ],
            },
            None,
            "qos.traffic_classes[2].priorities: no priority is left for this traffic class",
        ),
        (
            {**BOTH, "traffic_classes": [{**DATA, "tc": 8}, REST]},
            None,
            "qos.traffic_classes[0].tc: traffic classes are",
        ),
        (
            {**BOTH, "traffic_classes": [{**DATA, "priorities": [3, 8]}, REST]},
            None,
            "priorities: priorities are 0 to 7",
        ),
        ({**BOTH, "traffic_classes": [{**DATA, "share": 101}, {**REST, "share": -1}]}, None, "[0].share: a percentage"),
        (
            {**BOTH, "dcqcn": {"rp_min_rate": 400000, "rp_max_rate": 1000}},
            None,
            "qos.dcqcn.rp_max_rate: the least rate 400000 is above the greatest (found '1000')",
        ),
        (
            {**BOTH, "switch": {"ecn": {"min_bytes": 1, "max_bytes": 10**18, "probability": 20}}},
            None,
            "qos.switch.ecn.max_bytes: no queue holds that much",
        ),
        ({**BOTH, "dcqcn": {"rp_gd": 11}}, "irdma", "of NVIDIA's NICs, and rail0 of gpu1 has driver ice"),
        ({"profile": "pfc", "pfc": [3, 4]}, "irdma", "rail0 of gpu1 is an Intel E810 (driver ice), which has one loss"),
        ({"profile": "pfc", "pfc": [3, 4]}, "ice", "rail0 of gpu1 is an Intel E810 (driver ice), which has one loss"),
        ({**BOTH, "traffic_classes": [DATA, REST]}, "ice", "traffic classes without gaps, from 0 (found '[0, 3]')"),
        (
            {
                "profile": "lossy",
                "traffic_classes": [
                    {**REST, "share": 100},
                    *({"tc": tc, "priorities": [tc], "tsa": "strict"} for tc in (1, 2, 3, 4)),
                ],
            },
            "ice",
            "4 traffic classes at most (found '5')",
        ),
    ],
)
def test_refused(section: dict[str, Any], driver: Optional[str], expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        resolved(section, driver)
    assert expected in str(caught.value)


def test_what_lies_at_the_bounds_is_taken() -> None:
    assert resolved({"profile": "pfc", "cable_length": "999m"}).cable_length_m == 999
    assert resolved({"profile": "lossy", "data": {"dscp": 1, "priority": 1}}).tos == 4
    # 0 is the line rate, above any other
    assert resolved({**BOTH, "dcqcn": {"rp_min_rate": 10, "rp_max_rate": 0}}).dcqcn["rp_max_rate"] == 0


def test_all_priorities_but_the_unmarked_can_be_lossless() -> None:
    found = resolved({"profile": "pfc", "pfc": [1, 2, 3, 4, 5, 6, 7]}, "bnxt_en")
    assert sorted(found.prio_tc) == list(range(8))
    assert (sum(found.share), found.prio_tc[0]) == (100, 0)
    full = resolved({**BOTH, "pfc": [1, 2, 3, 4, 5, 7]})
    assert full.prio_tc == tuple(range(8))


@pytest.mark.parametrize(("rdma", "netdev"), [("irdma", "ice"), ("bnxt_re", "bnxt_en"), ("mlx5_ib", "mlx5_core")])
def test_the_rdma_devices_driver_stands_for_the_netdevs(rdma: str, netdev: str) -> None:
    found, expected = resolved({"profile": "pfc+dcqcn"}, rdma), resolved({"profile": "pfc+dcqcn"}, netdev)
    assert (found.prio_tc, found.cnp_priority) == (expected.prio_tc, expected.cnp_priority)


def test_e810_takes_classes_that_suit_it() -> None:
    section = {"profile": "pfc", "traffic_classes": [{**DATA, "tc": 1}, REST]}
    assert resolved(section, "ice").prio_tc == (0, 0, 0, 1, 0, 0, 0, 0)


def site(first: Optional[str], second: Optional[str], **section: Any) -> list[Optional[int]]:
    """CNP priorities of two hosts whose NICs have these drivers."""
    wanted = spec.load(
        {
            "schema": 1,
            "name": "pod",
            "fabrics": {"data": {"transport": "roce", "qos": {"profile": "pfc+dcqcn", **section}}},
            "rails": [{"name": "rail0", "fabric": "data"}],
            "units": {"su1": {"rail0": {"subnet": "10.0.0.0/24"}}},
            "addressing": {"mode": "pool"},
        }
    )
    hosts = []
    for number, driver in enumerate((first, second), 1):
        hardware = {"ports": [{"pci": "0000:18:00.0"}], **({"driver": driver} if driver else {})}
        variables = {"fabric_node_id": number, "fabric_profile": {"model": "x", "rails": {"rail0": hardware}}}
        hosts.append(host.load(wanted, f"gpu{number}", ["su1", "hw_x"], variables))
    intents = fabric.resolve_all(wanted, hosts)
    return [rail.qos.cnp_priority for intent in intents for rail in intent.rails if rail.qos]


def test_one_fabric_has_one_priority_for_cnps() -> None:
    assert site("bnxt_en", "bnxt_en") == [7, 7]
    assert site("mlx5_core", None) == [6, 6]
    with pytest.raises(SpecError) as caught:
        site("mlx5_core", "bnxt_en")
    assert str(caught.value) == (
        "fabric_spec.fabrics.data.qos.cnp: NICs of two makes: rail0 of gpu1 (driver mlx5_core) would send CNPs with "
        "priority 6, rail0 of gpu2 (driver bnxt_en) with priority 7. "
        "Write cnp, for instance cnp: {dscp: 48, priority: 6}"
    )
    assert site("mlx5_core", "bnxt_en", cnp={"dscp": 48, "priority": 6}) == [6, 6]


def test_parameters_are_found_under_either_drivers_name() -> None:
    assert dcqcn.value({"rp_ai_rate": 5}, "rp_ai_rate") == 5
    assert dcqcn.value({"rpg_ai_rate": 7}, "rp_ai_rate") == 7
    assert dcqcn.value({"rpg_hai_rate": 7}, "rp_ai_rate") is None
    assert dcqcn.value(None, "rp_gd") is None


def test_schema_and_core_know_the_same_parameters() -> None:
    text = (Path(__file__).resolve().parents[3] / "schemas" / "fabric_spec.schema.json").read_text(encoding="utf-8")
    properties = json.loads(text)["$defs"]["qos"]["properties"]["dcqcn"]["properties"]
    ranges = {name: (entry["minimum"], entry["maximum"]) for name, entry in properties.items()}
    assert ranges == {name: (known.least, known.most) for name, known in dcqcn.PARAMETERS.items()}
