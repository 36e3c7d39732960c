# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Read a node through one I/O port."""

from __future__ import annotations

from .node import probe

__all__ = ["probe"]
