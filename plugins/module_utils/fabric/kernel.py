# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What the kernel tells about a netdev without a tool: one netlink message, one ioctl.

A tool takes a process for every setting of every netdev; eight rails would pay for fifty.
"""

from __future__ import annotations

# Without the wrapper ``socket``, whose enums take longer to build than all the answers take to come.
import _socket
import array
import errno
import fcntl
import os
import struct

from .errors import MissingError, ReadError

# linux/netlink.h, linux/rtnetlink.h, linux/dcbnl.h.
_NETLINK_ROUTE, _REQUEST, _ERROR, _GETDCB = 0, 1, 2, 78
_IEEE_GET, _ATTR_IFNAME = 21, 1
_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr: length, type, flags, sequence, port
_ERRNO = struct.Struct("=i")
_SIOCETHTOOL = 0x8946  # linux/sockios.h
_IFREQ = struct.Struct("16sP8x")  # struct ifreq with ifr_data, which is a pointer
_LARGEST = 65536  # net/dcb/dcbnl.c answers in one message, of a page or little more
_TIMEOUT_S = 5.0


def dcb(netdev: str) -> bytes:
    """See :meth:`.ports.Port.dcb`."""
    name = netdev.encode() + b"\0"
    attribute = struct.pack("=HH", 4 + len(name), _ATTR_IFNAME) + name + b"\0" * (-len(name) % 4)
    body = struct.pack("=BBH", 0, _IEEE_GET, 0) + attribute  # struct dcbmsg: family, command, padding
    place = f"DCB of {netdev}"
    try:
        link = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, _NETLINK_ROUTE)
        try:
            link.settimeout(_TIMEOUT_S)
            link.sendto(_HEADER.pack(_HEADER.size + len(body), _GETDCB, _REQUEST, 1, 0) + body, (0, 0))
            reply = link.recv(_LARGEST)
        finally:
            link.close()
    except OSError as error:
        raise refusal(place, error.errno or errno.ETIMEDOUT) from None
    if len(reply) >= _HEADER.size + _ERRNO.size and _HEADER.unpack_from(reply)[1] == _ERROR:
        raise refusal(place, -_ERRNO.unpack_from(reply, _HEADER.size)[0])
    return reply


def ethtool(netdev: str, request: bytes) -> bytes:
    """See :meth:`.ports.Port.ethtool`."""
    data = array.array("B", request)
    try:
        link = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM, 0)
        try:
            fcntl.ioctl(link.fileno(), _SIOCETHTOOL, _IFREQ.pack(netdev.encode()[:15], data.buffer_info()[0]))
        finally:
            link.close()
    except OSError as error:
        raise refusal(f"ethtool of {netdev}", error.errno or errno.EIO) from None
    return data.tobytes()


def refusal(place: str, number: int) -> ReadError:
    """The error for an errno: :class:`MissingError` when the driver has nothing of the kind."""
    if number == errno.EOPNOTSUPP:
        return MissingError("the driver has no such thing", place)
    return ReadError(os.strerror(number), place)
