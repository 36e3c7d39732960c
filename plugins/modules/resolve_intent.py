#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action plugin railwright.fabric.resolve_intent, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: resolve_intent
short_description: Resolve the fabric spec into the intent of nodes
version_added: 0.1.0
author: The Railwright authors (@railwright)
description:
  - Holds the variable C(fabric_spec), the hardware profiles and the hosts' variables against the schema and against
    each other, and resolves what each node should be.
  - Works on the controller only; no node is contacted and nothing changes.
options:
  scope:
    description:
      - V(site) resolves all hosts of the group C(gpu_nodes) at once, whether they are in the play or not, and finds
        what only all together can tell, such as an address that two hosts have. Run it once.
      - V(host) gives the intent of the task's host.
    type: str
    choices: [site, host]
    default: host
  intents:
    description:
      - What RV(intents) of scope V(site) returned earlier in the run. Without it, the host is resolved from its own
        variables.
    type: path
  facts:
    description:
      - What M(railwright.fabric.rdma_info) found on the node. With it, the rails are bound to the node's hardware, and
        the task fails when they do not match.
    type: dict
attributes:
  check_mode:
    description: Can run in check mode; the result is the same.
    support: full
  diff_mode:
    description: Shows what would change.
    support: none
requirements:
  - jsonschema (on the controller)
"""

EXAMPLES = r"""
- name: Judge the spec with all hosts
  railwright.fabric.resolve_intent:
    scope: site
  run_once: true
  register: site

- name: Resolve this host and hold its hardware against it
  railwright.fabric.resolve_intent:
    intents: "{{ site.intents }}"
    facts: "{{ fabric_facts }}"
  register: resolved
"""

RETURN = r"""
intents:
  description: Where the intents of all nodes are kept for the rest of the run.
  returned: for O(scope=site)
  type: str
  sample: /root/.ansible/tmp/ansible-local-1234/railwright-intents-abcd
nodes:
  description: Number of nodes that were resolved.
  returned: for O(scope=site)
  type: int
  sample: 2
intent:
  description: What the node should be, the document behind C(/etc/railwright/intent.json).
  returned: for O(scope=host), when the node can be that
  type: dict
  sample: {"schema": 1, "host": "node1", "unit": "su1"}
rails:
  description: Which hardware carries which rail.
  returned: when O(facts) is given and the node matches
  type: list
  elements: dict
  sample: [{"rail": "rail0", "pci": "0000:18:00.0", "netdev": "eth0", "rdma": "mlx5_0", "addresses": "10.0.0.1/24"}]
problems:
  description: What keeps the node from being what it should be.
  returned: when O(facts) is given
  type: list
  elements: str
  sample: []
override:
  description: YAML to paste into the host's variables when a NIC was replaced, or empty.
  returned: when O(facts) is given
  type: str
  sample: ""
"""
