#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.rail_naming."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rail_naming
short_description: Names the network and RDMA devices of a node's rails
version_added: 0.1.0
description:
  - Gives the netdevs and RDMA devices of rails the names that the node's intent holds, by PCI address, MAC or GUID. It
    writes .link files for systemd's udev and rules for rdma-core's C(rdma_rename), so the names are there from the next
    boot on. An initramfs that names the NICs is made anew.
  - A device that carries another name now keeps it until then, and a warning says so, unless O(live) is set.
  - The management link is never renamed. A name that belongs to another device, or that the kernel may give by itself,
    is refused. Where the intent holds no names, only files of an earlier spec are removed.
author: The Railwright authors (@railwright)
extends_documentation_fragment:
  - railwright.fabric.setter
  - railwright.fabric.intent
options:
  live:
    description:
      - Whether devices get their names now. Before Linux 6.2 a link goes down for it, and what was set on it by hand
        may be lost; the module M(railwright.fabric.rail_network) puts addresses and routes back.
    type: bool
    default: false
  rebuild_initramfs:
    description:
      - Whether an initramfs that would give the old names is made anew. Otherwise a warning says that it must be.
    type: bool
    default: true
  allow_disruption:
    description: Whether a device may be renamed while processes use the rail's RDMA device.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Name the devices of the rails from the next boot on
  railwright.fabric.rail_naming:

- name: Name them now
  railwright.fabric.rail_naming:
    live: true
"""

RETURN = r"""
steps:
  description: What was changed, or would be in check mode, one setting a line. C(after) names an earlier step.
  returned: success
  type: list
  elements: str
  sample: ["rail0: name of netdev ens1f0np0 at boot (none) -> rail0 from the next boot on"]
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

from ..module_utils.fabric.apply.naming import apply_naming
from ..module_utils.fabric.probe.management import session_address
from ..module_utils.setter import result, run_setter, setter_intent


def main():
    module = AnsibleModule(
        argument_spec={
            "intent": {"type": "dict"},
            "live": {"type": "bool", "default": False},
            "rebuild_initramfs": {"type": "bool", "default": True},
            "allow_disruption": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )

    def work(port, lock, check):
        intent, depends_on = setter_intent(module, port)
        plan = apply_naming(
            port,
            intent,
            live=module.params["live"],
            rebuild=module.params["rebuild_initramfs"],
            lock=lock,
            check=check,
            allow_disruption=module.params["allow_disruption"],
            session=session_address(os.environ.get("SSH_CONNECTION")),
        )
        return plan, result(plan, depends_on)

    run_setter(module, work, "rail_naming")


if __name__ == "__main__":
    main()
