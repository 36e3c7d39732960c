#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action plugin railwright.fabric.fabric_report, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_report
short_description: Judges the fabric as a whole and writes the report
version_added: 0.1.0
description:
  - Collects what M(railwright.fabric.fabric_check) and C(prove.yml) left in the variables of all nodes, also of those
    that were not reached or failed, and applies the rules that compare nodes.
  - Traces every finding to its root, applies the waivers of the fabric spec, and comes to one verdict.
  - Writes C(report.json), C(report.html), C(junit.xml) and C(report.prom), and prints the summary. Then it fails when
    the verdict is V(fail), and, unless told otherwise, when it is V(unknown).
  - Works on the controller only; no node is contacted. Run it once, on localhost.
author: The Railwright authors (@railwright)
attributes:
  check_mode:
    description: Judges and prints, and writes no file.
    support: full
  diff_mode:
    description: A report is no setting; there is nothing to compare.
    support: none
options:
  results:
    description: Name of the variable in which each node's result of M(railwright.fabric.fabric_check) was registered.
    type: str
    default: fabric_check_result
  earlier:
    description:
      - Names of variables in which results of earlier tasks were registered, the latest first. They say why a node has
        no result, when it dropped out.
    type: list
    elements: str
    default:
      - roce_qos_result
      - rail_network_result
      - rail_naming_result
      - node_agent_result
      - rdma_stack_completed
      - rdma_stack_installed
      - rdma_stack_result
      - node_agent_intent_result
      - preflight_host
      - preflight_info
  pairs:
    description: Name of the variable that holds each node's list of pair results. Nodes may have none.
    type: str
    default: fabric_pairs
  switch_dumps:
    description:
      - Folder with the switches' own dumps, as M(railwright.fabric.switch_config) takes them. Their differences from
        the spec are findings then, and explain what the nodes see of them.
    type: path
  report_dir:
    description:
      - Where the files go. By default C(reports/<name of the spec>) below the working directory, or with O(report) the
        folder of that document.
    type: path
  report:
    description: A C(report.json) of an earlier run. Nothing is judged then; its views are made again.
    type: path
  on_unknown:
    description: Whether the task fails when something could not be judged and nothing failed.
    type: str
    choices: [fail, pass]
    default: fail
  advisory:
    description:
      - Whether to judge without failing. C(site.yml) does so in check mode, where the nodes lack the changes that the
        run only predicts.
    type: bool
    default: false
notes:
  - Writing a report is no change of the fabric, so the task never reports one.
requirements:
  - jinja2 (on the controller)
  - jsonschema (on the controller)
seealso:
  - module: railwright.fabric.fabric_check
  - module: railwright.fabric.switch_config
"""

EXAMPLES = r"""
- name: Report
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Judge the fabric
      railwright.fabric.fabric_report:
        report_dir: /srv/reports/pod1

    - name: Make the views of an earlier run again
      railwright.fabric.fabric_report:
        report: /srv/reports/pod1/report.json
"""

RETURN = r"""
verdict:
  description: V(pass), V(warn), V(fail) or V(unknown).
  returned: always, when the fabric could be judged
  type: str
exit_code:
  description: 0 for pass and warn, 1 for fail, 2 for unknown.
  returned: always, when the fabric could be judged
  type: int
counts:
  description: Findings by state; consequences and waived ones apart.
  returned: success
  type: dict
coverage:
  description: How many nodes and pairs were judged, out of how many.
  returned: success
  type: dict
report:
  description: Path of the HTML page. In check mode it was not written.
  returned: always, when the fabric could be judged
  type: str
"""
