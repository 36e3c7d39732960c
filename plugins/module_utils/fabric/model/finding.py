# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What verification says: findings, and the results of active probes that some of them rest on."""

from __future__ import annotations

from typing import Optional

from ..records import dataclass
from .base import Model

PASS, WARN, FAIL, UNKNOWN = "pass", "warn", "fail", "unknown"


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Model):
    """One rule's judgement of one subject.

    ``caused_by`` is the ``key`` of the root finding that this one follows from; ``waived`` the reason of the waiver
    that covers it. A waived finding and a consequence stay visible and do not count in the verdict.
    """

    rule: str
    state: str  # pass | warn | fail | unknown
    title: str
    host: Optional[str] = None
    rail: Optional[str] = None
    device: Optional[str] = None
    peer: Optional[str] = None
    expected: str = ""
    found: str = ""
    cause: str = ""
    remedy: str = ""
    caused_by: Optional[str] = None
    waived: Optional[str] = None

    @property
    def key(self) -> str:
        """Identity within one report: ``rule@host/rail>peer``; without a host the device (a leaf) stands for it."""
        place = f"{self.host or self.device or '-'}/{self.rail or '-'}"
        return f"{self.rule}@{place}" + (f">{self.peer}" if self.peer else "")


@dataclass(frozen=True, eq=False, repr=False)
class PairResult(Model):
    """An active probe from ``host`` to ``peer`` over ``rail``.

    ``kind`` is ``mtu`` (a full-size unfragmented packet) or ``bandwidth``; on rails with a traffic class also ``class``
    (the priority of packets that carry it), ``cm_class`` (that of connections by RDMA-CM) and ``lossless`` (packets
    dropped there). ``value`` is bytes, Gbit/s, a priority or packets; for ``mtu`` it is the largest packet that passed,
    which is less than ``expected`` when only small ones do. ``device``, ``gid`` and
    ``netdev`` are what was really used. ``error`` is set when the probe did not succeed, and ``reason`` then says of
    which kind the failure is:

    ====================  ============================================================================================
    ``no_device``         the rail's hardware, netdev or RDMA device is not on ``host``
    ``no_address``        ``host`` does not have the rail's address; nothing was sent
    ``no_gid``            no RoCE v2 GID for the rail's address on ``host``
    ``wrong_egress``      the route leaves by another netdev, ``netdev`` says which; nothing was sent
    ``no_route``          ``host`` has no route to the peer's address; nothing was sent
    ``local_mtu``         ``host`` itself refuses the size: its own MTU is smaller; ``value`` is that MTU
    ``too_big``           a router in between says that the packet is too big; ``value`` is the MTU that it names
    ``size_lost``         small packets pass, full-size ones vanish: a port in between is smaller
    ``lossy``             some of the packets were lost
    ``unreachable``       no answer, not even to a small packet
    ``no_server``         the peer's test server did not answer on TCP
    ``rdma``              the RDMA transport failed (QP, memory region, completion status)
    ``wrong_path``        the test ran, but over another device, GID or netdev than the rail's
    ``wrong_class``       the test's packets went in another priority; ``value`` says which
    ``discards``          packets of the lossless priority were dropped; ``value`` says how many
    ``no_counters``       the NIC does not count what would tell: nothing is known
    ``in_use``            RDMA resources are in use by other processes, and force was not asked for; nothing was sent
    ``not_run``           the peer was not reached by the controller, or the bound of time was over; nothing was sent
    ``tool``              the tool is missing, hung, or printed what its parser does not know: nothing is known
    ====================  ============================================================================================
    """

    kind: str
    host: str
    peer: str
    rail: str
    peer_rail: str
    expected: Optional[float] = None
    value: Optional[float] = None
    device: Optional[str] = None
    gid: Optional[str] = None
    netdev: Optional[str] = None
    error: Optional[str] = None
    reason: Optional[str] = None
