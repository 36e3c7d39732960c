#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.rail_network."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rail_network
short_description: Configures the network of a node's rails
version_added: 0.1.0
description:
  - Brings the links of every rail to what the node's intent says, now and for every boot to come. That is bonds, VLANs,
    MTU, addresses, the rail's own routing table with its rule, routes through its gateway, kernel parameters, and what
    firewalld or ufw must let in. A setting that was changed by hand is found and put back.
  - It is told to the program that owns the node's network, which is systemd-networkd, netplan, NetworkManager or
    ifupdown. Files of others are not touched. One of them that wins at the next boot is named in a warning.
  - Only links of rails are touched, and only those that differ. The result is looked at afterwards. If it is not as
    wanted within a bound of time, the files are put back and the module fails.
  - A rail whose netdev carries the management of the node is refused, and so is a change under a running job.
  - A change that leads the way to the controller astray is taken back at once. Any other that cuts the node off is
    undone by the node itself after 30 seconds, or 45 when the module does not come to its end, because then the action
    plugin of the same name cannot confirm it over a new connection. The next run says so. Without a change there is no
    second call.
author: The Railwright authors (@railwright)
extends_documentation_fragment:
  - railwright.fabric.setter
  - railwright.fabric.intent
options:
  allow_disruption:
    description: Whether a change may interrupt processes that use the rail's RDMA device.
    type: bool
    default: false
  confirm:
    description: The change to keep. Set by the action plugin, in its second call.
    type: str
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
confirm:
  description: The change that waits for its confirmation. The action plugin confirms it and leaves this out.
  returned: when something was changed
  type: str
confirm_within:
  description: After how many seconds the node undoes the change otherwise. Left out by the action plugin as well.
  returned: when something was changed
  type: float
"""

import os
from contextlib import nullcontext

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.apply.concerns import apply_network
from ..module_utils.fabric.apply.safety import (
    CONFIRM_S,
    Safety,
    confirm,
    forget_undone,
    last_undone,
    settle_pending,
)
from ..module_utils.fabric.model.plan import Plan
from ..module_utils.fabric.probe.management import client_address, own_connection, session_address
from ..module_utils.setter import result, run_setter, setter_intent


def main():
    module = AnsibleModule(
        argument_spec={
            "intent": {"type": "dict"},
            "allow_disruption": {"type": "bool", "default": False},
            "confirm": {"type": "str"},
        },
        supports_check_mode=True,
    )
    if module.params["confirm"] is not None:
        run_setter(module, lambda port, lock, check: _confirm(module, port, lock), "rail_network")

    def work(port, lock, check):
        intent, depends_on = setter_intent(module, port)
        connection = os.environ.get("SSH_CONNECTION") or own_connection(port)
        watch = Safety(port, intent.spec_hash, client_address(connection), confirm=True)
        undone = last_undone(port)
        if undone:
            module.warn(undone)
        with nullcontext() if check else lock:
            if not check:
                settle_pending(port)
            plan = apply_network(
                port,
                intent,
                check=check,
                allow_disruption=module.params["allow_disruption"],
                session=session_address(connection),
                watch=watch,
            )
            if not check and not plan.steps:
                forget_undone(port)
        waits = {"confirm": watch.token, "confirm_within": CONFIRM_S} if watch.token is not None else {}
        return plan, {**result(plan, depends_on), **waits}

    run_setter(module, work, "rail_network")


def _confirm(module, port, lock):
    with lock:
        undone = confirm(port, module.params["confirm"])
    if undone:
        module.fail_json(msg=undone)
    return Plan("network"), {}


if __name__ == "__main__":
    main()
