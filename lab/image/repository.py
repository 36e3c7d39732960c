"""A signed flat apt repository made of package files."""

from __future__ import annotations

import hashlib
import tempfile
import time
from pathlib import Path

from ..process import run

IDENTITY = "Railwright lab (packages of the node image)"


def index(directory: Path) -> None:
    """Write Packages and Release for the packages in ``directory``."""
    stanzas = []
    for package in sorted(directory.glob("*.deb")):
        data = package.read_bytes()
        control = run(["dpkg-deb", "--field", str(package)], timeout=60).rstrip()
        stanzas.append(
            f"{control}\nFilename: ./{package.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
        )
    packages = "\n".join(stanzas).encode()
    (directory / "Packages").write_bytes(packages)
    date = time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime())
    (directory / "Release").write_text(
        "Origin: Railwright lab\nLabel: Railwright lab\nSuite: lab\nCodename: lab\n"
        f"Architectures: amd64\nDate: {date}\n"
        f"SHA256:\n {hashlib.sha256(packages).hexdigest()} {len(packages)} Packages\n"
    )


def sign(directory: Path, keyring: Path) -> None:
    """Sign Release into InRelease with a key made for it; its public half goes to ``keyring``.

    The secret half is thrown away: nothing else will ever be signed with it.
    """
    with tempfile.TemporaryDirectory(prefix="railwright-gpg-") as home:
        gpg = ["gpg", "--homedir", home, "--batch", "--quiet", "--no-tty"]
        try:
            run(
                [*gpg, "--passphrase", "", "--quick-generate-key", IDENTITY, "ed25519", "sign", "never"],
                timeout=120,
            )
            run([*gpg, "--output", str(keyring), "--export", IDENTITY], timeout=30)
            run(
                [*gpg, "--output", str(directory / "InRelease"), "--clearsign", str(directory / "Release")],
                timeout=30,
            )
        finally:
            run(["gpgconf", "--homedir", home, "--kill", "all"], timeout=30)
