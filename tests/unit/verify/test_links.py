# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Names, bond and VLAN of a rail."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    BondPortState,
    BondState,
    Netdev,
    NodeFacts,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond, DeviceMatch, PortIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import judge_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.verdict import roots

from tests.unit.verify import nodes
from tests.unit.verify.rows import check, judged, row, wanted

HARD, SOFT = nodes.facts(soft=False), nodes.facts()


def named(netdev="enp1s0", rdma="mlx5_0", soft=False):
    port = replace(nodes.intent().rails[0].ports[0], netdev=netdev, rdma=rdma)
    return {"ports": (port,)}


BONDED = {
    "bond": Bond("802.3ad"),
    "ports": tuple(PortIntent((DeviceMatch(pci=f"0000:{n}:00.0"),), leaf=f"leaf{n}") for n in ("01", "03")),
}
STATE = BondState("802.3ad", "fast", "layer3+4", 100, aggregator=1, aggregator_ports=2)


def bonded(vlan=None, legs=None, state=STATE, **bond):
    """Node 1 with rail0 as a bond of enp1s0 and enp3s0; ``legs`` are changes of one of them."""
    port = BondPortState("ACTIVE", "UP", 0, 1)
    changes = {"master": "rail0", "bond_port": port, "addresses": ()}
    have = nodes.netdev(HARD, **changes)
    second = replace(have.netdevs[0], name="enp3s0", ifindex=20, pci="0000:03:00.0")
    address = HARD.netdevs[0].addresses
    own = Netdev("rail0", 30, mtu=4200, carrier=True, admin_up=True, kind="bond", bond=state)
    top = []
    if vlan is not None:
        top = [replace(own, name="rail0.100", ifindex=31, kind="vlan", bond=None, **vlan)]
        top = [replace(item, addresses=address) for item in top]
    else:
        own = replace(own, addresses=address)
    own = replace(own, **bond)
    items = {item.name: item for item in (*have.netdevs, second, own, *top)}
    for name, change in (legs or {}).items():
        items[name] = replace(items[name], **change)
    name = top[0].name if top else "rail0"
    port = have.rdma[0].ports[0]
    gids = tuple(replace(gid, netdev=name) for gid in port.gids)
    rdma = replace(have.rdma[0], ports=(replace(port, netdev="rail0", gids=gids),))
    pci = (*have.pci, replace(have.pci[0], address="0000:03:00.0"))
    routes = tuple(replace(route, netdev=name) if route.netdev == "enp1s0" else route for route in have.routes)
    sysctls = {key.replace("enp1s0", name.replace(".", "/")): value for key, value in have.sysctls.items()}
    netdevs = tuple(items.values())
    return replace(have, netdevs=netdevs, rdma=(rdma, have.rdma[1]), pci=pci, routes=routes, sysctls=sysctls)


def without(have, *names):
    left = tuple(item for item in have.netdevs if item.name not in names)
    left = tuple(replace(item, master=None, bond_port=None) if item.master in names else item for item in left)
    return replace(have, netdevs=left)


def leg(**changes):
    return bonded(legs={"enp3s0": changes})


DOWN = {"carrier": False, "operstate": "DOWN", "bond_port": BondPortState("BACKUP", "DOWN", 1, 2)}
TAGGED = {**BONDED, "vlan": 100}
VLAN = {"vlan_id": 100, "lower": "rail0"}
PLAIN = {"vlan": 7}


def plain_vlan(**changes):
    """A VLAN above enp1s0."""
    own = Netdev("rail0.7", 40, mtu=4200, carrier=True, admin_up=True, kind="vlan", vlan_id=7, lower="enp1s0")
    return replace(HARD, netdevs=(*HARD.netdevs, replace(own, **changes)))


ROWS = [
    row("rail.names", "pass", HARD, **named()),
    row("rail.names", "fail", HARD, "enp1s0 is not named rail0", **named(netdev="rail0")),
    row("rail.names", "fail", HARD, "mlx5_0 is not named rdma_rail0", name="rdma", **named(rdma="rdma_rail0")),
    # A name that begins like the wanted one selects another device.
    row("rail.names", "fail", HARD, name="like", **named(netdev="enp1s0f0")),
    row("rail.names", "fail", HARD, "another device has that name", name="taken", **named(netdev="enp2s0")),
    row(
        "rail.names",
        "fail",
        nodes.netdev(HARD, 1, altnames=("rail0",)),
        "enp2s0 has it as an alternative name",
        name="altname",
        **named(netdev="rail0"),
    ),
    row("rail.names", "unknown", replace(HARD, rdma=None), **named()),
    row("rail.bond", "pass", bonded(), "2 ports up", **BONDED),
    row("rail.bond", "fail", without(bonded(), "rail0"), "removed, or never made", **BONDED),
    row(
        "rail.bond",
        "fail",
        bonded(state=replace(STATE, mode="balance-rr")),
        "balance-rr",
        "802.3ad",
        name="mode",
        **BONDED,
    ),
    row("rail.bond", "fail", leg(**DOWN), "enp3s0", "this leg of the bond is down", "leaf03", name="leg", **BONDED),
    # The link is up, the bond's own monitor says it is not.
    row("rail.bond", "fail", leg(bond_port=BondPortState("BACKUP", "DOWN", 1, 1)), "MII", name="mii", **BONDED),
    row("rail.bond", "fail", leg(admin_up=False, carrier=None), "set down", name="set-down", **BONDED),
    row("rail.bond", "fail", leg(master=None, bond_port=None), "enp3s0 is not in rail0", name="left", **BONDED),
    row("rail.bond", "fail", leg(master="br0"), "belongs to br0", name="bridge", **BONDED),
    # Both legs are up, and one of them carries nothing.
    row(
        "rail.bond",
        "fail",
        bonded(legs={"enp3s0": {"bond_port": BondPortState("ACTIVE", "UP", 0, 2)}}),
        "aggregator 2, not 1",
        "LACP",
        name="aggregator",
        **BONDED,
    ),
    row("rail.bond", "fail", bonded(state=replace(STATE, aggregator_ports=1)), "1 of 2", name="ports", **BONDED),
    row("rail.bond", "fail", bonded(state=replace(STATE, hash_policy="layer2")), "layer3+4", name="hash", **BONDED),
    row("rail.bond", "fail", bonded(state=replace(STATE, lacp_rate="slow")), "slow", name="lacp", **BONDED),
    row("rail.bond", "fail", bonded(state=replace(STATE, miimon_ms=0)), "MII monitoring", name="miimon", **BONDED),
    row("rail.bond", "unknown", bonded(state=BondState()), "mode", **BONDED),
    row("rail.bond", "unknown", leg(bond_port=None), "state of its ports", name="port-state", **BONDED),
    row("rail.vlan", "pass", bonded(vlan=VLAN), "rail0.100 with id 100 on rail0", **TAGGED),
    row("rail.vlan", "pass", plain_vlan(), name="plain", **PLAIN),
    row("rail.vlan", "fail", bonded(), "removed, or never made", **TAGGED),
    row("rail.vlan", "fail", bonded(vlan={**VLAN, "vlan_id": 101}), "has id 101", name="id", **TAGGED),
    row("rail.vlan", "fail", bonded(vlan={**VLAN, "lower": "enp2s0"}), "sits on enp2s0", name="lower", **TAGGED),
    row("rail.vlan", "fail", plain_vlan(name="data", vlan_id=70), "another id", name="other-name", **PLAIN),
    row("rail.vlan", "fail", plain_vlan(kind="bridge", vlan_id=None), "no VLAN device", name="kind", **PLAIN),
    row("rail.vlan", "unknown", plain_vlan(vlan_id=None), **PLAIN),
    row("rail.vlan", "unknown", replace(HARD, netdevs=None), name="unread", **PLAIN),
]


@pytest.mark.parametrize(("rule", "state", "rail", "node", "facts", "words"), ROWS)
def test_rule(rule, state, rail, node, facts, words):
    check(rule, state, rail, node, facts, words)


def test_rules_that_do_not_apply():
    assert [judged(rule, wanted(), HARD) for rule in ("rail.names", "rail.bond", "rail.vlan")] == [[], [], []]


def test_a_soft_device_has_the_name_that_its_maker_gave_it():
    assert judged("rail.names", wanted(soft=True, **named(rdma="rdma_rail0")), SOFT)[0].state == "pass"


def test_settings_that_a_mode_does_not_have():
    """LACP rate and hash policy mean nothing to active-backup."""
    state = BondState("active-backup", "slow", "layer2", 100, active_port="enp1s0")
    node = wanted(bond=Bond("active-backup"), ports=BONDED["ports"])
    assert judged("rail.bond", node, bonded(state=state))[0].state == "pass"


ROOTS = {
    "healthy bond": (BONDED, bonded(), []),
    "healthy VLAN": (TAGGED, bonded(vlan=VLAN), []),
    "leg down": (BONDED, leg(**DOWN, speed_mbps=None), ["rail.bond@node1/rail0"]),
    "mode wrong": (BONDED, bonded(state=BondState("active-backup", None, None, 100)), ["rail.bond@node1/rail0"]),
    "no bond": (BONDED, without(bonded(), "rail0"), ["rail.bond@node1/rail0"]),
    "bond down": (
        BONDED,
        bonded(legs={"enp1s0": DOWN, "enp3s0": DOWN}, carrier=False),
        ["rail.link@node1/rail0"],
    ),
    "no VLAN": (TAGGED, without(bonded(vlan=VLAN), "rail0.100"), ["rail.vlan@node1/rail0"]),
    "wrong VLAN": (TAGGED, bonded(vlan={**VLAN, "vlan_id": 101}), ["rail.vlan@node1/rail0"]),
    "nothing read": (BONDED, NodeFacts(system=HARD.system), ["host.probe@node1/-"]),
}


@pytest.mark.parametrize("name", ROOTS)
def test_one_fault_is_one_root(name):
    changes, have, keys = ROOTS[name]
    node = wanted(**changes)
    if name in ("no bond", "no VLAN"):  # with the device its route and parameters are gone
        gone = "rail0" if name == "no bond" else "rail0.100"
        have = replace(have, routes=tuple(route for route in have.routes if route.netdev != gone))
        have = replace(have, sysctls={key: v for key, v in have.sysctls.items() if gone.replace(".", "/") not in key})
        port = have.rdma[0].ports[0]
        have = nodes.port(have, gids=tuple(gid for gid in port.gids if gid.netdev != gone))
    assert [finding.key for finding in roots(judge_node("node1", node, node, have))] == keys
