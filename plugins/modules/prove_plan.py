#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action plugin railwright.fabric.prove_plan, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: prove_plan
short_description: Plan which nodes probe which peers
version_added: 0.1.0
description:
  - Plans a proof of the fabric over those hosts of the play that M(railwright.fabric.fabric_check) could judge. Up to
    32 nodes every pair is probed on every rail, beyond that each node probes 31 peers a rail, and the share is stated.
  - Bandwidth goes around a ring, so that each node is client once and server once on every rail.
  - The other hosts of the play are not probed; the pairs with them are part of the result all the same.
  - Works on the controller only; no node is contacted and nothing changes. Run it once.
author: The Railwright authors (@railwright)
options:
  results:
    description: Name of the variable in which each node's result of M(railwright.fabric.fabric_check) was registered.
    type: str
    default: fabric_check_result
attributes:
  check_mode:
    description: Can run in check mode; the result is the same.
    support: full
  diff_mode:
    description: Changes nothing, so there is nothing to compare.
    support: none
requirements:
  - jsonschema (on the controller)
seealso:
  - module: railwright.fabric.fabric_prove
"""

EXAMPLES = r"""
- name: Plan who probes whom
  railwright.fabric.prove_plan:
  run_once: true
  register: prove_plan
"""

RETURN = r"""
nodes:
  description: For each node the file on the controller that holds its part, for M(railwright.fabric.fabric_prove).
  returned: success
  type: dict
  sample: {"node1": "/root/.ansible/tmp/ansible-local-1234/railwright-proof-abcd/node1.json"}
coverage:
  description: How many of all pairs are probed, in words.
  returned: success
  type: str
  sample: all 4 of 4 pairs and rails
notes:
  description: What is left out, and why.
  returned: success
  type: list
  elements: str
  sample: ["rail0: the spec gives node7 no address, so nothing is sent there"]
"""
