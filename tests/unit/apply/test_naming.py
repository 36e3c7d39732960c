# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The concern of rail_naming on a node that behaves: for the next boot, at once, interrupted, and under jobs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.naming import apply_naming
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ApplyError, RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.plan.naming import link_path

from tests.unit.apply.simulated import Clock, SimulatedNode, intent, rail

IMAGE = "/boot/initrd.img-6.1.0"
QPS = [{"ifname": "rxe_rail0", "port": 1, "lqpn": 17, "type": "RC", "state": "RTS", "pid": 8, "comm": "nccl"}]


def named(*names):
    rails = [rail(number) for number in range(len(names))]
    return intent(
        *(
            replace(item, ports=(replace(item.ports[0], netdev=name, rdma=f"rdma_{item.name}"),))
            for item, name in zip(rails, names)
        )
    )


class Node(SimulatedNode):
    """Renames netdevs as ip does, and has an initramfs with the NICs' driver that is older than every file."""

    def __init__(self) -> None:
        super().__init__()
        self.newer: list[str] = []
        self.files.update({IMAGE: b"", "/usr/sbin/update-initramfs": b"", "/proc/sys/kernel/osrelease": b"6.1.0\n"})
        self.tools["ip link set"] = lambda port: port.set()
        self.tools["find"] = lambda port: "".join(f"{path}\n" for path in port.newer)
        self.tools["lsinitramfs"] = "usr/lib/modules/6.1.0/virtio_net.ko\n"
        self.tools["update-initramfs"] = lambda port: port.newer.clear() or ""
        self.tools["udevadm control"] = ""

    def write(self, path, text, mode=0o644):
        super().write(path, text, mode)
        if path.startswith("/etc/"):
            self.newer.append(path)

    def set(self):
        words = self.calls[-1].split()
        name, verb = words[4:6]
        if name not in self.net:
            return (1, f'Cannot find device "{name}"')
        if verb in ("up", "down"):
            self.net[name]["up"] = verb == "up"
            return ""
        new = words[6]
        if self.net[name]["up"]:
            return (2, "RTNETLINK answers: Device or resource busy")
        if new in self.net:
            return (2, "RTNETLINK answers: File exists")
        self.net[new] = self.net.pop(name)
        self.links[f"/sys/class/net/{new}"] = self.links.pop(f"/sys/class/net/{name}").replace(name, new)
        return ""


def naming(node, wanted, **options):
    return apply_naming(node, wanted, timer=Clock().timer, **options)


WANTED = named("rail0", "rail1")


def test_for_the_next_boot_and_a_second_run():
    node = Node()
    plan = naming(node, WANTED)
    assert [str(step) for step in plan.steps] == [
        "rail0: name of netdev ens4 at boot (none) -> rail0 from the next boot on",
        "rail1: name of netdev ens5 at boot (none) -> rail1 from the next boot on",
        f"boot: initramfs {IMAGE} names of an earlier spec or of none -> made anew [after: naming files]",
    ]
    assert [call for call in node.calls if call.startswith(("udevadm", "update"))] == [
        "update-initramfs -u -k all",
        "udevadm control --reload",
    ]
    assert set(node.net) == {"ens2", "ens4", "ens5"}
    node.forget()
    second = naming(node, WANTED)
    assert (second.steps, len(second.notes)) == ((), 2)
    assert not any(call.startswith(("update", "lsinit", "ip link", "udevadm")) for call in node.calls)
    assert (node.writes, node.removed) == ([], [])


def test_check_changes_nothing():
    node = Node()
    assert naming(node, WANTED, check=True, live=True).steps
    assert (node.writes, node.removed) == ([], [])
    assert not any(call.startswith(("update", "ip link", "udevadm")) for call in node.calls)


def test_names_at_once():
    node = Node()
    plan = naming(node, WANTED, live=True)
    assert [step.disruptive for step in plan.steps if "name of netdev" in step.setting and step.before] == [
        "the link goes down for it: connections over it break"
    ] * 2
    assert set(node.net) == {"ens2", "rail0", "rail1"}
    assert all(device["up"] for device in node.net.values())
    again = naming(node, WANTED, live=True)
    assert (again.steps, again.notes) == ((), ())


def test_names_that_change_places_at_once():
    node = Node()
    naming(node, WANTED, live=True)
    naming(node, named("rail1", "rail0"), live=True)
    assert node.net["rail1"]["pci"] == "0000:01:00.0"
    assert set(node.net) == {"ens2", "rail0", "rail1"}


def test_a_rename_that_fails_leaves_no_link_down():
    node = Node()
    node.tools["ip link set dev ens5 name"] = (2, "RTNETLINK answers: Operation not permitted")
    with pytest.raises(ApplyError, match=r"Operation not permitted.*Rolled back.*Not undone: .*dev ens4 name rail0"):
        naming(node, WANTED, live=True)
    assert {name: device["up"] for name, device in node.net.items()} == {"ens2": True, "rail0": True, "ens5": True}
    assert not any("09-railwright" in path for path in node.files)


def test_not_under_a_job():
    node = Node()
    node.add_device("rxe_rail0", "ens4")
    node.tools["rdma -j resource show qp"] = json.dumps(QPS)
    with pytest.raises(RefusedError, match=r"rxe_rail0 by nccl.*rail_naming_allow_disruption"):
        naming(node, WANTED, live=True)
    assert (set(node.net), node.writes) == ({"ens2", "ens4", "ens5"}, [])
    assert naming(node, WANTED).steps
    assert naming(node, WANTED, live=True, allow_disruption=True).steps


def test_the_link_of_the_session_is_refused():
    node = Node()
    node.net["ens5"]["addresses"] = ["192.0.2.7/24"]
    with pytest.raises(RefusedError, match="ens5 would be named rail1, and ens5 carries"):
        naming(node, WANTED, session="192.0.2.7")
    assert node.writes == []


def test_the_remembered_management_link_is_refused_without_a_session():
    node = Node()
    node.files["/etc/railwright/management.json"] = b'{"nics": [{"mac": "52:54:00:00:01:04", "netdev": "ens5"}]}'
    with pytest.raises(RefusedError, match="ens5 would be named rail1, and ens5 carries"):
        naming(node, WANTED)
    assert node.writes == []


def test_an_initramfs_that_does_not_name_the_nics_is_left_alone():
    node = Node()
    node.files["/sys/module/virtio_net/initstate"] = b"live\n"
    for index, (name, pci) in enumerate((("ens4", "0000:01:00.0"), ("ens5", "0000:02:00.0")), 1):
        node.links[f"/sys/devices/pci0000:00/{pci}/virtio{index}/driver"] = "/sys/bus/virtio/drivers/virtio_net"
        assert node.exists(f"/sys/class/net/{name}")
    node.tools["lsinitramfs"] = "usr/lib/modules/6.1.0/virtio_blk.ko\n"
    assert not any(step.subject == "boot" for step in naming(node, WANTED).steps)
    assert naming(node, WANTED).steps == ()


def test_a_rebuild_that_is_put_off_is_said_until_it_was_done():
    node = Node()
    said = f"boot: {IMAGE} has the old names; update-initramfs -u -k all before the next boot"
    assert said in naming(node, WANTED, rebuild=False).notes
    second = naming(node, WANTED, rebuild=False)
    assert (second.steps, said in second.notes) == ((), True)
    node.newer.clear()
    assert said not in naming(node, WANTED, rebuild=False).notes


class Killed(BaseException):
    """The process ends here."""


def test_killed_before_the_rebuild():
    node = Node()

    def kill(port):
        raise Killed

    node.tools["update-initramfs"] = kill
    with pytest.raises(Killed):
        naming(node, WANTED)
    node.tools["update-initramfs"] = lambda port: port.newer.clear() or ""
    assert [step.subject for step in naming(node, WANTED).steps] == ["boot"]
    assert naming(node, WANTED).steps == ()


def test_a_rebuild_that_fails_puts_the_files_back():
    node = Node()
    node.tools["update-initramfs"] = (1, "gzip: stdout: No space left on device")
    with pytest.raises(ApplyError, match=r"No space left.*Rolled back: .*09-railwright-rail0\.link"):
        naming(node, WANTED)
    assert link_path("rail0") not in node.files


def test_names_of_an_earlier_spec():
    node = Node()
    naming(node, WANTED)
    plan = naming(node, intent())
    assert [step.after for step in plan.steps] == ["", "", "made anew"]
    assert not any("09-railwright" in path for path in node.files)
    assert naming(node, intent()).steps == ()
