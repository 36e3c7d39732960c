"""The lab's SSH keys: one pair for the person, one host key that all nodes share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .config import Config
from .lock import private_directory
from .process import run
from .topology import node_number


@dataclass(frozen=True)
class Keys:
    """Paths of the key files, all private to the user."""

    client: Path
    host: Path

    @property
    def client_public(self) -> str:
        """The line for authorized_keys."""
        return Path(f"{self.client}.pub").read_text().strip()

    @property
    def host_public(self) -> str:
        """Type and key, as known_hosts wants them."""
        return " ".join(Path(f"{self.host}.pub").read_text().split()[:2])


def locate(config: Config) -> Keys:
    """Where the keys are, or will be."""
    directory = config.cache / "ssh"
    return Keys(client=directory / "id_ed25519", host=directory / "host_ed25519")


def ensure(config: Config) -> Keys:
    """Create the keys that are missing."""
    keys = locate(config)
    private_directory(keys.client.parent)
    for path, comment in ((keys.client, "railwright-lab"), (keys.host, "railwright-lab-node")):
        if path.exists() and Path(f"{path}.pub").exists():
            continue
        path.unlink(missing_ok=True)
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)], timeout=30)
    return keys


def port(config: Config, node: str) -> int:
    """Port on 127.0.0.1 that is forwarded to a node's SSH server."""
    return config.port_base + node_number(node)


def known_hosts(config: Config) -> Path:
    """The file that ties every forwarded port to the host key of the image."""
    return config.runtime / "known_hosts"


def write_known_hosts(config: Config) -> None:
    """Write the known_hosts file for all nodes."""
    key = ensure(config).host_public
    lines = [f"[127.0.0.1]:{port(config, node)} {key}\n" for node in config.node_names]
    known_hosts(config).write_text("".join(lines))


def ssh_options(config: Config) -> list[str]:
    """Options that make ssh use the lab's files and nothing of the user's."""
    return [
        "-F",
        os.devnull,
        "-o",
        f"UserKnownHostsFile={known_hosts(config)}",
        "-o",
        "GlobalKnownHostsFile=/dev/null",
        "-o",
        "StrictHostKeyChecking=yes",
        "-o",
        "IdentitiesOnly=yes",
        "-o",
        "BatchMode=yes",
    ]


def ssh_argv(config: Config, node: str, command: list[str], connect_timeout: int = 10) -> list[str]:
    """The ssh command line for a node; an empty ``command`` gives a login shell."""
    return [
        "ssh",
        *ssh_options(config),
        "-o",
        f"ConnectTimeout={connect_timeout}",
        "-o",
        "ServerAliveInterval=10",
        "-i",
        str(locate(config).client),
        "-p",
        str(port(config, node)),
        "root@127.0.0.1",
        *command,
    ]
