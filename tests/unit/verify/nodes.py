# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Healthy nodes as the verifier sees them, and ways to break one thing of one node."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Gid,
    Netdev,
    NodeFacts,
    Pci,
    RdmaDevice,
    RdmaPort,
    Route,
    RoutingRule,
    System,
    Unread,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import (
    Acceptance,
    DeviceMatch,
    NodeIntent,
    PortIntent,
    RailIntent,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import judge_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.node import NodeResult

RAILS = 2


def address(number, rail):
    return f"10.{rail + 1}.0.{number}/24"


def gid(number, rail):
    return f"0000:0000:0000:0000:0000:ffff:0a{rail + 1:02x}:00{number:02x}"


def intent(number=1, soft=True, leaves=None, count=RAILS, **changes):
    """A node with two rails: soft RoCE on virtio (``soft``), or 400 Gbit/s NICs."""
    made = tuple(
        RailIntent(
            name=f"rail{rail}",
            index=rail,
            fabric="compute",
            transport="roce",
            ports=(
                PortIntent(
                    (DeviceMatch(pci=f"0000:{rail + 1:02x}:00.0"),), leaf=(leaves or {}).get(rail, f"leaf{rail}")
                ),
            ),
            host_mtu=4200,
            switch_mtu=4300,
            path_mtu=4096,
            addressing="pool",
            addresses=(address(number, rail),),
            speed_gbps=None if soft else 400.0,
            soft_roce=soft,
        )
        for rail in range(count)
    )
    values = {
        "schema": 1,
        "core_version": "0.1.0",
        "spec_name": "lab",
        "spec_hash": "c0ffee" * 10,
        "host": f"node{number}",
        "unit": "su1",
        "node_id": number,
        "rails": made,
        "modules": ("rdma_ucm", "rdma_rxe"),
        "acceptance": Acceptance(bandwidth=0.9),
    }
    return NodeIntent(**{**values, **changes})


def facts(number=1, soft=True, rails=RAILS):
    """What a probe of that node finds when all is well; docker0 has the same address on every node."""
    netdevs, rdma, pci = [], [], []
    routes = [Route("0.0.0.0/0", "eth0", "192.0.2.1", metric=100), Route("fe80::/64", "enp1s0", metric=256)]
    sysctls = {f"net.ipv{family}.neigh.default.gc_thresh{n}": str(2048 << n) for family in (4, 6) for n in (1, 2, 3)}
    sysctls.update((f"net.ipv4.conf.all.{key}", "0") for key in ("rp_filter", "arp_ignore", "arp_announce"))
    for rail in range(rails):
        name, where = f"enp{rail + 1}s0", f"0000:{rail + 1:02x}:00.0"
        device = f"rxe_rail{rail}" if soft else f"mlx5_{rail}"
        link = {} if soft else {"speed_gts": 32.0, "width": 16, "max_speed_gts": 32.0, "max_width": 16}
        pci.append(Pci(where, "0x1af4", "0x1041", driver="virtio-pci" if soft else "mlx5_core", **link))
        routes.append(Route(f"10.{rail + 1}.0.0/24", name, source=address(number, rail).partition("/")[0]))
        values = {"rp_filter": "2", "arp_ignore": "1", "arp_announce": "2"}
        sysctls.update((f"net.ipv4.conf.{name}.{key}", value) for key, value in values.items())
        netdevs.append(
            Netdev(
                name,
                rail + 2,
                mtu=4200,
                max_mtu=9000,
                operstate="UP",
                carrier=True,
                admin_up=True,
                speed_mbps=None if soft else 400000,
                driver="virtio_net" if soft else "mlx5_core",
                pci=where,
                addresses=(address(number, rail), "fe80::1/64"),
            )
        )
        gids = (
            Gid(0, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2", name),
            Gid(1, gid(number, rail), "RoCE v2", name),
        )
        port = RdmaPort(
            1, "ACTIVE", "LinkUp", "Ethernet", 100.0 if soft else 400.0, 4, 4096, 4096, netdev=name, gids=gids
        )
        rdma.append(
            RdmaDevice(
                device,
                firmware=None if soft else "28.43.2026",
                hca_type=None if soft else "MT4129",
                driver="rdma_rxe" if soft else "mlx5_core",
                soft=soft,
                pci=None if soft else where,
                parent=name if soft else None,
                ports=(port,),
            )
        )
    netdevs.append(Netdev("docker0", 9, mtu=1500, kind="bridge", addresses=("172.17.0.1/16",)))
    return NodeFacts(
        system=System(hostname=f"node{number}", kernel="6.1.0", distribution="debian", release="12"),
        pci=tuple(pci),
        netdevs=tuple(netdevs),
        rdma=tuple(rdma),
        modules=("rdma_rxe", "rdma-ucm", "ib_core"),
        memlock="unlimited",
        routes=tuple(routes),
        rules=(RoutingRule(0, 255), RoutingRule(32766, 254), RoutingRule(32767, 253)),
        sysctls=sysctls,
    )


def netdev(have, rail=0, **changes):
    """The facts with fields of one rail's netdev changed."""
    name = f"enp{rail + 1}s0"
    items = tuple(replace(item, **changes) if item.name == name else item for item in have.netdevs)
    return replace(have, netdevs=items)


def port(have, rail=0, **changes):
    """The facts with fields of one rail's RDMA port changed."""
    items = tuple(
        replace(item, ports=(replace(item.ports[0], **changes),)) if n == rail else item
        for n, item in enumerate(have.rdma)
    )
    return replace(have, rdma=items)


def gids(have, rail=0, **changes):
    """The facts with fields of the GID of the rail's address changed."""
    table = have.rdma[rail].ports[0].gids
    return port(have, rail, gids=(table[0], replace(table[1], **changes)))


def hung(have, section="rdma"):
    """The facts after a tool that never came back."""
    return replace(
        have, **{section: None}, unread=(Unread("rdma -j link show", "rdma did not return within 5 s", section),)
    )


def result(number=1, have=None, own=None, expected=None):
    """A judged node."""
    want = expected or intent(number)
    have = have or facts(number)
    return NodeResult(want.host, "judged", "", want, have, judge_node(want.host, own or want, want, have))


def cluster(*numbers, **replaced):
    """Results of healthy nodes by name; keyword arguments replace some (``node2=…``)."""
    made = {f"node{number}": result(number) for number in numbers or (1, 2)}
    return {**made, **replaced}
