#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.rdma_stack."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rdma_stack
short_description: Sets up the RDMA driver stack of a node
version_added: 0.1.0
description:
  - Loads the kernel modules that the node's intent names, now and at boot, keeps modules of RDMA storage that it does
    not name from being loaded at boot, lifts the limit of locked memory for login sessions and for the services that
    start jobs and containers, without a restart of them, and creates the soft RoCE devices of rails that have one.
  - Packages are not installed here. The module says which of O(packages) are missing, and changes nothing until they
    are there.
author: The Railwright authors (@railwright)
extends_documentation_fragment:
  - railwright.fabric.setter
  - railwright.fabric.intent
options:
  packages:
    description: Packages that the driver stack consists of, by the names of the node's distribution.
    type: list
    elements: str
    default: []
  memlock_services:
    description: Names of systemd services that need the limit of locked memory beside the known ones.
    type: list
    elements: str
    default: []
  allow_disruption:
    description: Whether a step may interrupt processes that use the rail's RDMA device.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Set up the driver stack
  railwright.fabric.rdma_stack:
    packages: [rdma-core, ibverbs-providers, ibverbs-utils]
"""

RETURN = r"""
steps:
  description: What was changed, or would be in check mode, one setting a line. C(after) names an earlier step.
  returned: success
  type: list
  elements: str
  sample: ["kernel: module rdma_rxe (none) -> loaded", "rail0: soft RoCE device (none) -> rxe_rail0 on ens1"]
before:
  description: The changed settings as they were found.
  returned: success
  type: dict
after:
  description: The changed settings as they are wanted.
  returned: success
  type: dict
missing_packages:
  description: Which of O(packages) are not installed. As long as there are any, nothing is changed.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.apply.concerns import apply_stack
from ..module_utils.fabric.model.plan import Plan
from ..module_utils.setter import result, run_setter, setter_intent


def main():
    module = AnsibleModule(
        argument_spec={
            "intent": {"type": "dict"},
            "packages": {"type": "list", "elements": "str", "default": []},
            "memlock_services": {"type": "list", "elements": "str", "default": []},
            "allow_disruption": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )

    def work(port, lock, check):
        intent, depends_on = setter_intent(module, port)
        plan, missing = apply_stack(
            port,
            intent,
            module.params["packages"],
            units=module.params["memlock_services"],
            lock=lock,
            check=check,
            allow_disruption=module.params["allow_disruption"],
        )
        if missing and not check:
            plan = Plan("stack")
        return plan, {**result(plan, depends_on), "missing_packages": list(missing)}

    run_setter(module, work, "rdma_stack")


if __name__ == "__main__":
    main()
