# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on prefixes in CIDR notation, without the library that costs a check a third of an interpreter's start."""

from __future__ import annotations

import functools


@functools.lru_cache(maxsize=4096)
def numbers(prefix: str) -> tuple[int, int, int]:
    """Family, address as an integer, and length of a prefix; an address alone is one of full length.

    :raises ValueError: for text that is none.
    """
    address, _slash, length = prefix.partition("/")
    if ":" in address:
        import ipaddress  # noqa: PLC0415 - heavy, and most nodes have no IPv6 on their rails

        return 6, int(ipaddress.IPv6Address(address.partition("%")[0])), int(length or 128)
    octets = [int(octet) for octet in address.split(".")]
    if len(octets) != 4 or not all(0 <= octet <= 255 for octet in octets):
        raise ValueError(prefix)
    return 4, int.from_bytes(bytes(octets), "big"), int(length or 32)


def family(prefix: str) -> int:
    """4 or 6."""
    return 6 if ":" in prefix else 4


def network(address: str) -> str:
    """The network of an interface address: ``10.1.0.5/24`` -> ``10.1.0.0/24``."""
    version, value, length = numbers(address)
    spare = (32 if version == 4 else 128) - length
    base = value >> spare << spare
    if version == 4:
        return f"{'.'.join(map(str, base.to_bytes(4, 'big')))}/{length}"
    import ipaddress  # noqa: PLC0415

    return f"{ipaddress.IPv6Address(base)}/{length}"


def host(address: str) -> str:
    """The address alone as a prefix: ``10.1.0.5/24`` -> ``10.1.0.5/32``."""
    return f"{address.partition('/')[0]}/{32 if family(address) == 4 else 128}"


def holds(outer: str, inner: str) -> bool:
    """Whether ``inner``, a prefix or an address, lies within the prefix ``outer``; equal ones do."""
    if family(outer) != family(inner):
        return False
    version, wide, length = numbers(outer)
    _version, narrow, inner_length = numbers(inner)
    spare = (32 if version == 4 else 128) - length
    return inner_length >= length and wide >> spare == narrow >> spare
