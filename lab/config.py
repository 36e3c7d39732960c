"""What a person may choose, read from the environment once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

REPOSITORY = Path(__file__).resolve().parent.parent
MAX_NODES = 32


@dataclass(frozen=True)
class Config:
    """Settings of one lab; every field has an environment variable (docs/lab.md lists them)."""

    nodes: int
    suite: str
    mirror: str | None
    port_base: int
    memory_mib: int
    accel: str
    cache: Path
    runtime: Path

    @classmethod
    def from_environment(cls, env: Mapping[str, str] = os.environ) -> Config:
        """Read LAB_* and XDG_CACHE_HOME. Raises LabError for a value that cannot be meant."""
        cache_home = env.get("XDG_CACHE_HOME") or str(Path(env.get("HOME", "/")) / ".cache")
        accel = env.get("LAB_ACCEL", "auto")
        if accel not in ("auto", "kvm", "tcg"):
            raise LabError(f"LAB_ACCEL={accel}: allowed are auto, kvm and tcg")
        return cls(
            nodes=_integer(env, "LAB_NODES", 2, 1, MAX_NODES),
            suite=env.get("LAB_SUITE", "bookworm"),
            mirror=env.get("LAB_MIRROR") or None,
            port_base=_integer(env, "LAB_PORT_BASE", 22200, 1024, 65000),
            memory_mib=_integer(env, "LAB_MEMORY", 512, 256, 65536),
            accel=accel,
            cache=Path(cache_home) / "railwright",
            # Not XDG_RUNTIME_DIR: a cron job or a second login must find the same lock.
            runtime=Path(env.get("LAB_RUNTIME", f"/tmp/railwright-lab-{os.getuid()}")),
        )

    @property
    def node_names(self) -> list[str]:
        """``node1`` to ``nodeN``."""
        return [f"node{number}" for number in range(1, self.nodes + 1)]


def _integer(env: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = env.get(name, str(default))
    if not text.isdecimal() or not low <= int(text) <= high:
        raise LabError(f"{name}={text}: an integer from {low} to {high} is expected")
    return int(text)
