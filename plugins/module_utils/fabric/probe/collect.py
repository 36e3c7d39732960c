# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""How a probe reads: what cannot be read becomes an entry of ``unread``, and the probe goes on."""

from __future__ import annotations

import re
from typing import Callable, Optional, TypeVar

from ..errors import MissingError, ParseError, ReadError
from ..model.facts import Unread
from ..ports import TIMEOUT_S, Completed, Port

T = TypeVar("T")
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class Reader:
    """A port, and the list of what could not be read through it."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.unread: list[Unread] = []
        self._places: dict[str, PciPlace] = {}
        self._slots: Optional[dict[str, str]] = None

    def note(self, error: Exception, subject: str) -> None:
        """Remember a failure."""
        place = getattr(error, "place", None) or ""
        reason = getattr(error, "message", "") or str(error)
        value = getattr(error, "value", None)
        self.unread.append(Unread(place, f"{reason} (found {value!r})" if value else reason, subject))

    def attempt(self, subject: str, read: Callable[[], T]) -> Optional[T]:
        """The result of ``read``, or ``None`` and a note."""
        try:
            return read()
        except (ReadError, ParseError) as error:
            self.note(error, subject)
            return None

    def value(self, path: str, parse: Callable[[str], T], subject: str) -> Optional[T]:
        """The parsed value of a small file, or ``None`` and a note."""
        try:
            return parse(self.port.read(path))
        except ParseError as error:
            self.note(ParseError(error.message, path, error.value), subject)
        except ReadError as error:
            self.note(error, subject)
        return None

    def text(self, path: str, subject: str) -> Optional[str]:
        """The text of a file that need not be there; ``None`` when it is absent or empty."""
        try:
            text = self.port.read(path).strip()
        except MissingError:
            return None
        except ReadError as error:
            self.note(error, subject)
            return None
        if "\0" in text:  # damaged, and no part of any path
            self.note(ParseError("a line of text is expected", path, text), subject)
            return None
        return text or None

    def names(self, path: str, subject: str) -> list[str]:
        """The names in a directory that need not be there, sorted; none and a note when it cannot be read."""
        try:
            return self.port.listdir(path)
        except MissingError:
            return []
        except ReadError as error:
            self.note(error, subject)
            return []

    def tool(
        self, argv: tuple[str, ...], parse: Callable[[str], T], subject: str, lacks: tuple[str, ...] = ()
    ) -> Optional[T]:
        """What a tool prints, parsed; ``None`` and a note when it is absent, hangs, fails or cannot be understood.

        A tool that fails with one of the words ``lacks`` says that there is nothing to tell: ``None`` without a note.
        """

        def told() -> Optional[T]:
            done = self.port.run(argv, TIMEOUT_S)
            if done.rc and any(words in done.err + done.out for words in lacks):
                return None
            return parse(_output(done))

        return self.attempt(subject, told)

    def place(self, device: str) -> PciPlace:
        """Where a device directory (a path below ``/sys/devices``) sits on the PCI bus, and what drives it."""
        if device not in self._places:
            self._places[device] = self._find(device)
        return self._places[device]

    def _find(self, device: str) -> PciPlace:
        chain, folder, pci_folder = [], "", ""
        for part in device.split("/")[1:]:
            folder = f"{folder}/{part}"
            if _PCI.fullmatch(part):
                chain.append(part)
                pci_folder = folder
        try:
            driver = self.port.realpath(f"{device}/driver").rpartition("/")[2]
        except ReadError:
            driver = None
        if not chain:
            return PciPlace(None, None, driver, None, None)
        numa = self.text(f"{pci_folder}/numa_node", chain[-1])
        slot = self.slots().get(chain[-1].rpartition(".")[0])
        return PciPlace(chain[-1], "/".join(chain), driver, int(numa) if numa and numa.isdecimal() else None, slot)

    def slots(self) -> dict[str, str]:
        """Slot labels of the firmware by PCI address without function; not every machine has them."""
        if self._slots is None:
            self._slots = {}
            base = "/sys/bus/pci/slots"
            try:
                names = self.port.listdir(base)
            except ReadError:
                names = []
            for name in names:
                address = self.text(f"{base}/{name}/address", "pci")
                if address:
                    self._slots[address] = name
        return self._slots


def _output(done: Completed) -> str:
    if done.rc:
        said = (done.err.strip() or done.out.strip() or "without a word").splitlines()[0]
        raise ReadError(f"{done.argv[0]} failed with exit code {done.rc}: {said[:200]}", " ".join(done.argv))
    return done.out


class PciPlace:
    """Address, path from the root port down to the function, driver, NUMA node (``None`` for -1) and slot."""

    __slots__ = ("address", "driver", "numa", "path", "slot")

    def __init__(
        self,
        address: Optional[str],
        path: Optional[str],
        driver: Optional[str],
        numa: Optional[int],
        slot: Optional[str],
    ) -> None:
        self.address = address
        self.path = path
        self.driver = driver
        self.numa = numa
        self.slot = slot
