# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers in files of a driver: how all providers of congestion control write them."""

from __future__ import annotations

from typing import Optional

from ...model.plan import Step, WriteFile
from . import RailPort


def number(port: RailPort, setting: str, path: str, have: Optional[int], want: int) -> tuple[Step, ...]:
    """Write a number where another one is; the former one comes back when it is known."""
    if have == want:
        return ()
    before = "" if have is None else str(have)
    back = () if have is None else (WriteFile(path, before),)
    write = WriteFile(path, str(want))
    return (Step(port.rail, f"{setting}{port.of}", before, str(want), (write,), undo=back),)
