# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Who else sets what Railwright sets, and who wins at the next boot: sysctl.d(5), tuned, networkd, NetworkManager …"""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ReadError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.network import Link
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.owners import notes
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.collect import Reader
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.owners import owners

from tests.unit.fakes import FakePort

RAIL = Netdev(
    "ens4", 3, mac="52:54:00:00:01:01", permanent_mac="52:54:00:00:01:01", pci="0000:01:00.0", driver="mlx5_core"
)
SECOND = Netdev("ens5", 4, mac="52:54:00:00:01:02", permanent_mac="52:54:00:00:01:02", pci="0000:02:00.0")
MANAGEMENT = Netdev("ens3", 2, mac="52:54:00:00:01:00", permanent_mac="52:54:00:00:01:00", pci="0000:00:03.0")
OURS = "net.ipv4.conf.ens4.rp_filter = 2\nnet.ipv4.conf.ens5.rp_filter = 2\nnet.ipv4.neigh.default.gc_thresh3 = 16384\n"
MINE = {"/etc/sysctl.d/90-railwright.conf": OURS}
KEY = "net.ipv4.conf.ens4.rp_filter"
TUNED_WANTS = {"/etc/systemd/system/multi-user.target.wants/tuned.service": ""}


def found(files, manager=None, netdevs=(MANAGEMENT, RAIL, SECOND)):
    reader = Reader(FakePort(files))
    told = owners(reader, netdevs, ("ens3",), manager)
    assert reader.unread == []
    return [(owner.setting, owner.value, owner.source, owner.wins) for owner in told]


def test_a_node_of_ours_has_no_other_owners():
    assert found(MINE) == []


def test_nothing_is_told_when_the_netdevs_are_not_known():
    assert owners(Reader(FakePort(MINE)), None, (), None) is None


@pytest.mark.parametrize(
    ("file", "wins"), [("/etc/sysctl.d/99-site.conf", True), ("/etc/sysctl.d/10-site.conf", False)]
)
def test_the_later_name_wins_over_all_folders(file, wins):
    text = "# site\nnet.ipv4.neigh.default.gc_thresh3=1024\n"
    expected = [("net.ipv4.neigh.default.gc_thresh3", "1024", file, True)]
    # What an earlier file writes out by the same name has lost its say: it is not told.
    assert found({**MINE, file: text}) == (expected if wins else [])


def test_a_folder_does_not_count_but_the_name_does():
    path = "/usr/lib/sysctl.d/95-vendor.conf"
    assert found({**MINE, path: f"{KEY} = 1\n"}) == [(KEY, "1", path, True)]


def test_a_file_of_one_name_is_masked_by_the_one_in_etc():
    files = {**MINE, "/usr/lib/sysctl.d/95-vendor.conf": f"{KEY} = 1\n", "/etc/sysctl.d/95-vendor.conf": "# empty\n"}
    assert found(files) == []


@pytest.mark.parametrize("key", ["net/ipv4/conf/ens4/rp_filter", "-net.ipv4.conf.ens4.rp_filter", KEY])
def test_every_spelling_of_a_key(key):
    assert found({**MINE, "/etc/sysctl.d/99-x.conf": f"  {key}   =1 \n"}) == [
        (KEY, "1", "/etc/sysctl.d/99-x.conf", True)
    ]


def test_a_pattern_never_wins_over_a_name_that_is_written_out():
    files = {**MINE, "/etc/sysctl.d/99-x.conf": "net.ipv4.conf.*.rp_filter = 1\n"}
    assert ("net.ipv4.conf.ens4.rp_filter", "1", "/etc/sysctl.d/99-x.conf", True) not in found(files)
    # For "all", which we do not write, it is the only one: the pattern matches it as well.
    assert ("net.ipv4.conf.all.rp_filter", "1", "/etc/sysctl.d/99-x.conf", True) in found(files)


def test_a_pattern_wins_where_nobody_writes_the_name_out_and_a_dash_takes_a_name_out():
    text = "net.ipv4.conf.*.rp_filter = 1\n-net.ipv4.conf.all.rp_filter\n"
    told = found({"/usr/lib/sysctl.d/50-default.conf": text})
    assert [(setting, wins) for setting, _value, _source, wins in told] == [
        (KEY, True),
        ("net.ipv4.conf.ens5.rp_filter", True),
    ]


def test_a_vlan_is_named_with_a_slash():
    vlan = Netdev("rail0.100", 9, kind="vlan", lower="ens4", vlan_id=100)
    told = found({"/etc/sysctl.d/99-x.conf": "net/ipv4/conf/rail0.100/rp_filter=1\n"}, netdevs=(vlan,))
    assert told == [("net.ipv4.conf.rail0/100.rp_filter", "1", "/etc/sysctl.d/99-x.conf", True)]


def test_sysctl_conf_counts_at_boot_by_its_link_only():
    plain = found({**MINE, "/etc/sysctl.conf": f"{KEY}=1\n"})
    assert plain == [(KEY, "1", "/etc/sysctl.conf", False)]
    linked = found({**MINE, "/etc/sysctl.conf": f"{KEY}=1\n", "/etc/sysctl.d/99-sysctl.conf": f"{KEY}=1\n"})
    assert linked == [(KEY, "1", "/etc/sysctl.d/99-sysctl.conf", True)]


def test_ufw_writes_its_own_file_last():
    files = {
        **MINE,
        "/etc/ufw/ufw.conf": "ENABLED=yes\n",
        "/etc/default/ufw": "IPV6=yes\nIPT_SYSCTL=/etc/ufw/sysctl.conf\n",
        "/etc/ufw/sysctl.conf": "net/ipv4/conf/all/rp_filter=1\n",
    }
    assert found(files) == [("net.ipv4.conf.all.rp_filter", "1", "/etc/ufw/sysctl.conf", True)]
    assert found({**files, "/etc/ufw/ufw.conf": "ENABLED=no\n"}) == []


def tuned(main="", wants=True, profile="[sysctl]\nnet.ipv4.neigh.default.gc_thresh3=8192 # room\n"):
    return {
        **MINE,
        **(TUNED_WANTS if wants else {}),
        "/etc/tuned/active_profile": "hpc\n",
        "/etc/tuned/tuned-main.conf": main,
        "/etc/tuned/hpc/tuned.conf": "[main]\ninclude=base, other\n",
        "/usr/lib/tuned/base/tuned.conf": profile,
    }


def test_tuned_gives_way_to_etc_unless_told_otherwise():
    key, source = "net.ipv4.neigh.default.gc_thresh3", "tuned profile hpc (/usr/lib/tuned/base/tuned.conf)"
    assert found(tuned()) == [(key, "8192", source, False)]
    assert found(tuned("reapply_sysctl = 0\n")) == [(key, "8192", source, True)]
    assert found(tuned("reapply_sysctl = 0\n", wants=False)) == []


def test_tuned_wins_where_we_write_nothing():
    told = found(tuned(profile="[sysctl]\nnet.ipv4.conf.all.rp_filter=1\n"))
    assert [(setting, wins) for setting, _value, _source, wins in told] == [("net.ipv4.conf.all.rp_filter", True)]


def test_tuned_applies_sysctl_conf_last():
    told = found({**tuned(), "/etc/sysctl.conf": f"{KEY}=1\n"})
    assert (KEY, "1", "/etc/sysctl.conf", True) in told


def test_profiles_that_include_each_other_end():
    files = tuned()
    files["/usr/lib/tuned/base/tuned.conf"] = "[main]\ninclude=hpc\n[sysctl]\nnet.ipv4.conf.all.rp_filter=1\n"
    assert len(found(files)) == 1


NETWORK = "[Match]\nName=en*\n\n[Network]\nDHCP=yes\n"
OWN = {"/etc/systemd/network/10-railwright-rail0.network": "[Match]\nPath=pci-0000:01:00.0 *-pci-0000:01:00.0\n"}


def test_the_first_file_of_networkd_wins():
    path = "/etc/systemd/network/05-dhcp.network"
    files = {**OWN, path: NETWORK, "/usr/lib/systemd/network/89-late.network": NETWORK}
    told = found(files, "systemd-networkd", netdevs=(MANAGEMENT, RAIL))
    assert told == [("ens4.addresses", "dhcp", path, True)]


def test_a_later_file_of_networkd_does_not_count():
    files = {**OWN, "/usr/lib/systemd/network/89-late.network": NETWORK}
    assert found(files, "systemd-networkd", netdevs=(RAIL,)) == []
    # Only for a netdev that we do not have.
    late = found(files, "systemd-networkd", netdevs=(SECOND,))
    assert late == [("ens5.addresses", "dhcp", "/usr/lib/systemd/network/89-late.network", True)]


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        ("MACAddress=52:54:00:00:01:01", True),
        ("PermanentMACAddress=52:54:00:00:01:02", False),
        ("Name=ens4", True),
        ("Name=ens[3-5]", True),
        ("Name=!ens4", False),
        ("Name=eth0 ens4", True),
        ("Driver=mlx5_core\nName=ens4", True),
        ("Driver=virtio_net", False),
        ("Type=ether", True),
        ("Type=wlan", False),
        ("Kind=veth", False),
        ("Path=pci-0000:01:00.0", True),
        ("Path=pci-0000:01:00.1", False),
        ("Name=ens4\nVirtualization=yes", True),
        ("", True),
    ],
)
def test_matches_of_networkd(match, fits):
    text = f"[Match]\n{match}\n[Link]\nMTUBytes=1500\n[Network]\nAddress=192.0.2.1/24\n"
    told = found({"/etc/systemd/network/05-x.network": text}, "systemd-networkd", netdevs=(RAIL,))
    assert [(setting, value) for setting, value, _source, _wins in told] == (
        [("ens4.addresses", "192.0.2.1/24"), ("ens4.mtu", "1500")] if fits else []
    )


def test_netplans_files_are_told_from_ours():
    files = {
        "/etc/netplan/90-railwright-rail0.yaml": "",
        "/run/systemd/network/10-netplan-rail0.network": "[Match]\nName=ens4\n",
        "/run/systemd/network/10-netplan-ens5.network": "[Match]\nName=ens5\n[Network]\nDHCP=ipv4\n",
    }
    told = found(files, "netplan")
    assert told == [("ens5.addresses", "dhcp", "/run/systemd/network/10-netplan-ens5.network", True)]


def profile(name="ens4", extra="", more=""):
    head = f"[connection]\nid=x\ntype=ethernet\n{extra}"
    return head + (f"interface-name={name}\n" if name else "") + more + "[ipv4]\nmethod=auto\n"


PROFILE = "/etc/NetworkManager/system-connections/site.nmconnection"
OWN_PROFILE = {
    "/etc/NetworkManager/system-connections/railwright-rail0.nmconnection": "[connection]\ntype=ethernet\n"
    "autoconnect-priority=900\n[match]\npath=pci-0000:01:00.0;*-pci-0000:01:00.0;\n"
}


@pytest.mark.parametrize(
    ("text", "wins"),
    [
        (profile(), False),
        (profile(extra="autoconnect-priority=999\n"), True),
        (profile(extra="autoconnect-priority=900\n"), True),
        (profile(extra="autoconnect-priority=999\nautoconnect=false\n"), False),
        (profile("", more="[ethernet]\nmac-address=52:54:00:00:01:01\n"), False),
        (profile("", more="[match]\npath=pci-0000:01:*;\n"), False),
    ],
)
def test_profiles_of_networkmanager_by_priority(text, wins):
    told = found({**OWN_PROFILE, PROFILE: text}, "NetworkManager", netdevs=(RAIL,))
    assert told == [("ens4.addresses", "dhcp", PROFILE, wins)]


@pytest.mark.parametrize(
    "text",
    [
        profile("ens9"),
        profile(""),
        profile("ens4", more="[ethernet]\nmac-address=52:54:00:00:09:09\n"),
        profile().replace("ethernet", "wifi"),
        "no keyfile",
    ],
)
def test_profiles_that_do_not_name_the_rail(text):
    assert found({PROFILE: text}, "NetworkManager", netdevs=(RAIL,)) == []


def test_without_ours_any_profile_wins():
    text = "[connection]\ntype=ethernet\ninterface-name=ens4\n[ethernet]\nmtu=1500\n[ipv4]\n"
    text += "address1=192.0.2.1/24,192.0.2.254\n"
    told = found({PROFILE: text}, "NetworkManager", netdevs=(RAIL,))
    assert told == [("ens4.addresses", "192.0.2.1/24", PROFILE, True), ("ens4.mtu", "1500", PROFILE, True)]


def test_ifcfg_files():
    path = "/etc/sysconfig/network-scripts/ifcfg-ens4"
    text = 'DEVICE="ens4"\nONBOOT=yes\nIPADDR=192.0.2.1\nPREFIX=24\nMTU=1500\n'
    told = found({path: text}, "NetworkManager", netdevs=(RAIL,))
    assert told == [("ens4.addresses", "192.0.2.1/24", path, True), ("ens4.mtu", "1500", path, True)]
    assert [wins for *_rest, wins in found({path: text + "ONBOOT=no\n"}, "NetworkManager", netdevs=(RAIL,))] == [
        False,
        False,
    ]


def test_stanzas_of_ifupdown_count_beside_any_manager():
    files = {
        "/sbin/ifup": "",
        "/etc/network/interfaces": "source interfaces.d/*\nauto lo ens4\niface lo inet loopback\n",
        "/etc/network/interfaces.d/50-cloud-init": "iface ens4 inet static\n  address 192.0.2.1/24\n  mtu 1500\n",
        "/etc/network/interfaces.d/railwright-rail1": "auto ens5\niface ens5 inet manual\n",
    }
    path = "/etc/network/interfaces.d/50-cloud-init (cloud-init writes it)"
    expected = [("ens4.addresses", "192.0.2.1/24", path, True), ("ens4.mtu", "1500", path, True)]
    assert found(files, "ifupdown") == expected
    off = {**files, "/etc/cloud/cloud.cfg.d/99-off.cfg": "network: {config: disabled}\n"}
    assert found(off, "ifupdown")[0][2] == "/etc/network/interfaces.d/50-cloud-init"
    del files["/sbin/ifup"]
    assert found(files, "ifupdown") == []


def test_the_management_is_nobodys_business():
    files = {"/etc/systemd/network/05-x.network": "[Match]\nName=ens3\n[Network]\nDHCP=yes\n"}
    assert found(files, "systemd-networkd") == []


def test_what_cannot_be_read_is_said():
    class Closed(FakePort):
        def read(self, path):
            raise ReadError("Permission denied", path)

    reader = Reader(Closed(MINE))
    assert owners(reader, (RAIL,), (), None) == ()
    assert ("/etc/sysctl.d/90-railwright.conf", "owners") in [(item.source, item.subject) for item in reader.unread]


LINKS = (Link("rail0", "port", "ens4", RAIL),)


def test_notes_name_who_wins():
    told = owners(Reader(FakePort({PROFILE: profile(more="[ethernet]\nmtu=1500\n")})), (RAIL,), (), "NetworkManager")
    assert notes(told, LINKS) == (
        f"rail0: {PROFILE} sets ens4.addresses to dhcp, ens4.mtu to 1500 at the next boot: "
        "remove it there, or the rail loses its own",
    )
    assert notes(told, (Link("rail1", "port", "ens5", SECOND),)) == ()


def test_a_profile_that_loses_is_not_worth_a_note():
    told = owners(Reader(FakePort({**OWN_PROFILE, PROFILE: profile()})), (RAIL,), (), "NetworkManager")
    assert len(told) == 1
    assert notes(told, LINKS) == ()
