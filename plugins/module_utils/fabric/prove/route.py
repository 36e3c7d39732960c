# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The way out: test traffic leaves by the rail's own netdev, or it is not sent at all."""

from __future__ import annotations

from typing import Any, Optional

from ..errors import ParseError, ReadError
from ..parse.text import parse_json
from ..ports import Port
from ..records import dataclass
from ..resolve.bind import BoundRail
from .work import Target


@dataclass(frozen=True)
class Obstacle:
    """Why a probe must not be sent, or why it failed: a reason of :class:`PairResult`, and the words for it."""

    reason: str
    error: str
    netdev: Optional[str] = None
    value: Optional[float] = None


def find_obstacle(port: Port, rail: Optional[BoundRail], target: Target, bound: bool = True) -> Optional[Obstacle]:
    """What stands against sending from this rail to a peer; ``None`` when the way is clear.

    A fault that takes the rail's address or route away would otherwise send test traffic out by the default route.

    :param bound: whether the sender binds the rail's address; else the kernel itself must choose it.
    """
    if rail is None or rail.netdev is None:
        return Obstacle("no_device", _problem(rail))
    name = rail.netdev.name
    if not any(address.partition("/")[0] == target.source for address in rail.netdev.addresses):
        return Obstacle("no_address", f"{name} does not have the address {target.source}")
    return _detour(port, name, target, bound)


def _detour(port: Port, name: str, target: Target, bound: bool) -> Optional[Obstacle]:
    argv = ["ip", "-j", "route", "get", target.peer, *(["from", target.source] if bound else [])]
    try:
        done = port.run(argv)
        route = _route(done.out) if done.rc == 0 else {}
    except (ReadError, ParseError) as error:
        return Obstacle("tool", f"the route to {target.peer} could not be read: {error}")
    device, kind = str(route.get("dev")), route.get("type", "unicast")
    obstacle = None
    if not route:
        why = (done.err or done.out).strip().splitlines() or ["no answer"]
        obstacle = Obstacle("no_route", f"no route from {target.source} to {target.peer}: {why[-1]}")
    elif kind == "local":
        obstacle = Obstacle("wrong_egress", f"{target.peer} is an address of this node itself", device)
    elif kind != "unicast":
        obstacle = Obstacle("no_route", f"the route to {target.peer} is of type {kind}")
    elif device != name:
        obstacle = Obstacle("wrong_egress", f"would leave by {device}, not by {name}", device)
    elif not bound and route.get("prefsrc") != target.source:
        chosen = route.get("prefsrc")
        obstacle = Obstacle("wrong_egress", f"would leave with the address {chosen}, not {target.source}", device)
    return obstacle


def _problem(rail: Optional[BoundRail]) -> str:
    if rail is None:
        return "the node's intent does not have this rail"
    said = [port.problem for port in rail.ports if port.problem]
    return said[0] if said else f"the rail's netdev {rail.netdev_name or ''} is not there".replace("  ", " ")


def _route(text: str) -> dict[str, Any]:
    try:
        entry = parse_json("ip route get", text)[0]
        return {**entry, "dev": str(entry["dev"])}
    except (TypeError, KeyError, IndexError):
        raise ParseError("not the JSON of a route", "ip route get:1", text[:120]) from None
