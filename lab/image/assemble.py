"""Turns the root file system's archive into kernel, initramfs and disk image.

Runs under fakeroot, as ``python3 -m lab.image.assemble WORK_DIRECTORY``, so that files keep their
owners on a host where the builder is nobody special.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

from ..config import MAX_NODES
from ..errors import LabError
from ..process import run
from ..topology import MANAGEMENT_ADDRESS, MANAGEMENT_PREFIX, RAIL_PCI, mac
from . import initramfs, repository
from .recipe import (
    DISK_MIB,
    DROP_INS,
    ENABLED_UNITS,
    HEADROOM_INODES,
    MASKED_GENERATORS,
    MASKED_UNITS,
    SSHD_CONFIG,
)

REPOSITORY = "srv/railwright/packages"
KEYRING = "etc/apt/keyrings/railwright-lab.gpg"
PATH = "/usr/sbin:/sbin:/usr/bin:/bin"


def assemble(work: Path) -> None:
    """Make vmlinuz, initrd.img and root.ext4 in ``work`` from rootfs.tar, the twin and the keys."""
    root = work / "root"
    root.mkdir()
    run(
        [
            "tar",
            "--extract",
            "--preserve-permissions",
            "--numeric-owner",
            "--file",
            str(work / "rootfs.tar"),
            "--directory",
            str(root),
            "--exclude=./dev/*",
        ],
        timeout=600,
    )
    release = _release(root)
    twin = json.loads((work / "twin.json").read_text())["release"]
    if twin != release:
        raise LabError(f"the archive changed during the build: kernel {release}, headers {twin}; try again")
    _install_twin(root, work / "nic_twin.ko", release)
    _configure(root, json.loads((work / "keys.json").read_text()))
    _apt(root)
    _settle(root)
    shutil.copy(root / "boot" / f"vmlinuz-{release}", work / "vmlinuz")
    (work / "initrd.img").write_bytes(initramfs.build(root, release))
    # Never used on a node that QEMU boots with -kernel.
    for leftover in (root / "boot").glob("initrd*"):
        leftover.unlink()
    disk = work / "root.ext4"
    run(
        [
            "mke2fs",
            "-q",
            "-t",
            "ext4",
            "-L",
            "railwright",
            "-m",
            "0",
            "-N",
            str(HEADROOM_INODES + _count(root)),
            "-E",
            "lazy_itable_init=0,lazy_journal_init=0",
            "-O",
            "^metadata_csum_seed,^orphan_file",
            "-d",
            str(root),
            str(disk),
            f"{DISK_MIB}M",
        ],
        timeout=600,
        env={"PATH": PATH, **_fakeroot()},
    )


def _fakeroot() -> dict[str, str]:
    return {key: os.environ[key] for key in ("LD_PRELOAD", "LD_LIBRARY_PATH", "FAKEROOTKEY") if key in os.environ}


def _count(root: Path) -> int:
    return sum(len(directories) + len(files) for _, directories, files in os.walk(root))


def _release(root: Path) -> str:
    releases = [path.name for path in (root / "lib/modules").iterdir()]
    if len(releases) != 1:
        raise LabError(f"one kernel is expected in the root file system, found {releases}")
    return releases[0]


def _install_twin(root: Path, module: Path, release: str) -> None:
    target = root / "lib/modules" / release / "updates"
    target.mkdir(exist_ok=True)
    shutil.copyfile(module, target / "nic_twin.ko")
    run(["depmod", "--basedir", str(root), release], timeout=120, env={"PATH": PATH, **_fakeroot()})
    addresses = ",".join(RAIL_PCI.values())
    _write(root / "etc/modprobe.d/nic_twin.conf", f"options nic_twin pci={addresses}\n")
    _write(root / "etc/modules-load.d/nic_twin.conf", "nic_twin\n")


def _configure(root: Path, keys: dict[str, str]) -> None:
    macs = "".join(f"MACAddress={mac(number, 0)}\n" for number in range(1, MAX_NODES + 1))
    _write(root / "etc/systemd/network/10-management.link", f"[Match]\n{macs}\n[Link]\nName=mgmt0\n")
    _write(
        root / "etc/systemd/network/10-management.network",
        f"[Match]\n{macs}\n[Network]\nAddress={MANAGEMENT_ADDRESS}/{MANAGEMENT_PREFIX}\n"
        "LinkLocalAddressing=no\nIPv6AcceptRA=no\nLLMNR=no\n",
    )
    # The initramfs mounts the root for good; an entry would bring fsck and a remount.
    _write(root / "etc/fstab", "")
    # Taken from the kernel command line: what is written here would win over it on some releases.
    (root / "etc/hostname").unlink(missing_ok=True)
    _write(root / "etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
    # Empty, not missing: a missing file makes systemd treat the boot as the first one ever.
    _write(root / "etc/machine-id", "")
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    _write(root / "etc/systemd/journald.conf.d/lab.conf", "[Journal]\nStorage=volatile\nRuntimeMaxUse=16M\n")
    _write(root / "etc/systemd/system.conf.d/lab.conf", "[Manager]\nDefaultTimeoutStopSec=15s\n")
    _write(root / "etc/initramfs-tools/update-initramfs.conf", "update_initramfs=no\nbackup_initramfs=no\n")
    _write(root / "etc/dpkg/dpkg.cfg.d/lab", "force-unsafe-io\n")
    _write(root / "etc/ssh/sshd_config.d/lab.conf", SSHD_CONFIG)
    for message in (root / "etc/update-motd.d").glob("*"):
        message.unlink()
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    _write(root / "etc/ssh/ssh_host_ed25519_key", keys["host_private"], 0o600)
    _write(root / "etc/ssh/ssh_host_ed25519_key.pub", keys["host_public"] + "\n")
    _write(root / "root/.ssh/authorized_keys", keys["client_public"] + "\n", 0o600)
    (root / "root/.ssh").chmod(0o700)
    system = root / "etc/systemd/system"
    for unit in MASKED_UNITS:
        _link(system / unit, "/dev/null")
    for generator in MASKED_GENERATORS:
        _link(root / "etc/systemd/system-generators" / generator, "/dev/null")
    for unit, text in DROP_INS.items():
        _write(system / f"{unit}.d/lab.conf", text)
    for directory, unit in ENABLED_UNITS:
        _link(system / directory / unit, f"/lib/systemd/system/{unit}")


def _settle(root: Path) -> None:
    """Tell systemd that /usr is not newer than what was made from it, so that nothing is made again."""
    now = time.time()
    for name in ("usr", "etc/.updated", "var/.updated"):
        (root / name).touch()
        os.utime(root / name, (now, now))


def _apt(root: Path) -> None:
    packages = root / REPOSITORY
    for leftover in ("lock", "partial"):
        path = packages / leftover
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
    repository.index(packages)
    (root / KEYRING).parent.mkdir(parents=True, exist_ok=True)
    repository.sign(packages, root / KEYRING)
    (root / KEYRING).chmod(0o644)
    etc = root / "etc/apt"
    (etc / "sources.list").unlink(missing_ok=True)
    for entry in (etc / "sources.list.d").iterdir():
        entry.unlink()
    _write(
        etc / "sources.list.d/railwright-lab.sources",
        f"Types: deb\nURIs: file:/{REPOSITORY}\nSuites: ./\nSigned-By: /{KEYRING}\n",
    )
    (etc / "apt.conf.d/99mmdebstrap").unlink(missing_ok=True)
    _write(etc / "apt.conf.d/90lab", 'Acquire::Languages "none";\nAPT::Install-Recommends "false";\n')


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)
    path.chmod(mode)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


if __name__ == "__main__":
    try:
        assemble(Path(sys.argv[1]))
    except LabError as problem:
        sys.exit(str(problem))
