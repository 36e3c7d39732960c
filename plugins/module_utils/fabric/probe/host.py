# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Small sections of a probe: modules in the kernel, the memlock limit, LLDP neighbours."""

from __future__ import annotations

from typing import Optional

from ..errors import MissingError
from ..model.facts import Neighbour
from ..parse import modules as parse_modules
from .collect import Reader

DEFAULT_MEMLOCK = "default"
_LLDPD_SOCKETS = ("/run/lldpd.socket", "/run/lldpd/lldpd.socket")


def modules(reader: Reader, kernel: Optional[str]) -> Optional[tuple[str, ...]]:
    """Names of the modules in the kernel: the loaded ones, then those that are built in.

    :param kernel: the running release. Without it, or without its list of built-in modules, only loaded ones are told.
    """
    loaded = reader.value("/proc/modules", parse_modules.parse, "modules")
    if loaded is None or kernel is None:
        return loaded
    listed = reader.text(f"/lib/modules/{kernel}/modules.builtin", "modules")
    return (*loaded, *parse_modules.parse_builtin(listed)) if listed else loaded


def memlock(reader: Reader) -> Optional[str]:
    """What a login session may lock by pam_limits: ``limits.conf``, then ``limits.d`` in the C locale's order."""
    return reader.attempt("memlock", lambda: _memlock(reader))


def _memlock(reader: Reader) -> str:
    from ..parse import limits  # noqa: PLC0415 - a setter reads no limits, and compiles what it imports

    base = "/etc/security"
    paths = [f"{base}/limits.conf"]
    if reader.port.exists(f"{base}/limits.d"):
        names = reader.port.listdir(f"{base}/limits.d")
        paths += [f"{base}/limits.d/{name}" for name in names if name.endswith(".conf")]
    elif not reader.port.exists(paths[0]):
        raise MissingError("no such file", paths[0])
    files = [(path, reader.port.read(path)) for path in paths if reader.port.exists(path)]
    return limits.session_memlock(files) or DEFAULT_MEMLOCK


def neighbours(reader: Reader) -> Optional[tuple[Neighbour, ...]]:
    """LLDP neighbours, or ``None`` without a note when lldpd does not run here: nobody promised them."""
    if not any(reader.port.exists(socket) for socket in _LLDPD_SOCKETS):
        return None
    from ..parse import lldp  # noqa: PLC0415 - most nodes do not need it, and a health check pays for each import

    return reader.tool(("lldpcli", "-f", "json0", "show", "neighbors"), lldp.parse, "lldp")
