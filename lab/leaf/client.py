"""The other end of the leaves' control socket."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from ..errors import LabError
from .daemon import MAX_MESSAGE

TIMEOUT = 10.0


def call(control: Path, verb: str, fd: int | None = None, **arguments: object) -> Any:
    """Send one request, with a descriptor if given, and return its result. Raises LabError."""
    message = json.dumps({"verb": verb, **arguments}).encode()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(str(control))
            socket.send_fds(connection, [message], [] if fd is None else [fd])
            data = connection.recv(MAX_MESSAGE)
    except OSError as error:
        raise LabError(f"the leaf switches do not answer on {control}: {error}") from error
    answer: dict[str, Any] = json.loads(data) if data else {"error": "no answer"}
    if "error" in answer:
        raise LabError(f"leaf {verb}: {answer['error']}")
    return answer["result"]
