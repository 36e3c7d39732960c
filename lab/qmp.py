"""A client of QEMU's monitor: one command, one connection, always bounded."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from .errors import LabError


class Monitor:
    """A QMP session; use it as a context manager, since QEMU serves one client at a time."""

    def __init__(self, path: Path, timeout: float = 30.0) -> None:
        self.path = path
        self.timeout = timeout
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._buffer = b""
        self._deadline = 0.0

    def __enter__(self) -> Monitor:
        self._deadline = time.monotonic() + self.timeout
        try:
            self._socket.settimeout(self.timeout)
            self._socket.connect(str(self.path))
            self._message()
            self.execute("qmp_capabilities")
        except (OSError, LabError) as error:
            self._socket.close()
            raise LabError(f"the monitor {self.path} does not answer: {error}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def execute(self, command: str, **arguments: object) -> Any:
        """Run a QMP command within ``timeout`` seconds and return its result. Raises LabError."""
        self._deadline = time.monotonic() + self.timeout
        self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            message = self._message()
            if "error" in message:
                raise LabError(f"{command}: {message['error'].get('desc', message['error'])}")
            if "return" in message:
                return message["return"]

    def human(self, line: str) -> None:
        """Run a command of the human monitor. Raises LabError for whatever it prints."""
        output = str(self.execute("human-monitor-command", **{"command-line": line})).strip()
        if output:
            raise LabError(f"{line}: {output}")

    def _message(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            remaining = self._deadline - time.monotonic()
            if remaining <= 0:
                raise LabError(f"no answer within {self.timeout:.0f} s")
            self._socket.settimeout(remaining)
            try:
                data = self._socket.recv(65536)
            except TimeoutError as error:
                raise LabError(f"no answer within {self.timeout:.0f} s") from error
            if not data:
                raise LabError("QEMU has closed the connection")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message
