#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.fabric_check."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_check
short_description: Judges a node by its intent
version_added: 0.1.0
description:
  - Probes the node once and holds it to what it should be. It loads nothing, changes nothing and clears nothing, and
    may run under jobs.
  - What could not be read is unknown, never good. A finding that follows from another one names it in C(caused_by).
  - Rules that compare nodes run on the controller, see M(railwright.fabric.fabric_report).
author: The Railwright authors (@railwright)
attributes:
  check_mode:
    description: Reads only; the result is the same.
    support: full
  diff_mode:
    description: Changes nothing, so there is nothing to compare.
    support: none
options:
  intent:
    description:
      - What the node should be as the controller resolves it now, see M(railwright.fabric.resolve_intent). With it, the
        node's own copy must be the same.
      - Without it, the node is judged by its own copy.
    type: dict
  intent_path:
    description: The node's own copy of its intent.
    type: path
    default: /etc/railwright/intent.json
  root:
    description: Root of the tree to read. Another one than V(/) is a recorded node; then no command is run.
    type: path
    default: /
  counter_window:
    description:
      - Seconds between two samples of the error counters; what they gain meanwhile is judged. The probe runs in that
        time. V(0) does not look at counters.
    type: float
    default: 1
  detail:
    description: Looks at transceivers as well, which takes a process or two for each rail.
    type: bool
    default: false
notes:
  - Needs Python 3.9 on the node, and root.
"""

EXAMPLES = r"""
- name: Judge the node
  railwright.fabric.fabric_check:
    intent: "{{ fabric_intent }}"
  register: fabric_check_result

- name: Judge a recorded node
  railwright.fabric.fabric_check:
    root: /srv/recordings/node17
  delegate_to: localhost
"""

RETURN = r"""
state:
  description: The worst state of a finding that counts, V(pass), V(warn), V(fail) or V(unknown).
  returned: success
  type: str
findings:
  description: One finding a rule and subject, passes included.
  returned: success
  type: list
  elements: dict
facts:
  description: The part of the probe that rules across nodes need. Counters and virtual network devices stay behind.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.model.codec import encode
from ..module_utils.fabric.model.document import from_data, load
from ..module_utils.fabric.ports import LocalPort, RecordedPort
from ..module_utils.fabric.verify.local import judge_node
from ..module_utils.fabric.verify.node import slim
from ..module_utils.fabric.verify.verdict import verdict
from ..module_utils.fabric.verify.watch import watch


def main():
    module = AnsibleModule(
        argument_spec={
            "intent": {"type": "dict"},
            "intent_path": {"type": "path", "default": "/etc/railwright/intent.json"},
            "counter_window": {"type": "float", "default": 1},
            "detail": {"type": "bool", "default": False},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    given, root = module.params["intent"], module.params["root"]
    port = LocalPort() if root == "/" else RecordedPort(root)
    try:
        expected = from_data(given, "intent") if given is not None else None
    except FabricError as error:
        module.fail_json(msg=str(error))
    try:
        own = load(port, module.params["intent_path"])
    except FabricError as error:
        own = error
    target = expected or (own if not isinstance(own, FabricError) else None)
    # A recording does not count.
    window = module.params["counter_window"] if root == "/" and target is not None else 0
    facts, counted = watch(port, target, window, module.params["detail"])
    name = target.host if target is not None else facts.system.hostname or "this node"
    findings = judge_node(name, own, expected, facts, counted)
    module.exit_json(
        changed=False,
        state=verdict(findings),
        findings=[encode(finding) for finding in findings],
        facts=encode(slim(target, facts)),
    )


if __name__ == "__main__":
    main()
