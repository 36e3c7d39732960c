#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.roce_qos."""

from __future__ import annotations

DOCUMENTATION = r"""
module: roce_qos
short_description: Sets what keeps the RoCE of a node's rails lossless
version_added: 0.1.0
description:
  - Brings the NICs of every rail whose fabric has C(qos) to what the node's intent says. That is trust, the map from
    DSCP to priority, traffic classes and ETS, PFC, cable length, receive buffers, global pause, and ECN, CNPs and
    parameters of DCQCN. Beside the NICs it sets the ToS and GID type of RDMA-CM and, where the driver has one, the
    default traffic class of all queue pairs. A rail without C(qos) is left alone.
  - What is there is read first, and only what differs is written, by the interface that the NIC's driver offers. It is
    iproute2's C(dcb), the files of MLNX_OFED and DOCA-OFED, C(mlnx_qos), or the driver's debugfs. All ports of a bond
    are set. The result is looked at afterwards, and when it is not as wanted the former values are put back.
  - A changed PFC makes the link flap, which check mode says. It comes last and once a link, and is refused under a
    running job.
  - When somebody else owns the settings, be it lldpad, the NIC's firmware or kernel lockdown, the module refuses with a
    remedy, unless the fabric's C(qos.host) says to take them.
  - A rail that is refused or fails keeps no other rail from its settings. The module fails and names it and the reason,
    beside what was changed on the others.
  - All of it is gone after a reboot. The node agent brings it back from the intent.
author: The Railwright authors (@railwright)
extends_documentation_fragment:
  - railwright.fabric.setter
  - railwright.fabric.intent
options:
  state:
    description:
      - With V(present) the rails get their settings.
      - With V(absent) all RoCE rails get the driver's defaults back, the map from DSCP to priority is emptied, PFC and
        RDMA-CM's ToS are turned off, and the agent does not bring the settings again until the next V(present).
    type: str
    choices: [present, absent]
    default: present
  allow_disruption:
    description: Whether a change may interrupt processes that use the rail's RDMA device.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Make the rails lossless
  railwright.fabric.roce_qos:

- name: Give the defaults back
  railwright.fabric.roce_qos:
    state: absent
"""

RETURN = r"""
steps:
  description: What was changed, or would be in check mode, one setting a line. C(after) names an earlier step.
  returned: success
  type: list
  elements: str
  sample: ["rail0: trust pcp -> dscp", "rail0: PFC none -> priority 3 [the link flaps]"]
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

from ..module_utils.fabric.apply.concerns import apply_qos
from ..module_utils.fabric.probe.management import own_connection, session_address
from ..module_utils.setter import result, run_setter, setter_intent


def main():
    module = AnsibleModule(
        argument_spec={
            "intent": {"type": "dict"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "allow_disruption": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )

    def work(port, lock, check):
        intent, depends_on = setter_intent(module, port)
        plan = apply_qos(
            port,
            intent,
            absent=module.params["state"] == "absent",
            lock=lock,
            check=check,
            allow_disruption=module.params["allow_disruption"],
            session=session_address(os.environ.get("SSH_CONNECTION") or own_connection(port)),
        )
        return plan, result(plan, depends_on)

    run_setter(module, work, "roce_qos")


if __name__ == "__main__":
    main()
