# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The initramfs: a NIC whose driver is in there is named in there, by the files that were copied when it was made."""

from __future__ import annotations

from typing import Iterable, Optional

from ..errors import FabricError
from ..model.plan import Run
from ..ports import Port
from ..records import dataclass

# Where a tool puts the image of a release, the tool that makes it, and the one that lists it: initramfs-tools(7),
# dracut(8) as Red Hat and SUSE call it. An image that lies elsewhere is the site's own affair.
_IMAGES = (
    ("/boot/initrd.img-{}", "update-initramfs", ("-u", "-k", "all"), "lsinitramfs"),
    ("/boot/initrd.img-{}", "dracut", ("--force", "--regenerate-all"), "lsinitrd"),
    ("/boot/initramfs-{}.img", "dracut", ("--force", "--regenerate-all"), "lsinitrd"),
    ("/boot/initrd-{}", "dracut", ("--force", "--regenerate-all"), "lsinitrd"),
)
_FOLDERS = ("/usr/sbin", "/usr/bin", "/sbin")
_LIST_S, _FIND_S, _BUILD_S = 60.0, 10.0, 900.0


@dataclass(frozen=True)
class BootImage:
    """The running kernel's image; ``newer`` are the naming files that changed since it was made."""

    path: str
    tool: str
    arguments: tuple[str, ...]
    lister: str
    newer: tuple[str, ...] = ()

    @property
    def rebuild(self) -> Run:
        """Every kernel's image is made again: which one boots next is not ours to guess."""
        return Run((self.tool, *self.arguments), _BUILD_S)


def read_image(port: Port, kernel: Optional[str], files: Iterable[str]) -> Optional[BootImage]:
    """The image of the running kernel, or ``None`` when there is none that one of the known tools made.

    ``files`` are naming files that are there.
    """
    for pattern, tool, arguments, lister in _IMAGES:
        path = pattern.format(kernel)
        if kernel and port.exists(path) and any(port.exists(f"{folder}/{tool}") for folder in _FOLDERS):
            return BootImage(path, tool, arguments, lister, _newer(port, path, tuple(files)))
    return None


def names_nics(port: Port, image: BootImage, drivers: Iterable[str]) -> bool:
    """Whether a NIC of one of these drivers comes up, and so gets its name, inside the image.

    Where that cannot be told, it may: a rebuild too many costs a minute, one too few a wrong name.
    """
    wanted = [driver.replace("-", "_") for driver in drivers]
    # A driver that is no module is in the kernel itself; a loaded module has an initstate (kernel/module/sysfs.c).
    if not wanted or any(not port.exists(f"/sys/module/{driver}/initstate") for driver in wanted):
        return True
    try:
        listed = port.run((image.lister, image.path), _LIST_S)
    except FabricError:
        return True
    text = listed.out.replace("-", "_")
    return listed.rc != 0 or any(f"/{driver}.ko" in text for driver in wanted)


def _newer(port: Port, image: str, files: tuple[str, ...]) -> tuple[str, ...]:
    if not files:
        return ()
    try:
        found = port.run(("find", *files, "-newer", image), _FIND_S)
    except FabricError:
        return files
    return tuple(path for path in files if path in found.out.splitlines()) if found.rc == 0 else files
