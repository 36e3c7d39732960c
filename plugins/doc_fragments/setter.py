# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What all setters document alike."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes and the intent."""

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

    INTENT = r"""
options:
  intent:
    description:
      - The node's intent as the controller resolved it (see M(railwright.fabric.resolve_intent)).
      - Applied is the node's own copy, C(/etc/railwright/intent.json). When it is not the same as this one, the module
        fails and names the step that is missing. In check mode it plans from this one and says so.
      - Without it, the node's own copy is applied as it is.
    type: dict
"""
