"""Captures in the classic pcap format, which every tool reads."""

from __future__ import annotations

import struct
import time
from pathlib import Path

SNAPLEN = 65535
LINKTYPE_ETHERNET = 1


class Capture:
    """A pcap file that is complete after every frame, so that it can be read while it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = path.open("wb", buffering=0)
        self._stream.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, SNAPLEN, LINKTYPE_ETHERNET))

    def write(self, frame: bytes) -> None:
        """Append one frame with the wall-clock time."""
        seconds, micro = divmod(time.time_ns() // 1000, 1_000_000)
        self._stream.write(struct.pack("<IIII", seconds, micro, len(frame), len(frame)) + frame)

    def close(self) -> None:
        """End the capture."""
        self._stream.close()
