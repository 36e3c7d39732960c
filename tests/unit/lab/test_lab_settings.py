"""Settings, addresses, inventory, lock: what needs no QEMU."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.config import Config
from lab.errors import LabError
from lab.image import initramfs
from lab.inventory import inventory
from lab.lock import Lock, private_directory
from lab.topology import PortName, cabling, management_mac, rail_mac


def config(tmp_path: Path, **extra: str) -> Config:
    return Config.from_environment({"XDG_CACHE_HOME": str(tmp_path), "LAB_RUNTIME": str(tmp_path / "r"), **extra})


def test_addresses_are_unique_and_local() -> None:
    nodes = [f"node{n}" for n in range(1, 33)]
    macs = [management_mac(n) for n in nodes] + [rail_mac(n, r) for n in nodes for r in ("rail0", "rail1")]
    assert len(set(macs)) == len(macs)
    assert all(int(mac[:2], 16) & 3 == 2 for mac in macs)
    assert rail_mac("node2", "rail1") == "52:54:00:00:02:02"


def test_cabling() -> None:
    assert cabling(["node2"]) == {
        "node2.rail0": PortName("leaf0", "Ethernet2"),
        "node2.rail1": PortName("leaf1", "Ethernet2"),
    }


@pytest.mark.parametrize("text", ["leaf0", "leaf0:", ":Ethernet1"])
def test_a_port_needs_both_names(text: str) -> None:
    with pytest.raises(ValueError):
        PortName.parse(text)


@pytest.mark.parametrize(
    ("name", "value"), [("LAB_NODES", "0"), ("LAB_NODES", "two"), ("LAB_PORT_BASE", "80"), ("LAB_ACCEL", "xen")]
)
def test_senseless_settings_are_refused_by_name(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(LabError, match=f"{name}={value}"):
        config(tmp_path, **{name: value})


def test_inventory_needs_no_lab(tmp_path: Path) -> None:
    data = inventory(config(tmp_path, LAB_NODES="3"))
    assert data["gpu_nodes"]["hosts"] == data["su1"]["hosts"] == data["hw_lab"]["hosts"] == ["node1", "node2", "node3"]
    node3 = data["_meta"]["hostvars"]["node3"]
    assert (node3["ansible_host"], node3["ansible_port"], node3["fabric_node_id"]) == ("127.0.0.1", 22203, 3)
    assert "StrictHostKeyChecking=yes" in node3["ansible_ssh_common_args"]


def test_the_lock_names_its_holder_and_survives_a_removed_file(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    assert first.held() is None
    assert first.acquire(Path("/checkout")) is None
    holder = second.acquire(Path("/other"))
    assert holder is not None
    assert (holder.pid, holder.checkout) == (os.getpid(), "/checkout")
    first.remove()
    assert second.acquire(Path("/other")) is None
    second.remove()
    assert not (tmp_path / "lock").exists()


def test_a_runtime_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(LabError, match="somebody else"):
        private_directory(tmp_path / "link")


def test_initramfs_loads_dependencies_first(tmp_path: Path) -> None:
    modules = tmp_path / "lib/modules/6.1"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/busybox").write_bytes(b"busybox")
    modules.mkdir(parents=True)
    names = ["virtio_pci", "virtio", "virtio_ring", "virtio_blk", "ext4", "jbd2"]
    for name in names:
        (modules / f"{name}.ko").write_bytes(name.encode())
    (modules / "modules.dep").write_text(
        "virtio_pci.ko: virtio.ko virtio_ring.ko\nvirtio.ko: virtio_ring.ko\nvirtio_ring.ko:\n"
        "virtio_blk.ko: virtio.ko virtio_ring.ko\next4.ko: jbd2.ko\njbd2.ko:\n"
    )
    (modules / "modules.builtin").write_text("")
    archive = initramfs.build(tmp_path, "6.1")
    assert archive.startswith(b"070701")
    assert b"TRAILER!!!" in archive
    assert len(archive) % 4 == 0
    assert b"virtio_ring.ko\nvirtio.ko\nvirtio_pci.ko\nvirtio_blk.ko\njbd2.ko\next4.ko\n" in archive
