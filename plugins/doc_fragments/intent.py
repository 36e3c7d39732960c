# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent, as setters take it."""

from __future__ import annotations


class ModuleDocFragment:
    """The option and its meaning."""

    DOCUMENTATION = r"""
options:
  intent:
    description:
      - The node's intent as the controller resolved it (see M(railwright.fabric.resolve_intent)).
      - Applied is the node's own copy, C(/etc/railwright/intent.json). When it is not the same as this one, the module
        fails and names the step that is missing. In check mode it plans from this one and says so.
      - Without it, the node's own copy is applied as it is.
    type: dict
"""
