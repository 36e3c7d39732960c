# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A patch of Cumulus Linux' NVUE object tree, for ``nv config patch``, which leaves all else as it is.

Objects: CumulusNetworks/docs, content/nvue-reference/Set-and-Unset-Commands/QoS.md, content/cumulus-linux-514/
Layer-1-and-Switch-Ports/Quality-of-Service/_index.md and RDMA-over-Converged-Ethernet-RoCE.md ("Change RoCE
Configuration"): RoCE mode sets up the pools, and what differs from its defaults is set above it.
"""

from __future__ import annotations

from typing import Any

from ..model.switch import SwitchIntent
from ..resolve.switch_settings import cumulus_cable_m
from . import yaml_text

PROFILE = "default-global"
ROCE_QUEUE = 3

# From this version on it is ``state enabled``, before it ``enable on`` (nvue-reference, "nv set qos roce state").
STATE_SINCE = (5, 15)


def render(intent: SwitchIntent) -> str:
    """YAML: a list of one ``set``, as ``nv config show`` prints it."""
    return yaml_text.dump([{"set": document(intent)}])


def document(intent: SwitchIntent) -> dict[str, Any]:
    """The tree below ``set``."""
    return {
        "interface": {port.name: _interface(intent, port.description) for port in intent.ports},
        "qos": {
            "roce": _roce(intent),
            "mapping": {PROFILE: _mapping(intent)},
            "egress-queue-mapping": {
                PROFILE: {
                    "switch-priority": {
                        str(priority): {"traffic-class": queue} for priority, queue in enumerate(intent.priority_queue)
                    }
                }
            },
            "egress-scheduler": {
                PROFILE: {"traffic-class": {str(queue): _schedule(intent, queue) for queue in _scheduled(intent)}}
            },
            "congestion-control": {PROFILE: {"traffic-class": _ecn(intent)}},
            **(_pfc(intent) if intent.pfc else {"pfc": {PROFILE: {"tx": "disable", "rx": "disable"}}}),
        },
    }


def _interface(intent: SwitchIntent, description: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"description": description, "link": {"mtu": intent.mtu}}
    entry["qos"] = {"pfc-watchdog": {"state": "enable" if intent.watchdog is not None else "disable"}}
    return entry


def _new(intent: SwitchIntent) -> bool:
    return intent.entry.os_version >= STATE_SINCE


def _roce(intent: SwitchIntent) -> dict[str, Any]:
    entry: dict[str, Any] = {"state": "enabled"} if _new(intent) else {"enable": "on"}
    entry["mode"] = "lossless" if intent.pfc else "lossy"
    if intent.pfc:
        entry["cable-length"] = cumulus_cable_m(intent)
    return entry


def _mapping(intent: SwitchIntent) -> dict[str, Any]:
    """``l3`` trusts the DSCP alone ("Trust DSCP")."""
    points = {str(dscp): {"switch-priority": to} for dscp, to in enumerate(intent.dscp_priority)}
    return {"trust": "l3", "dscp": points}


def _scheduled(intent: SwitchIntent) -> tuple[int, ...]:
    """The spec's queues, and the one that RoCE mode gives half of the link to whether it is used or not."""
    return tuple(sorted({*intent.queues, ROCE_QUEUE}))


def _schedule(intent: SwitchIntent, queue: int) -> dict[str, Any]:
    if intent.tsa[queue] == "strict":
        return {"mode": "strict"}
    return {"mode": "dwrr", "bw-percent": intent.share[queue]}


def _ecn(intent: SwitchIntent) -> dict[str, Any]:
    on, off = ("enabled", "disabled") if _new(intent) else ("enable", "disable")
    if intent.ecn is None:
        return {str(intent.data_queue): {"ecn": off}}
    entry = {
        "ecn": on,
        "min-threshold": intent.ecn.min_bytes,
        "max-threshold": intent.ecn.max_bytes,
        "probability": intent.ecn.probability,
        "red": off,
    }
    return {str(queue): dict(entry) for queue in intent.ecn_queues}


def _pfc(intent: SwitchIntent) -> dict[str, Any]:
    """Priority, watchdog, and the memory of the pool that RoCE mode makes for lossless traffic."""
    tree: dict[str, Any] = {
        "pfc": {
            PROFILE: {"switch-priority": {str(p): {} for p in intent.pfc}, "tx": "enable", "rx": "enable"},
        },
        "traffic-pool": {
            "default-lossy": {"memory-percent": 100 - intent.lossless_percent},
            "roce-lossless": {"memory-percent": intent.lossless_percent},
        },
    }
    if intent.watchdog is not None:
        # Restored after one polling interval without pause frames, detected after robustness of them ("PFC Watchdog").
        interval = intent.watchdog.restoration_ms
        tree["pfc-watchdog"] = {
            "polling-interval": interval,
            "robustness": intent.watchdog.detection_ms // interval,
        }
    return tree
