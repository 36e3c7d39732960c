# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What the error lines of perftest mean: code, cause and remedy."""

from __future__ import annotations

import re
from typing import Optional

from ..records import dataclass

ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"

# enum ibv_wc_status, rdma-core libibverbs/verbs.h
_STATUS = (
    "SUCCESS",
    "LOC_LEN_ERR",
    "LOC_QP_OP_ERR",
    "LOC_EEC_OP_ERR",
    "LOC_PROT_ERR",
    "WR_FLUSH_ERR",
    "MW_BIND_ERR",
    "BAD_RESP_ERR",
    "LOC_ACCESS_ERR",
    "REM_INV_REQ_ERR",
    "REM_ACCESS_ERR",
    "REM_OP_ERR",
    "RETRY_EXC_ERR",
    "RNR_RETRY_EXC_ERR",
    "LOC_RDD_VIOL_ERR",
    "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR",
    "INV_EECN_ERR",
    "INV_EEC_STATE_ERR",
    "FATAL_ERR",
    "RESP_TIMEOUT_ERR",
    "GENERAL_ERR",
)

# Linux errno numbers (include/uapi/asm-generic/errno-base.h, errno.h) that ibv_reg_mr returns.
_ENOMEM, _EFAULT, _EPROTONOSUPPORT = 12, 14, 93
_ERRNO_TEXT = {"Cannot allocate memory": _ENOMEM, "Bad address": _EFAULT, "Protocol not supported": _EPROTONOSUPPORT}


@dataclass(frozen=True)
class Failure:
    """Why a run failed.

    ``code``: ``completion`` | ``modify_qp`` | ``memory`` | ``connect`` | ``listen`` | ``device`` | ``gid`` | ``option``
    | ``below_limit`` | ``crash`` | ``other``. ``status`` and ``vendor`` are of a failed completion; ``sent`` and
    ``completed`` the work requests until then; ``errno`` of a refused memory region; ``queue_pair`` its number.
    """

    code: str
    message: str
    cause: str
    remedy: str
    status: Optional[int] = None
    vendor: Optional[int] = None
    sent: Optional[int] = None
    completed: Optional[int] = None
    errno: Optional[int] = None
    queue_pair: Optional[int] = None

    @property
    def status_name(self) -> Optional[str]:
        """The verbs name of the status: ``IBV_WC_RETRY_EXC_ERR``."""
        if self.status is None or not 0 <= self.status < len(_STATUS):
            return None
        return "IBV_WC_" + _STATUS[self.status]


_COMPLETION = re.compile(
    r"Failed status (?P<status>\d{1,3}): wr_id \d+ syndrome? 0x(?P<vendor>[0-9a-fA-F]{1,8})"
    r"(?:\s+scnt=(?P<sent>\d{1,18}), ccnt=(?P<done>\d{1,18}))?"
)
_MODIFY = re.compile(r"Failed to modify (?:\w+ )?QP (?:(?P<qp>\d{1,9}) )?to (?P<state>\w+).*")
_MEMORY = re.compile(r"Couldn't allocate MR(?: with error=(?P<errno>\d{1,5}))?.*")
_ERRNO = re.compile(r"ERRNO: (?P<text>[^.\n]+)")

# One line each, most telling first: code, pattern, cause, remedy.
_PLAIN = (
    ("device", r"(?:IB device \S+ not found|Unable to find the Infiniband/RoCE device|Did not detect devices).*",
     "the RDMA device is not there", "Load its driver, or create the soft RoCE device; see 'rdma link'"),
    ("gid", r"(?:Failed to get (?:a )?GID|can't read (?:sgid|GID) of index \d+|Couldn't (?:get|read) GID).*",
     "the GID index holds no GID", "Look at the address of the rail's netdev: a GID comes with it"),
    ("connect", r"Couldn't connect to (?P<where>\S+).*",
     "the peer's test server cannot be reached on TCP", "Look at the peer's server, its firewall and the rail's route"),
    # 8 is RDMA_CM_EVENT_REJECTED, 6 and 7 are errors of the connection and an unreachable peer (rdma/rdma_cma.h)
    ("connect", r"Unexpected CM event bl blka [678]\b.*",
     "the peer's test server does not take connections of RDMA-CM", "Look at the peer's server and the rail's route"),
    ("listen", r"(?:Couldn't listen to port|Failed to bind socket|accept\(\) failed).*",
     "the TCP port of the test server is taken, or nobody connected", "End the process that holds the port"),
    ("option", r".*(?:unrecognized option|invalid option).*",
     "this perftest does not know an option", "Install a newer perftest"),
    ("option", r"please check that DURATION > 2\*MARGIN.*",
     "the test is no longer than its two margins", "Give the test more seconds"),
    ("below_limit", r"Error: (?:BW result is below bw limit|Msg rate +is below msg_rate limit).*",
     "the result is below the limit that was given", "Look at the link's rate, at errors and at PCIe"),
    ("memory", r"Couldn't create (?:CQ|QP|PD)\b.*|Unable to create (?:QP|CQ)\b.*|Failed to create QP.*",
     "the device refused a queue or its memory", "Raise memlock; look for leaked resources with 'rdma res'"),
    ("crash", r"Segmentation fault.*|Floating point exception.*", "the tool crashed", "Install a newer perftest"),
    ("other", r"[ \t]*(?:Failed|Couldn't|Unable|Cannot|Error|Bad wc status|Problem|Completion with error)\b.*",
     "perftest failed", "Run the command by hand on both sides and read the lines before this one"),
)  # fmt: skip
_PLAIN_PATTERNS = tuple(
    (code, re.compile(rf"(?m)^[ \t]*(?:{text})$"), cause, remedy) for code, text, cause, remedy in _PLAIN
)


def find_failure(text: str, local_gid: Optional[str] = None, remote_gid: Optional[str] = None) -> Optional[Failure]:
    """The most telling error line in a tool's output, or ``None``."""
    found = _completion(text) or _modify(text, local_gid, remote_gid) or _memory(text)
    if found is not None:
        return found
    for code, pattern, cause, remedy in _PLAIN_PATTERNS:
        line = pattern.search(text)
        if line:
            return Failure(code, line[0].strip(), cause, remedy)
    return None


def _completion(text: str) -> Optional[Failure]:
    found = _COMPLETION.search(text)
    if found is None:
        return None
    status = int(found["status"])
    done = int(found["done"]) if found["done"] else None
    cause, remedy = "the completion of a work request failed", "Look the status up in ibv_wc_status (verbs.h)"
    if status == 12 and done == 0:
        cause = "no packet was ever acknowledged: the RDMA path (UDP port 4791) does not work at all"
        remedy = "Look at GID, route, neighbour entry, MTU and firewall of both sides; a ping does not prove this path"
    elif status == 12 and done is not None:
        cause = "packets were acknowledged at first, then retries ran out: packets are lost on the way"
        remedy = "Look at discards, PFC and the link's error counters along the path"
    elif status == 12:
        cause = "retries ran out: the RDMA path (UDP port 4791) does not work, or packets are lost on the way"
        remedy = "Look at GID, route, MTU and firewall of both sides first, then at discards and PFC along the path"
    elif status == 13:
        cause, remedy = "the receiver posted no buffers in time", "Look at the load of the peer"
    elif status == 4:
        cause = "local protection error: the memory region does not fit the access"
        remedy = "Use one version of driver and user space on both sides; look at GPU memory registration"
    return Failure(
        "completion",
        found[0].replace("\n", " "),
        cause,
        remedy,
        status=status,
        vendor=int(found["vendor"], 16),
        sent=int(found["sent"]) if found["sent"] else None,
        completed=done,
    )


def _modify(text: str, local_gid: Optional[str], remote_gid: Optional[str]) -> Optional[Failure]:
    found = _MODIFY.search(text)
    if found is None:
        return None
    cause = "the queue pair could not be connected: no path to the peer's GID"
    remedy = "Look at the route and neighbour entry of the peer's rail address, and at the path MTU of both sides"
    zero = [side for side, gid in (("local", local_gid), ("remote", remote_gid)) if gid == ZERO_GID]
    if zero:
        cause = f"the {' and the '.join(zero)} GID is zero: there is no address behind that GID index"
        remedy = "Choose the index of the RoCE v2 GID that belongs to the rail's address"
    number = int(found["qp"]) if found["qp"] else None
    return Failure("modify_qp", found[0].strip(), cause, remedy, queue_pair=number)


def _memory(text: str) -> Optional[Failure]:
    found = _MEMORY.search(text)
    if found is None:
        return None
    said = _ERRNO.search(text)
    errno = int(found["errno"]) if found["errno"] else _ERRNO_TEXT.get(said["text"].strip()) if said else None
    cause, remedy = "the memory region was refused", "Look at memlock (ulimit -l) and at the kernel log"
    if errno in (_EFAULT, _EPROTONOSUPPORT):
        cause = "the device cannot reach this memory: GPUDirect RDMA is not usable"
        remedy = "Load nvidia_peermem or use DMA-BUF (--use_cuda_dmabuf)"
    elif errno == _ENOMEM:
        cause, remedy = "locked memory is limited", "Set memlock to unlimited for this login or service"
    return Failure("memory", found[0].strip(), cause, remedy, errno=errno)
