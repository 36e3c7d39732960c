# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of receive buffers in a NIC: sizes of whole cells, and priorities that may have no room."""

from __future__ import annotations

# mlx5 cuts a size down to whole cells when it is set, and tells what is left (kernel mlx5/core/en/port_buffer.c,
# port_set_buffer()). Only the device knows the cell (register SBCAM); 128 bytes without it (mlx5/core/en_dcbnl.c,
# MLX5E_BUFFER_CELL_SHIFT). These are those up to the double.
CELLS = range(16, 257, 16)


def kept(want: tuple[int, ...], have: tuple[int, ...]) -> bool:
    """Whether ``have`` are the sizes ``want``, in bytes, or what a NIC makes of them that counts in cells."""
    if want == have:
        return True
    if len(want) != len(have):
        return False
    return any(all(found == size - size % cell for size, found in zip(want, have)) for cell in CELLS)


def without_room(size: tuple[int, ...], owner: tuple[int, ...]) -> list[int]:
    """Priorities whose buffer has no byte: what arrives with them is dropped, lossless or not.

    :param size: bytes by buffer.
    :param owner: buffer by priority.
    """
    return [priority for priority, buffer in enumerate(owner) if buffer >= len(size) or not size[buffer]]
