"""Where Debian packages come from: what this host's apt is set up with, or LAB_MIRROR."""

from __future__ import annotations

import shutil

from ..config import Config
from ..process import run

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FORMAT = "$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)"
# Settings of the host that are about reaching and trusting the very same mirror.
INHERITED = (
    "Acquire::http::Proxy",
    "Acquire::https::Proxy",
    "Acquire::Check-Date",
    "Acquire::Check-Valid-Until",
    "Acquire::Retries",
)


def apt_sources(config: Config) -> list[str]:
    """One-line apt sources for the suite; an empty list leaves the mirror to mmdebstrap."""
    signed = f"[signed-by={KEYRING}]"
    if config.mirror:
        return [f"deb {signed} {config.mirror} {config.suite} main"]
    archive = security = None
    if shutil.which("apt-get"):
        listing = run(["apt-get", "indextargets", "--format", FORMAT, "Created-By: Packages"], timeout=60)
        for line in listing.splitlines():
            origin, label, component, uri = line.split("|")
            if origin == "Debian" and component == "main":
                if label == "Debian":
                    archive = archive or uri
                elif label == "Debian-Security":
                    security = security or uri
    lines = []
    if archive:
        lines.append(f"deb {signed} {archive} {config.suite} main")
        lines.append(f"deb {signed} {archive} {config.suite}-updates main")
        if security:
            lines.append(f"deb {signed} {security} {config.suite}-security main")
    return lines


def apt_options() -> list[str]:
    """The host's own apt options that the build must share, in apt.conf syntax."""
    if not shutil.which("apt-config"):
        return []
    options = []
    for line in run(["apt-config", "dump"], timeout=30).splitlines():
        if line.split(" ", 1)[0] in INHERITED:
            options.append(line.rstrip(";"))
    return options
