#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.node_intent."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_intent
short_description: Writes what a node should be
version_added: 0.1.0
description:
  - Writes the node's resolved intent to C(/etc/railwright/intent.json), atomically. This is the first thing that a run
    writes. All setters and the agent apply from that file, so that a run of one role can never leave a stale intent
    for the next boot to restore.
author: The Railwright authors (@railwright)
extends_documentation_fragment: railwright.fabric.setter
options:
  intent:
    description: The node's intent as the controller resolved it (see M(railwright.fabric.resolve_intent)).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Write the intent
  railwright.fabric.node_intent:
    intent: "{{ fabric_intent }}"
"""

RETURN = r"""
steps:
  description: The settings that change with the intent, one a line.
  returned: success
  type: list
  elements: str
  sample: ["rail0: host_mtu 1500 -> 4200"]
before:
  description: The changed settings as they were found.
  returned: success
  type: dict
after:
  description: The changed settings as they are wanted.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.apply.intent import apply_intent
from ..module_utils.fabric.model.document import from_data
from ..module_utils.setter import run_setter


def main():
    module = AnsibleModule(argument_spec={"intent": {"type": "dict", "required": True}}, supports_check_mode=True)

    def work(port, lock, check):
        return apply_intent(port, from_data(module.params["intent"], "intent"), lock, check), {}

    run_setter(module, work, "node_intent")


if __name__ == "__main__":
    main()
