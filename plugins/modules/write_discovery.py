#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action plugin railwright.fabric.write_discovery, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: write_discovery
short_description: Writes an inventory of discovered nodes
version_added: 0.1.0
author: The Railwright authors (@railwright)
description:
  - Turns what M(railwright.fabric.rdma_info) found on the hosts of the play into an inventory, C(hosts.yml) with units
    and node numbers, one hardware profile C(group_vars/hw_<model>.yml) per kind of node, and a first
    C(group_vars/all/fabric.yml).
  - Rails are proposed from RDMA-capable NICs that do not carry management, InfiniBand before Ethernet, each in the
    order of PCI addresses. Nodes that share leaf switches by LLDP are one unit. What needs a decision is
    marked C(EDIT).
  - Works on the controller only. Run it once.
options:
  facts_from:
    description:
      - Variable that each host registered the result of M(railwright.fabric.rdma_info) in, read with
        O(railwright.fabric.rdma_info#module:detail=true) where hints about GPUs are wanted.
    type: str
    required: true
  output:
    description: Folder of the inventory to write, relative to the current directory.
    type: path
    required: true
  soft_roce:
    description: Take plain Ethernet NICs that do not carry management, for nodes without RDMA hardware.
    type: bool
    default: false
  overwrite:
    description: Replace files that differ. Otherwise they are kept, and a warning names them.
    type: bool
    default: false
attributes:
  check_mode:
    description: Writes nothing, and says what would be written.
    support: full
  diff_mode:
    description: Shows the difference of every file, kept ones included.
    support: full
"""

EXAMPLES = r"""
- name: Read the node
  railwright.fabric.rdma_info:
    detail: true
  register: discovered

- name: Write the inventory
  railwright.fabric.write_discovery:
    facts_from: discovered
    output: inventories/pod1
  run_once: true
"""

RETURN = r"""
written:
  description: Files that were written.
  returned: success
  type: list
  elements: str
  sample: [inventories/pod1/hosts.yml]
kept:
  description: Files that differ from what was discovered and were left as they are.
  returned: success
  type: list
  elements: str
  sample: []
same:
  description: Files that hold what was discovered already.
  returned: success
  type: list
  elements: str
  sample: []
missing:
  description: Hosts of the play that could not be read.
  returned: success
  type: list
  elements: str
  sample: []
nodes:
  description: What was discovered.
  returned: success
  type: list
  elements: dict
  sample: [{"host": "node1", "model": "poweredge_xe9680", "unit": "su1", "rails": 8}]
"""
