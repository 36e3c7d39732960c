# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Who configures the network, on the layouts of real images; several at once are told as such."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.netplan import renderer
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.collect import Reader
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe.system import network_manager
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.fakes import FakePort

UNITS = "/sys/fs/cgroup/system.slice"
NETWORKD = {f"{UNITS}/systemd-networkd.service/cgroup.procs": "1\n"}
MANAGER = {f"{UNITS}/NetworkManager.service/cgroup.procs": "1\n"}
SSH = {f"{UNITS}/ssh.service/cgroup.procs": "1\n"}
IFUP = {"/usr/sbin/ifup": ""}
LOOPBACK = {"/etc/network/interfaces": "source /etc/network/interfaces.d/*\nauto lo\niface lo inet loopback\n"}
STANZA = {"/etc/network/interfaces": "auto lo eno1\niface lo inet loopback\niface eno1 inet dhcp\n"}
PROFILE = {"/etc/NetworkManager/system-connections/eno1.nmconnection": "[connection]\ntype=ethernet\n"}
CLOUD = "network:\n    ethernets:\n        ens3:\n            dhcp4: true\n    version: 2\n"
LAYOUTS = {
    "Ubuntu 22.04 and 24.04, cloud image": ({**NETWORKD, "/etc/netplan/50-cloud-init.yaml": CLOUD}, "netplan"),
    "Ubuntu 24.04, desktop": (
        {**MANAGER, "/etc/netplan/01-network-manager-all.yaml": "network:\n  version: 2\n  renderer: NetworkManager\n"},
        "NetworkManager",
    ),
    "Ubuntu server with NetworkManager beside": (
        {**NETWORKD, **MANAGER, "/etc/netplan/50-cloud-init.yaml": CLOUD},
        "netplan",
    ),
    "Ubuntu, the renderer changed by a later file": (
        {
            **NETWORKD,
            **MANAGER,
            "/etc/netplan/00-installer.yaml": "network: {version: 2, renderer: networkd}\n",
            "/etc/netplan/99-site.yaml": "network: {version: 2, renderer: NetworkManager}\n",
        },
        "NetworkManager",
    ),
    "RHEL 9": (
        {**MANAGER, "/etc/sysconfig/network-scripts/readme-ifcfg-rh.txt": "", **PROFILE},
        "NetworkManager",
    ),
    "Debian 12, server": ({**SSH, **IFUP, **STANZA}, "ifupdown"),
    "Debian 12, desktop": ({**MANAGER, **IFUP, **LOOPBACK}, "NetworkManager"),
    "Debian 12, cloud image": (
        {
            **NETWORKD,
            "/etc/netplan/90-default.yaml": "network: {ethernets: {all-en: {match: {name: en*}, dhcp4: true}}}\n",
        },
        "netplan",
    ),
    "Debian 11, cloud image: ifupdown and cloud-init": (
        {**SSH, **IFUP, **LOOPBACK, "/etc/network/interfaces.d/50-cloud-init": "auto ens3\niface ens3 inet dhcp\n"},
        "ifupdown",
    ),
    "Debian 12, networkd by hand": (
        {**NETWORKD, **IFUP, **LOOPBACK, "/etc/systemd/network/20-eno1.network": "[Match]\nName=eno1\n"},
        "systemd-networkd",
    ),
    "Debian 12, networkd runs and has nothing to do": ({**NETWORKD, **IFUP, **STANZA}, "ifupdown"),
    "networkd and NetworkManager idle": ({**NETWORKD, **MANAGER}, "NetworkManager"),
    "NetworkManager idle beside networkd's files": (
        {**NETWORKD, **MANAGER, "/etc/systemd/network/20-eno1.network": "[Match]\nName=eno1\n"},
        "systemd-networkd",
    ),
    "what we wrote is nobody's vote": (
        {**NETWORKD, **MANAGER, "/etc/NetworkManager/system-connections/railwright-rail0.nmconnection": ""},
        "NetworkManager",
    ),
    "what we wrote for networkd stays there": (
        {**NETWORKD, **MANAGER, "/etc/systemd/network/10-railwright-rail0.network": ""},
        "systemd-networkd",
    ),
    "a container without control groups": ({"/run/systemd/netif/state": ""}, "systemd-networkd"),
    "hybrid control groups": (
        {"/sys/fs/cgroup/unified/system.slice/NetworkManager.service/x": "", "/run/systemd/netif/state": ""},
        "NetworkManager",
    ),
    "netplan is left over": ({**SSH, "/etc/netplan/50.yaml": CLOUD, **LOOPBACK}, "ifupdown"),
    "networkd and NetworkManager both have work": (
        {**NETWORKD, **MANAGER, **PROFILE, "/etc/systemd/network/20-eno2.network": "[Match]\nName=eno2\n"},
        "systemd-networkd and NetworkManager",
    ),
    "ifupdown beside NetworkManager": ({**MANAGER, **PROFILE, **IFUP, **STANZA}, "ifupdown and NetworkManager"),
    "ifupdown beside netplan": (
        {**NETWORKD, "/etc/netplan/50-cloud-init.yaml": CLOUD, **IFUP, **STANZA},
        "ifupdown and netplan",
    ),
    "nothing that is known": (SSH, None),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    files, expected = LAYOUTS[layout]
    reader = Reader(FakePort(files))
    assert network_manager(reader) == expected
    assert reader.unread == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("network:\n  version: 2\n  renderer: NetworkManager # all\n", "NetworkManager"),
        ('network:\n  version: 2\n  renderer: "networkd"\n', "networkd"),
        ("network: {version: 2, renderer: NetworkManager}\n", "NetworkManager"),
        ("network: {version: 2,\n  renderer: networkd}\n", "networkd"),
        ("network:\n  ethernets:\n    ens3:\n      renderer: NetworkManager\n", None),
        ("network: {ethernets: {ens3: {renderer: NetworkManager}}, version: 2}\n", None),
        ("network:\n  ethernets: {ens3: {renderer: NetworkManager}}\n  renderer: networkd\n", "networkd"),
        ("other:\n  renderer: NetworkManager\nnetwork:\n  version: 2\n", None),
        ("# network:\n#   renderer: NetworkManager\n", None),
        ("renderer: NetworkManager\n", None),
        ("", None),
    ],
)
def test_the_renderer(text, expected):
    assert renderer(text) == expected


@given(st.text(st.sampled_from("network: renderer\n{}[],\"'#")))
def test_no_text_crashes(text):
    renderer(text)
    renderer(f"network: {text}")
