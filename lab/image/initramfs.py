"""The initramfs: busybox, a handful of modules and an init, in the kernel's newc cpio format."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from pathlib import Path

from ..errors import LabError
from .recipe import INIT, INITRAMFS_MODULES

DIRECTORY, FILE, DEVICE = 0o040755, 0o100755, 0o020600


def build(root: Path, release: str) -> bytes:
    """The archive for the kernel ``release`` whose modules are in ``root``. Raises LabError."""
    modules = root / "lib/modules" / release
    entries: list[tuple[str, int, bytes, tuple[int, int]]] = [
        (name, DIRECTORY, b"", (0, 0)) for name in ("bin", "dev", "modules", "proc", "root")
    ]
    # The kernel opens it for init before anything is mounted.
    entries.append(("dev/console", DEVICE, b"", (5, 1)))
    entries.append(("bin/busybox", FILE, (root / "bin/busybox").read_bytes(), (0, 0)))
    entries.append(("init", FILE, INIT.encode(), (0, 0)))
    order = []
    for path in _load_order(modules):
        data = path.read_bytes()
        if path.suffix == ".xz":
            data = lzma.decompress(data)
        name = path.name.removesuffix(".xz")
        order.append(name)
        entries.append((f"modules/{name}", FILE, data, (0, 0)))
    entries.append(("modules/order", FILE, "".join(f"{name}\n" for name in order).encode(), (0, 0)))
    return b"".join(_newc(entries))


def _load_order(modules: Path) -> list[Path]:
    """The wanted modules, each after what it depends on."""
    needs: dict[str, tuple[Path, list[str]]] = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[_module_name(path)] = (modules / path, [_module_name(dep) for dep in rest.split()])
    built_in = {_module_name(line) for line in (modules / "modules.builtin").read_text().split()}
    order: list[Path] = []

    def add(name: str) -> None:
        path, dependencies = needs[name]
        # modules.dep lists all of them, the deepest last.
        for dependency in reversed(dependencies):
            add(dependency)
        if path not in order:
            order.append(path)

    for wanted in INITRAMFS_MODULES:
        if wanted in needs:
            add(wanted)
        elif wanted not in built_in and wanted != "crc32c_generic":
            raise LabError(f"the kernel has no module {wanted}")
    return order


def _module_name(path: str) -> str:
    return path.rsplit("/", 1)[-1].partition(".ko")[0].replace("-", "_")


def _newc(entries: list[tuple[str, int, bytes, tuple[int, int]]]) -> Iterator[bytes]:
    for inode, (name, mode, data, (major, minor)) in enumerate([*entries, ("TRAILER!!!", 0, b"", (0, 0))], 1):
        fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name) + 1, 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        yield header + b"\0" * (-len(header) % 4)
        yield data + b"\0" * (-len(data) % 4)
