# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes with lossless RoCE: the settings of ``pfc+dcqcn`` as two driver personalities show them."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import QosState, Service
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Qos, TrafficClass

from tests.unit.verify import nodes

CLASSES = (
    TrafficClass(3, (3,), "ets", 50),
    TrafficClass(6, (6,), "strict"),
    TrafficClass(0, (0, 1, 2, 4, 5, 7), "ets", 50),
)
# DSCP 26 << 2 | ECT(0) = 106: RFC 2474 section 3, RFC 3168 section 5.
QOS = Qos("pfc+dcqcn", (3,), (3,), 26, 3, 48, 6, 106, CLASSES, 7)
LOSSY = Qos("lossy", (), (), 26, 3, None, None, 104, CLASSES)
# What IEEE 802.1Q's eight priorities and classes become of CLASSES, by hand.
PRIO_TC = (0, 0, 0, 3, 0, 0, 6, 0)
TSA = ("ets", "strict", "strict", "ets", "strict", "strict", "strict", "strict")
SHARE = (50, 0, 0, 50, 0, 0, 0, 0)
OFED = ("qos_sysfs", "ecn_sysfs")


def state(rail=0, **changes):
    """One netdev's settings as they should be, OFED's driver."""
    made = QosState(
        f"enp{rail + 1}s0",
        dcbx=("host", "ieee"),
        willing=False,
        trust="dscp",
        dscp_prio=((0, 0), (26, 3), (48, 6)),
        prio_tc=PRIO_TC,
        tsa=TSA,
        share=SHARE,
        tcs=8,
        pfc=(3,),
        pfc_classes=8,
        cable_length_m=7,
        buffer_size=(130944, 130944, 0, 0, 0, 0, 0, 0),
        prio_buffer=(0, 0, 0, 1, 0, 0, 0, 0),
        buffer_total=1027728,
        pause_rx=False,
        pause_tx=False,
        pause_autoneg=False,
        ecn_np=(3,),
        ecn_rp=(3,),
        cnp_dscp=48,
        cnp_priority=6,
        dcqcn={"min_time_between_cnps": 4},
        offers=OFED,
    )
    return replace(made, **changes)


def intent(number=1, soft=False, qos=QOS, **changes):
    """A node whose rails all have ``qos``."""
    made = nodes.intent(number, soft, **changes)
    return replace(made, rails=tuple(replace(rail, qos=qos) for rail in made.rails))


def facts(number=1, soft=False, rail=0, services=None, port=None, **changes):
    """What a probe finds when all is well; ``changes`` are of one rail's settings, ``port`` of its RDMA port."""
    have = nodes.facts(number, soft)
    for index in range(nodes.RAILS):
        have = nodes.port(have, index, cm_tos=106, cm_mode="RoCE v2")
    have = nodes.port(have, rail, **port) if port else have
    states = tuple(state(index, **(changes if index == rail else {})) for index in range(nodes.RAILS))
    known = (Service("railwright-apply", "active", enabled=True),) if services is None else services
    return replace(have, qos=states, services=known)


def lossless(number=1, want=None, **changes):
    """A judged node."""
    want = want or intent(number)
    return nodes.result(number, facts(number, **changes), expected=want)
