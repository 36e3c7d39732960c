# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Global pause (IEEE 802.3x), which stops lossy traffic with the lossless: off wherever RoCE has its own classes."""

from __future__ import annotations

from ...model.plan import Run, Step
from . import RailPort

# ethtool says that it failed when there was nothing to change, or a driver took a part of it: whether it is off is read
# afterwards, and the exit code says nothing.
_ANY = tuple(range(256))


def pause(port: RailPort) -> tuple[Step, ...]:
    """Pause off, where the driver has it on."""
    state = port.state
    if not (state.pause_rx or state.pause_tx):
        return ()
    before = " and ".join(word for word, on in (("rx", state.pause_rx), ("tx", state.pause_tx)) if on)
    off = _set(port, {"autoneg": False, "rx": False, "tx": False})
    back = _set(port, {"autoneg": bool(state.pause_autoneg), "rx": bool(state.pause_rx), "tx": bool(state.pause_tx)})
    return (Step(port.rail, f"global pause{port.of}", before, "off", (off,), undo=(back,)),)


def _set(port: RailPort, wanted: dict[str, bool]) -> Run:
    words = [word for key, on in wanted.items() for word in (key, "on" if on else "off")]
    # Without autonegotiation to begin with, naming it makes some drivers refuse the whole.
    words = words if port.state.pause_autoneg else words[2:]
    return Run(("ethtool", "-A", port.netdev.name, *words), allowed=_ANY)
