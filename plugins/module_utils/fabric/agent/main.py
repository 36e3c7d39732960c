# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""``railwright``: what the node can do on its own. A command is imported when it is called: a check starts fast."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn, Optional, Sequence

from ..errors import FabricError
from ..ports import LocalPort
from ..version import VERSION
from .options import Options, parse_options

USAGE = """\
usage: railwright COMMAND

  show [--json]                              what is: rails, devices, links
  check [--json] [--on-unknown pass|fail]    judge this node; exit 0: pass or warn, 1: fail, 2: could not judge
        [--window SECONDS]                   also what error counters gain in that time
  apply [--boot|--event]                     put /etc/railwright/intent.json in force
  undo                                       take a change of the rails back that still waits for its confirmation
  prove --phase mtu|serve|measure [--force]  load the fabric: this node's part of a proof, as JSON on standard input
  --version                                  the version

Exit code 2 also means that the command itself could not work: the message says why.
"""
OPTIONS: dict[str, dict[str, Optional[tuple[str, ...]]]] = {
    "show": {"--json": None},
    "check": {"--json": None, "--on-unknown": ("pass", "fail"), "--window": ()},
    "apply": {"--boot": None, "--event": None},
    "undo": {},
    "prove": {"--phase": ("mtu", "serve", "measure"), "--force": None},
}


def run() -> NoReturn:
    """Run one command as this process, and end it.

    A command lives for a tenth of a second and fits into memory. What the interpreter frees on the way and piece by
    piece at its end costs a tenth of a check, and the kernel does it at once. Locks and pipes end with the process.
    """
    gc.disable()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 2  # nobody read the answer
    os._exit(code)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words in (["--version"], ["--help"], ["-h"]):
        sys.stdout.write(f"railwright {VERSION}\n" if words == ["--version"] else USAGE)
        return 0
    if not words or words[0] not in OPTIONS:
        sys.stderr.write(f"railwright: unknown command {words[0]!r}\n{USAGE}" if words else USAGE)
        return 2
    try:
        return _run(words[0], parse_options(words[0], words[1:], OPTIONS[words[0]]))
    except FabricError as error:
        sys.stderr.write(f"railwright {words[0]}: {error}\n")
        return 2
    except BrokenPipeError:
        return 2


def _run(command: str, options: Options) -> int:
    port = LocalPort()
    if command == "check":
        from .check import check  # noqa: PLC0415

        return check(port, options, sys.stdout)
    if command == "apply":
        from .apply import apply  # noqa: PLC0415

        return apply(port, options, sys.stdout)
    if command == "undo":
        from ..apply.safety import take_back  # noqa: PLC0415

        sys.stdout.write(f"{take_back(port)}\n")
        return 0
    if command == "prove":
        from ..prove.cli import prove  # noqa: PLC0415

        return prove(port, options, sys.stdin, sys.stdout)
    from .show import show  # noqa: PLC0415

    return show(port, options, sys.stdout)
