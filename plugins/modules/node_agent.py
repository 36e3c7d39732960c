#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.node_agent."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_agent
short_description: Installs the node agent
version_added: 0.1.0
description:
  - Installs the core of Railwright as one executable file, C(/usr/local/sbin/railwright), built for the interpreter
    that this module runs under, and the unit that puts the node's intent in force at boot.
  - The action plugin of the same name packs the sources on the controller. It sends their digest first, and the sources
    only when the node has another build, so that a run without change is one small remote call.
author: The Railwright authors (@railwright)
extends_documentation_fragment: railwright.fabric.setter
options:
  digest:
    description: SHA-256 of the packed sources. Set by the action plugin.
    type: str
  sources:
    description: The packed sources, base64. Set by the action plugin when the node needs them.
    type: str
"""

EXAMPLES = r"""
- name: Install the agent
  railwright.fabric.node_agent:
"""

RETURN = r"""
steps:
  description: What was changed, or would be in check mode, one setting a line.
  returned: success
  type: list
  elements: str
  sample: ["agent: program /usr/local/sbin/railwright (none) -> build 4ab1 for /usr/bin/python3.11 (cpython-311)"]
before:
  description: The changed settings as they were found.
  returned: success
  type: dict
after:
  description: The changed settings as they are wanted.
  returned: success
  type: dict
sources_needed:
  description: Whether the node has another build and O(sources) was not given, so that nothing was changed.
  returned: success
  type: bool
"""

import base64

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.apply.agent import apply_agent
from ..module_utils.setter import run_setter


def main():
    module = AnsibleModule(
        argument_spec={"digest": {"type": "str"}, "sources": {"type": "str"}},
        required_by={"sources": "digest"},
        supports_check_mode=True,
    )
    if module.params["digest"] is None:
        module.fail_json(msg="node_agent runs through its action plugin, which packs the sources on the controller")

    def work(port, lock, check):
        sources = module.params["sources"]
        packed = base64.b64decode(sources) if sources else None
        plan, needed = apply_agent(port, module.params["digest"], packed, lock, check)
        return plan, {"sources_needed": needed}

    run_setter(module, work, "node_agent")


if __name__ == "__main__":
    main()
