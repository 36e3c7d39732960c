# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Files for systemd-networkd: hand-written goldens after systemd.network(5)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Netdev,
    NodeFacts,
    Route,
    System,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.links import rail_links
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.network import NodeNetwork, plan_network
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.providers.networkd import Networkd
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.bind import bind

from tests.unit.apply.simulated import intent, rail
from tests.unit.fakes import FakePort

NETDEV = Netdev("ens4", 3, mac="52:54:00:00:01:01", mtu=4200, pci="0000:01:00.0", addresses=("10.100.0.1/24",))
GOLDEN = """\
# Managed by Railwright (role rail_network): the next run undoes what is changed here.
[Match]
Path=pci-0000:01:00.0 *-pci-0000:01:00.0

[Link]
MTUBytes=4200
RequiredForOnline=no

[Network]
Description=Railwright rail rail0
LinkLocalAddressing=ipv6
IPv6AcceptRA=no
LLDP=yes
ConfigureWithoutCarrier=yes
IgnoreCarrierLoss=yes
Address=10.100.0.1/24
"""


def facts(*netdevs):
    return NodeFacts(system=System(network_manager="systemd-networkd"), netdevs=netdevs or (NETDEV,))


PATH = "/etc/systemd/network/10-railwright-rail0.network"


def files(wanted, netdevs=(NETDEV,)):
    found = bind(wanted, facts(*netdevs))[0]
    return {file.path: file.text for file in Networkd().render(rail_links(found, netdevs), netdevs)}


def render(wanted, netdevs=(NETDEV,)):
    return files(intent(wanted), netdevs)[PATH]


def plan(wanted, node, found=None):
    return plan_network(wanted, node, NodeNetwork(found or {}))


def test_golden():
    assert render(rail(0)) == GOLDEN


def test_nothing_but_the_rail_is_in_the_file():
    other = replace(intent(rail(0)), spec_hash="different", spec_name="other", host="node9")
    assert files(other) == {PATH: GOLDEN}


def test_a_rail_without_addresses_keeps_those_of_others():
    text = render(rail(0, addressing="none", addresses=()))
    assert "KeepConfiguration=yes" in text
    assert "Address=" not in text


def test_netdevs_that_share_a_function_are_told_apart_by_mac():
    second = replace(NETDEV, name="ens4v0", mac="52:54:00:00:99:99")
    text = render(rail(0, ports=(replace(rail(0).ports[0], match=_mac("52:54:00:00:01:01")),)), (NETDEV, second))
    assert "Path=pci-0000:01:00.0 *-pci-0000:01:00.0\nPermanentMACAddress=52:54:00:00:01:01\n" in text


def _mac(mac):
    match = rail(0).ports[0].match[0]
    return (replace(match, pci=None, mac=mac),)


def test_netdev_without_pci_address_is_known_by_its_mac():
    netdev = replace(NETDEV, pci=None)
    text = render(rail(0, ports=(replace(rail(0).ports[0], match=_mac(NETDEV.mac)),)), (netdev,))
    assert "[Match]\nPermanentMACAddress=52:54:00:00:01:01\n\n" in text


@pytest.mark.parametrize(
    ("have", "want", "differs"),
    [
        (("fd00::1/64",), ("fd00:0:0::1/64",), False),
        (("fd00::1/64", "fe80::1/64"), ("fd00::1/64",), False),
        (("fd00::1/64",), ("fd00::2/64",), True),
        (("fd00::1/65",), ("fd00::1/64",), True),
        ((), (), False),
    ],
)
def test_addresses_are_compared_as_addresses(have, want, differs):
    wanted = intent(rail(0, addresses=want))
    node = facts(replace(NETDEV, addresses=have))
    node = replace(node, routes=(Route("10.0.0.0/8", "ens4"),))
    steps = plan(wanted, node, files(wanted, node.netdevs)).steps
    assert bool([step for step in steps if step.setting == "address of ens4"]) == differs


def test_management_above_the_rail():
    vlan = Netdev("ens4.7", 9, kind="vlan", lower="ens4", vlan_id=7)
    node = replace(facts(NETDEV, vlan), management=("ens4.7",))
    with pytest.raises(Exception, match=r"rail0 is on ens4, and ens4\.7 carries"):
        plan(intent(rail(0)), node)


def test_mode_none_leaves_the_addresses_of_others():
    wanted = intent(rail(0, addressing="none", addresses=()))
    assert [step.setting for step in plan(wanted, facts()).steps] == [f"file {PATH}"]


def test_our_files_and_no_others():
    base = "/etc/systemd/network/10-railwright-rail7"
    port = FakePort({f"{base}{end}": "x" for end in (".network", ".bond.netdev", ".network.bak")})
    assert Networkd().present(port) == (f"{base}.bond.netdev", f"{base}.network")
    assert {Networkd().rail(path) for path in Networkd().present(port)} == {"rail7"}
    assert Networkd().present(FakePort()) == ()


def test_the_netdev_of_a_file():
    other = replace(NETDEV, name="ens5", pci="0000:02:00.0", mac="52:54:00:00:01:02")
    assert Networkd().netdevs((GOLDEN,), (other, NETDEV)) == (NETDEV,)
    assert Networkd().netdevs((GOLDEN,), (other, Netdev("tun0", 9))) == ()


def test_link_that_was_set_down():
    node = facts(replace(NETDEV, admin_up=False))
    assert [str(step).partition(" [")[0] for step in plan(intent(rail(0)), node, {PATH: GOLDEN}).steps] == [
        "rail0: link ens4 down -> up"
    ]
