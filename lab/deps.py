"""Host packages that the lab needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from .errors import LabError

# Command looked for (in PATH and the sbin directories), Debian and Ubuntu package that has it.
NEEDED = (
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("qemu-img", "qemu-utils"),
    ("mmdebstrap", "mmdebstrap"),
    ("fakeroot", "fakeroot"),
    ("mke2fs", "e2fsprogs"),
    ("depmod", "kmod"),
    ("dpkg-deb", "dpkg"),
    ("tar", "tar"),
    ("gpg", "gnupg"),
    ("ssh", "openssh-client"),
)
SEARCH_PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
INSTALL_TIMEOUT = 900.0


def missing() -> list[str]:
    """Packages whose command is not there."""
    absent = [pkg for command, pkg in NEEDED if not shutil.which(command, path=SEARCH_PATH)]
    if not os.path.exists("/usr/share/keyrings/debian-archive-keyring.gpg"):
        absent.append("debian-archive-keyring")
    return absent


def require() -> None:
    """Raise LabError naming the missing packages, if any."""
    absent = missing()
    if absent:
        raise LabError(f"missing host packages: {' '.join(absent)} (install them: python3 -m lab deps)")


def install() -> None:
    """Install what is missing through apt, with sudo where not root. Raises LabError."""
    absent = missing()
    if not absent:
        return
    if not shutil.which("apt-get"):
        raise LabError(f"apt-get is not here; the lab needs what Debian calls: {' '.join(absent)}")
    prefix = []
    if os.getuid() != 0:
        if not shutil.which("sudo"):
            raise LabError(f"sudo is not here; as root: apt-get install {' '.join(absent)}")
        prefix = ["sudo"]
    print(f"installing host packages: {' '.join(absent)}", file=sys.stderr)
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *absent]):
        argv = [*prefix, *environment, "apt-get", "--quiet", *arguments]
        try:
            status = subprocess.run(argv, timeout=INSTALL_TIMEOUT, stdout=sys.stderr, check=False).returncode
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{' '.join(argv)} did not end within {INSTALL_TIMEOUT:.0f} s") from error
        if status != 0:
            raise LabError(f"{' '.join(argv)} failed with status {status}")
