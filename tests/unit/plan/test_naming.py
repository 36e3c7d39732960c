# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of rails' devices: goldens by hand after systemd.link(5) and udev(7), conflicts, what is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ReadError, RefusedError, SpecError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import (
    Netdev,
    NodeFacts,
    Pci,
    RdmaDevice,
    System,
    Unread,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.intent import Bond, DeviceMatch, PortIntent
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.plan import Plan
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.naming import (
    NamingState,
    link_path,
    plan_naming,
    read_naming,
)
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.rdma_rules import PACKAGED, RULES

from tests.unit.apply.simulated import intent, rail
from tests.unit.fakes import FakePort

A, B = "0000:18:00.0", "0000:29:00.0"
NIC_A = Netdev("ens1f0np0", 3, mac="b8:ce:f6:00:00:01", pci=A, driver="mlx5_core", admin_up=True)
NIC_B = Netdev("ens2f0np0", 4, mac="b8:ce:f6:00:00:02", pci=B, driver="mlx5_core", admin_up=True)
MANAGEMENT = Netdev("eno1", 2, mac="3c:ec:ef:00:00:01", pci="0000:02:00.0", driver="igb")
HCA_A = RdmaDevice("mlx5_0", node_guid="b8ce:f603:0000:0001", pci=A)
HCA_B = RdmaDevice("mlx5_1", node_guid="b8ce:f603:0000:0002", pci=B)
LINK = """\
# Managed by Railwright (role rail_naming): the next run undoes what is changed here.
[Match]
Path=pci-0000:18:00.0 *-pci-0000:18:00.0

[Link]
Description=Railwright rail rail0
Name=rail0
AlternativeNamesPolicy=database onboard slot path
MACAddressPolicy=persistent
"""
PACKAGE = '# rdma-core\nACTION=="add", SUBSYSTEM=="infiniband", PROGRAM="rdma_rename %k NAME_FALLBACK"\n'
HEAD = """\
# Railwright begins (role rail_naming): the next run undoes what is changed up to the line that ends it.
ACTION!="add", GOTO="railwright_others"
SUBSYSTEM!="infiniband", GOTO="railwright_others"
"""
RULE_A = (
    'DEVPATH=="*/0000:18:00.0/infiniband/*", PROGRAM="rdma_rename %k NAME_FIXED rdma_rail0", GOTO="railwright_named"\n'
)
RULE_B = (
    'DEVPATH=="*/0000:29:00.0/infiniband/*", PROGRAM="rdma_rename %k NAME_FIXED rdma_rail1", GOTO="railwright_named"\n'
)
FOOT = 'LABEL="railwright_others"\n# Railwright ends.\n'
COPY = "# What follows is the package's own 60-rdma-persistent-naming.rules.\n"
NAMED = 'LABEL="railwright_named"\n'
GOLDEN_RULES = HEAD + RULE_A + RULE_B + FOOT + COPY + PACKAGE + NAMED


def named(number, match=None, netdev="", rdma="", **changes):
    place = DeviceMatch(pci=(A, B)[number]) if match is None else match
    port = PortIntent((place,), netdev=netdev or f"rail{number}", rdma=rdma or f"rdma_rail{number}")
    return rail(number, **{"ports": (port,), "soft_roce": False, **changes})


def facts(netdevs=(MANAGEMENT, NIC_A, NIC_B), rdma=(HCA_A, HCA_B), **changes):
    pci = tuple(Pci(netdev.pci, "0x15b3", "0x1021") for netdev in netdevs if netdev.pci)
    system = System(kernel="6.1.0-18-amd64")
    values = {"system": system, "management": ("eno1",), "pci": pci, "netdevs": netdevs, "rdma": rdma, **changes}
    return NodeFacts(**values)


def state(files=None, strangers=None, packaged=PACKAGE, **changes):
    return NamingState(files or {}, strangers or {}, packaged, **changes)


def plan(*rails, node=None, have=None, **options):
    return plan_naming(intent(*(rails or (named(0), named(1)))), node or facts(), have or state(), **options)


def written(done):
    return {action.path: action.text for step in done.steps for action in step.actions if hasattr(action, "text")}


def test_goldens():
    done = plan()
    files = written(done)
    assert files[link_path("rail0")] == LINK
    assert files[RULES] == GOLDEN_RULES
    assert [str(step) for step in done.steps] == [
        "rail0: name of netdev ens1f0np0 at boot (none) -> rail0 from the next boot on",
        "rail1: name of netdev ens2f0np0 at boot (none) -> rail1 from the next boot on",
        "boot: names of RDMA devices (none) -> rdma_rail0, rdma_rail1",
    ]
    assert not any(step.disruptive for step in done.steps)
    assert [action.argv for action in done.settle] == [("udevadm", "control", "--reload")]


def test_what_is_written_is_no_change_and_the_pending_names_are_notes():
    done = plan(have=state(written(plan())))
    assert (done.steps, done.settle) == ((), ())
    assert done.notes == (
        "rail0: ens1f0np0 gets the name rail0 at the next boot",
        "rail1: ens2f0np0 gets the name rail1 at the next boot",
        "rail0: mlx5_0 gets the name rdma_rail0 at the next boot",
        "rail1: mlx5_1 gets the name rdma_rail1 at the next boot",
    )


def booted(**changes):
    nics = (MANAGEMENT, replace(NIC_A, name="rail0"), replace(NIC_B, name="rail1"))
    devices = (replace(HCA_A, name="rdma_rail0"), replace(HCA_B, name="rdma_rail1"))
    return facts(**{"netdevs": nics, "rdma": devices, **changes})


@pytest.mark.parametrize("live", [True, False])
def test_after_the_boot_there_is_nothing_to_say(live):
    done = plan(node=booted(), have=state(written(plan())), live=live)
    assert (done.steps, done.notes) == ((), ())


def test_without_names_nothing_is_read_or_written():
    assert plan(rail(0), node=NodeFacts()) == Plan("naming")


def test_files_of_an_earlier_spec_go():
    done = plan(rail(0), have=state(written(plan())))
    assert [str(step) for step in done.steps] == [
        f"rail0: file {link_path('rail0')} a name of an earlier spec -> (none)",
        f"rail1: file {link_path('rail1')} a name of an earlier spec -> (none)",
        "boot: names of RDMA devices ours -> the package's",
    ]
    assert {action.path for step in done.steps for action in step.actions} == {
        link_path("rail0"),
        link_path("rail1"),
        RULES,
    }


def test_a_profile_that_knows_the_card_gets_names_that_follow_it():
    mac, guid = DeviceMatch(mac=NIC_A.mac), DeviceMatch(guid="0xb8cef60300000002")
    files = written(plan(named(0, mac), named(1, guid)))
    assert "[Match]\nPermanentMACAddress=b8:ce:f6:00:00:01\n\n" in files[link_path("rail0")]
    assert "[Match]\nPermanentMACAddress=b8:ce:f6:00:00:02\n\n" in files[link_path("rail1")]
    assert RULE_A in files[RULES]
    assert 'ATTR{node_guid}=="b8ce:f603:0000:0002", PROGRAM="rdma_rename %k NAME_FIXED rdma_rail1"' in files[RULES]


def test_netdevs_of_one_function_are_told_apart():
    representor = replace(NIC_A, name="ens1f0npf0vf0", mac="b8:ce:f6:00:99:99")
    port = DeviceMatch(pci=A, mac=NIC_A.mac)
    files = written(plan(named(0, port), node=facts((MANAGEMENT, NIC_A, representor))))
    assert (
        "Path=pci-0000:18:00.0 *-pci-0000:18:00.0\nPermanentMACAddress=b8:ce:f6:00:00:01\n" in files[link_path("rail0")]
    )


def test_a_nic_that_is_away_keeps_its_files():
    have = written(plan())
    done = plan(node=facts((MANAGEMENT, NIC_A), (HCA_A,)), have=state(have))
    assert done.steps == ()
    assert "rail1: no netdev is named rail1, because no NIC with PCI address 0000:29:00.0 on this node" in done.notes


def test_soft_devices_have_their_names_already():
    done = plan(named(0, soft_roce=True), named(1, soft_roce=True))
    assert RULES not in written(done)


@pytest.mark.parametrize("own", ['ACTION=="add", SUBSYSTEM=="infiniband", PROGRAM="rdma_rename %k NAME_KERNEL"\n', ""])
def test_rules_of_the_site_stay_behind_ours_and_come_back(own):
    first = written(plan(have=state({RULES: own})))
    assert first[RULES] == HEAD + RULE_A + RULE_B + FOOT + own + NAMED
    assert plan(have=state(first)).steps == ()
    back = plan(rail(0), have=state({RULES: first[RULES]}))
    assert written(back)[RULES] == own
    assert plan(rail(0), have=state(written(back))).steps == ()


def test_rules_of_another_package_version_are_taken_over():
    newer = PACKAGE.replace("FALLBACK", "PCI")
    (step,) = plan(have=state(written(plan()), packaged=newer)).steps
    assert step.actions[0].text == GOLDEN_RULES.replace("FALLBACK", "PCI")


def test_without_rdma_core_its_default_stands_in():
    assert written(plan(have=state(packaged=None)))[RULES].endswith('PROGRAM="rdma_rename %k NAME_FALLBACK"\n' + NAMED)


@pytest.mark.parametrize(
    "name", ["eth0", "ib3", "all", "default", "lo", "sixteen_chars_ab", "a/b", "a b", "a%d", "7", ".."]
)
def test_names_that_no_netdev_may_have(name):
    with pytest.raises(SpecError, match="rail rail0: a netdev"):
        plan(named(0, netdev=name))


@pytest.mark.parametrize("name", ["mlx5_0", "bnxt_re0", "irdma1", "x" * 64, 'a"b', "a b"])
def test_names_that_no_rdma_device_may_have(name):
    with pytest.raises(SpecError, match="rail rail0: an RDMA device"):
        plan(named(0, rdma=name))


@pytest.mark.parametrize("name", ["ethernet0", "fifteen_chars_a", "rail0", "nic-0", "ibrail0"])
def test_names_that_look_like_those_and_are_fine(name):
    assert link_path(name) in written(plan(named(0, netdev=name)))


def test_two_devices_with_one_name():
    with pytest.raises(SpecError, match=r"rail rail1: two devices would have this name: .*ens1f0np0 of rail rail0"):
        plan(named(0), named(1, netdev="rail0"))
    with pytest.raises(SpecError, match="mlx5_0 of rail rail0"):
        plan(named(0), named(1, rdma="rdma_rail0"))


def test_the_name_of_a_bond():
    bonded = named(1, name="rail0", bond=Bond("802.3ad"), netdev="rail0p0")
    with pytest.raises(SpecError, match="two devices would have this name: this one and the bond of rail rail0"):
        plan(named(0), bonded)
    vlan = named(1, netdev="rail1.7", vlan=7)
    with pytest.raises(SpecError, match="the VLAN of rail rail1"):
        plan(named(0), vlan)


@pytest.mark.parametrize(
    "other",
    [
        replace(MANAGEMENT, name="rail0"),
        replace(MANAGEMENT, altnames=("rail0",)),
        Netdev("rail0", 9, kind="bridge"),
        replace(NIC_B, altnames=("rail0",)),
    ],
)
def test_a_name_that_belongs_to_another_device(other):
    with pytest.raises(RefusedError, match="ens1f0np0 cannot be named rail0: that name belongs to the netdev"):
        plan(node=facts((NIC_A, *(netdev for netdev in (NIC_B,) if netdev.pci != other.pci), other)))


def test_a_name_that_belongs_to_another_rdma_device():
    with pytest.raises(RefusedError, match="mlx5_0 cannot be named rdma_rail0: that name belongs to the RDMA device"):
        plan(node=facts(rdma=(HCA_A, HCA_B, RdmaDevice("rdma_rail0", pci="0000:99:00.0"))))


def test_names_that_change_places_are_no_conflict():
    swapped = facts((MANAGEMENT, replace(NIC_A, name="rail1"), replace(NIC_B, name="rail0")))
    assert len(plan(node=swapped).steps) == 3


@pytest.mark.parametrize("management", [("ens1f0np0",), ("ens1f0np0.7",)])
def test_the_management_link_is_never_named(management):
    vlan = Netdev("ens1f0np0.7", 9, kind="vlan", lower="ens1f0np0", vlan_id=7)
    with pytest.raises(RefusedError, match="carries the node's management"):
        plan(node=facts((NIC_A, NIC_B, vlan), management=management))


def test_rails_that_share_an_rdma_device():
    second = replace(NIC_A, name="ens1d1", mac="b8:ce:f6:00:00:99")
    rails = (named(0, DeviceMatch(pci=A, mac=NIC_A.mac)), named(1, DeviceMatch(pci=A, mac=second.mac)))
    with pytest.raises(RefusedError, match="rail0 and rail1 share one RDMA device"):
        plan(*rails, node=facts((MANAGEMENT, NIC_A, second), (HCA_A,)))


def test_ports_of_a_bond_on_one_card():
    first, second = (PortIntent((DeviceMatch(pci=pci),), netdev=f"s{n}", rdma=f"rs{n}") for n, pci in enumerate((A, B)))
    bonded = rail(0, ports=(first, second), bond=Bond("802.3ad"), soft_roce=False)
    rules = written(plan(bonded, node=facts(rdma=(HCA_A,))))[RULES]
    assert "0000:18:00.0/infiniband/*" in rules
    assert "0000:29:00.0/infiniband/*" in rules
    one = rail(0, ports=(first, replace(second, match=first.match)), bond=Bond("802.3ad"), soft_roce=False)
    assert "NAME_FIXED rs1" not in written(plan(one, node=facts(rdma=(HCA_A,))))[RULES]


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"netdevs": None, "pci": ()}, "the network devices could not be read"),
        ({"rdma": None}, "the RDMA devices could not be read"),
        ({"unread": (Unread("/proc/net/route", "x", "management"),)}, "which link carries the management"),
    ],
)
def test_what_is_unknown_is_not_planned(node, said):
    with pytest.raises(ReadError, match=said):
        plan(node=replace(facts(), **node))


def test_files_of_others_that_win():
    persistent = (
        '# "b8:ce:f6:00:00:01", NAME="commented"\n'
        'SUBSYSTEM=="net", ATTR{address}=="B8:CE:F6:00:00:01", NAME="net0"\n'
        'SUBSYSTEM=="net", ATTR{address}=="b8:ce:f6:00:00:02", NAME="rail1"\n'
        'SUBSYSTEM=="net", ATTR{address}=="3c:ec:ef:00:00:01", NAME="mgmt0"\n'
        'SUBSYSTEM=="net", NAME=="x", KERNELS=="0000:18:00.0", ENV{ID_NET_NAME}="y"\n'
    )
    strangers = {
        "/etc/udev/rules.d/70-persistent-net.rules": persistent,
        "/etc/udev/rules.d/70-rdma.rules": 'KERNELS=="0000:29:00.0", PROGRAM="rdma_rename %k NAME_FIXED mlx5_9"\n',
        "/etc/systemd/network/00-nic.link": "[Match]\nPermanentMACAddress=b8:ce:f6:00:00:02\n[Link]\nName=nic2\n",
    }
    done = plan(node=booted(), have=state(written(plan()), strangers))
    assert done.steps == ()
    assert [note.partition(": SUB")[0].partition(": KERNELS")[0] for note in done.notes] == [
        "rail0: /etc/udev/rules.d/70-persistent-net.rules names rail0 as well and wins",
        "rail1: /etc/udev/rules.d/70-rdma.rules names rdma_rail1 as well",
        "rail1: /etc/systemd/network/00-nic.link names rail1 as well and wins: PermanentMACAddress=b8:ce:f6:00:00:02",
    ]


def test_labels_where_files_have_them():
    assert [action.argv[0] for action in plan(have=state(labels=True)).settle] == ["udevadm", "restorecon"]


def test_reading():
    port = FakePort(
        {
            link_path("rail0"): LINK,
            "/etc/systemd/network/00-first.link": "first",
            "/etc/systemd/network/10-later.link": "later",
            "/etc/systemd/network/09-railwright-rail0.network": "no link",
            "/etc/udev/rules.d/70-persistent-net.rules": "x",
            RULES: "own",
            PACKAGED[1]: PACKAGE,
        }
    )
    assert read_naming(port, "6.1.0") == NamingState(
        {link_path("rail0"): LINK, RULES: "own"},
        {"/etc/systemd/network/00-first.link": "first", "/etc/udev/rules.d/70-persistent-net.rules": "x"},
        PACKAGE,
    )
    assert read_naming(FakePort(), None) == NamingState({RULES: None}, {})
