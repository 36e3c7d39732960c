#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.rail_network."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rail_network
short_description: Sets MTU and addresses of a node's rails
version_added: 0.1.0
description:
  - Brings MTU and addresses of every rail to what the node's intent says, on the live link and for every boot to come,
    through systemd-networkd. A setting that was changed by hand is found and put back.
  - Only links of rails are touched, and only those that differ. The result is looked at afterwards. If it is not as
    wanted within a bound of time, the files are put back and the module fails.
  - A rail whose netdev carries the management of the node is refused, and so is a change under a running job.
author: The Railwright authors (@railwright)
extends_documentation_fragment:
  - railwright.fabric.setter
  - railwright.fabric.intent
options:
  allow_disruption:
    description: Whether a change may interrupt processes that use the rail's RDMA device.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Configure the rails
  railwright.fabric.rail_network:
"""

RETURN = r"""
steps:
  description: What was changed, or would be in check mode, one setting a line. C(after) names an earlier step.
  returned: success
  type: list
  elements: str
  sample: ["rail0: MTU of ens1 1500 -> 4200 [the link is configured again: RDMA connections over it may break]"]
before:
  description: The changed settings as they were found.
  returned: success
  type: dict
after:
  description: The changed settings as they are wanted.
  returned: success
  type: dict
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.apply.concerns import apply_network
from ..module_utils.fabric.probe.management import session_address
from ..module_utils.setter import result, run_setter, setter_intent


def main():
    module = AnsibleModule(
        argument_spec={"intent": {"type": "dict"}, "allow_disruption": {"type": "bool", "default": False}},
        supports_check_mode=True,
    )

    def work(port, lock, check):
        intent, depends_on = setter_intent(module, port)
        plan = apply_network(
            port,
            intent,
            lock=lock,
            check=check,
            allow_disruption=module.params["allow_disruption"],
            session=session_address(os.environ.get("SSH_CONNECTION")),
        )
        return plan, result(plan, depends_on)

    run_setter(module, work, "rail_network")


if __name__ == "__main__":
    main()
