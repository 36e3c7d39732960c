"""QEMU: which accelerator works here, and the command line of a node."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path

from .config import Config
from .errors import LabError
from .image.build import Image
from .keys import port
from .process import run
from .topology import (
    DISK_SLOT,
    MANAGEMENT_SLOT,
    RAILS,
    ROOT_PORT_SLOTS,
    management_mac,
    node_number,
    personality,
    rail_mac,
)

BINARY = "qemu-system-x86_64"
PROBE_TIMEOUT = 20.0
PROBE_MARK = b"RAILWRIGHT-PROBE-OK"


def accelerator(config: Config, image: Image) -> str:
    """``kvm`` where the image's kernel really boots on it, else ``tcg``.

    The answer is cached for this boot of the host, its kernel, QEMU's version and the image.
    """
    if config.accel != "auto":
        return config.accel
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    facts = [
        Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        platform.release(),
        run([BINARY, "--version"], timeout=30),
        image.directory.name,
    ]
    cache = config.cache / "accelerator.json"
    try:
        known = json.loads(cache.read_text())
        if known["facts"] == facts:
            return str(known["accelerator"])
    except (OSError, ValueError, KeyError, TypeError):
        known = None
    answer = "kvm" if _boots_on_kvm(image) else "tcg"
    print(f"probe boot: {'KVM works' if answer == 'kvm' else 'KVM does not work, emulating'}", file=sys.stderr)
    temporary = cache.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps({"facts": facts, "accelerator": answer}))
    temporary.rename(cache)
    return answer


def _boots_on_kvm(image: Image) -> bool:
    argv = [
        BINARY,
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-machine",
        "q35,accel=kvm",
        "-cpu",
        "host",
        "-m",
        "256",
        "-serial",
        "stdio",
        "-kernel",
        str(image.kernel),
        "-initrd",
        str(image.initrd),
        "-append",
        "console=ttyS0 panic=-1 railwright.probe",
    ]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return False
    return PROBE_MARK in done.stdout


def create_overlay(image: Image, overlay: Path) -> None:
    """A fresh copy-on-write disk on top of the image."""
    run(
        ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(image.disk), str(overlay)],
        timeout=60,
    )


def node_argv(
    config: Config,
    image: Image,
    accel: str,
    node: str,
    directory: Path,
    rails: dict[str, socket.socket],
    snapshot: str | None,
) -> list[str]:
    """The command line of a node.

    ``rails`` are its ends of the cables, whose descriptors the process inherits; with
    ``snapshot`` it resumes from there instead of booting.
    """
    number = node_number(node)
    append = (
        "root=/dev/vda rw console=ttyS0 8250.nr_uarts=1 quiet loglevel=4 panic=5 net.ifnames=1 "
        "mitigations=off audit=0 nowatchdog cryptomgr.notests rcupdate.rcu_expedited=1 "
        f"systemd.hostname={node} systemd.machine_id={0xFAB0000 + number:032x} "
        # modprobe takes it from here, at boot and whenever the module is loaded again.
        f"nic_twin.personality={personality(node)}"
    )
    argv = [
        BINARY,
        "-name",
        f"railwright-{node}",
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-machine",
        "q35,sata=off,smbus=off,usb=off,vmport=off",
        "-accel",
        "kvm" if accel == "kvm" else "tcg,thread=multi,tb-size=256",
        "-cpu",
        # Emulated, the wide vector instructions that a newer model offers cost libc more than they save it.
        "host" if accel == "kvm" else "Nehalem",
        "-m",
        str(config.memory_mib),
        "-smp",
        "1",
        "-rtc",
        "base=utc,clock=host",
        "-kernel",
        str(image.kernel),
        "-initrd",
        str(image.initrd),
        "-append",
        append,
        # Losing a node's disk with the host costs nothing: `up` makes a new one.
        "-drive",
        f"if=none,id=disk,file={directory / 'disk.qcow2'},format=qcow2,cache=unsafe,discard=unmap",
        "-device",
        f"virtio-blk-pci,drive=disk,addr={DISK_SLOT:#x}",
        "-qmp",
        f"unix:{directory / 'qmp.sock'},server=on,wait=off",
        "-chardev",
        f"socket,id=serial,path={directory / 'serial.sock'},server=on,wait=off,"
        f"logfile={directory / 'serial.log'},logappend=on",
        "-serial",
        "chardev:serial",
        # restrict=on: the forwarded SSH connections are all that passes.
        "-netdev",
        f"user,id=management,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:{port(config, node)}-:22",
        "-device",
        f"virtio-net-pci,id=management0,netdev=management,mac={management_mac(node)},"
        f"addr={MANAGEMENT_SLOT:#x},romfile=",
    ]
    for index, rail in enumerate(RAILS):
        argv += [
            "-device",
            f"pcie-root-port,id=port{index},bus=pcie.0,addr={ROOT_PORT_SLOTS[rail]:#x},"
            f"chassis={index + 1},slot={index + 1}",
            "-netdev",
            f"dgram,id={rail}-cable,local.type=fd,local.str={rails[rail].fileno()}",
            "-device",
            f"virtio-net-pci,id={rail},netdev={rail}-cable,mac={rail_mac(node, rail)},bus=port{index},romfile=",
        ]
    if snapshot:
        argv += ["-loadvm", snapshot]
    return argv


def spawn(argv: list[str], log: Path, inherited: list[int], cwd: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a long-lived process of the lab in a session of its own. Raises LabError."""
    with log.open("ab") as stream:
        try:
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                pass_fds=inherited,
                start_new_session=True,
                cwd=cwd,
            )
        except FileNotFoundError as error:
            raise LabError(f"{argv[0]} is not installed: run `python3 -m lab deps`") from error
