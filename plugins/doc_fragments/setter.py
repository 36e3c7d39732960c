# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What all setters document alike."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes and notes."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    description: Computes the plan that a run would carry out, and carries out none of it.
    support: full
  diff_mode:
    description: Returns each changed setting before and after, in words of the field.
    support: full
notes:
  - Needs Python 3.9 on the node, and root.
  - Whatever changes a node holds the lock C(/run/railwright.lock), shared with the agent C(railwright apply).
"""
