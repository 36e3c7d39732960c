# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rails through netplan, beyond the goldens: what stands in the way, and what settling touches."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ReadError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Netdev
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.links import rail_links
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.providers import netplan
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.providers.netplan import Netplan
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.bind import bind

from tests.unit.apply.simulated import intent
from tests.unit.fakes import FakePort
from tests.unit.plan.network_cases import CASES, bare


def links(case="bond-lacp", **changes):
    facts = bare(case, "netplan")
    return rail_links(bind(intent(replace(CASES[case], **changes)), facts)[0], facts.netdevs)


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("network:\n  bonds:\n    rail0:\n      interfaces: [ens1]\n", True),
        ('network: {bonds: {"rail0": {interfaces: [ens1]}}}\n', True),
        ("network:\n  bonds:\n    rail01:\n      interfaces: [ens1]\n", False),
        ("network:\n  ethernets:\n    ens4: {dhcp4: true}\n", False),
    ],
)
def test_a_bond_that_others_define_as_well_is_an_obstacle(text, taken):
    port = FakePort({"/etc/netplan/50-cloud-init.yaml": text, "/etc/netplan/90-railwright-rail0.yaml": "rail0:\n"})
    found = Netplan().obstacle(port, links())
    assert found.startswith("/etc/netplan/50-cloud-init.yaml names rail0 as well.") is taken
    assert bool(found) is taken
    assert Netplan().obstacle(port, links("plain")) == ""


def test_a_file_that_cannot_be_read_is_no_permission():
    class Closed(FakePort):
        def read(self, path):
            raise ReadError("Permission denied", path)

    with pytest.raises(ReadError):
        Netplan().obstacle(Closed({"/etc/netplan/50-cloud-init.yaml": ""}), links())


def test_only_root_reads_the_yaml():
    modes = {file.path.rpartition(".")[2]: file.mode for file in Netplan().render(links(), ())}
    assert modes == {"yaml": 0o600, "conf": 0o644}


def test_a_rail_without_addresses_keeps_those_of_others():
    files = {file.path: file.text for file in Netplan().render(links(addressing="none", addresses=()), ())}
    yaml = files["/etc/netplan/90-railwright-rail0.yaml"]
    assert "addresses:" not in yaml
    # A bond has a drop-in for that alone.
    text = files["/etc/systemd/network/10-netplan-rail0.network.d/railwright-rail0.conf"]
    assert text.endswith("[Network]\nKeepConfiguration=yes\n")


def test_other_links_are_not_touched():
    actions = [" ".join(action.argv) for action in Netplan().settle(links(), (Netdev("old.7", 9, kind="vlan"),))]
    assert [action for action in actions if action.startswith("netplan")] == [
        "netplan generate --root-dir /run/railwright/netplan"
    ]
    assert [action for action in actions if action.startswith("networkctl")] == [
        "networkctl reload",
        "networkctl reconfigure ens4",
        "networkctl reconfigure ens5",
    ]
    assert all("10-netplan-old.7.netdev" in action for action in actions if action.startswith("find"))


def test_files_that_differ_are_put_in_place_and_those_that_are_gone_go(tmp_path, monkeypatch):
    """Both calls of find(1), for real: what does not differ keeps its inode, or networkd would configure it again."""
    runtime, scratch = tmp_path / "live", tmp_path / "scratch"
    monkeypatch.setattr(netplan, "RUNTIME", str(runtime))
    monkeypatch.setattr(netplan, "SCRATCH", str(scratch))
    fresh = scratch / str(runtime).lstrip("/")
    before = {"00-railwright-rail0": "old", "00-railwright-gone": "x", "00-railwright-rail1": "same", "ens2": "theirs"}
    after = {"00-railwright-rail0": "new", "00-railwright-rail1": "same", "ens2": "theirs, changed", "rail0": "bond"}
    for folder, files in ((runtime, before), (fresh, after)):
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / f"10-netplan-{name}.network").write_text(text)
    inode = (runtime / "10-netplan-00-railwright-rail1.network").stat().st_ino
    for action in Netplan().settle(links(), ()):
        if action.argv[0] == "find":
            subprocess.run(action.argv, check=True)
    found = {path.name[len("10-netplan-") : -len(".network")]: path.read_text() for path in runtime.iterdir()}
    assert found == {"00-railwright-rail0": "new", "00-railwright-rail1": "same", "ens2": "theirs", "rail0": "bond"}
    assert (runtime / "10-netplan-00-railwright-rail1.network").stat().st_ino == inode
