#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.fabric_prove."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_prove
short_description: Carries out a node's part of a proof of the fabric
version_added: 0.1.0
description:
  - Loads the fabric on request, with full-size packets that must not be fragmented, or with a bandwidth test a rail.
  - Nothing is sent from a rail that lacks its address, or whose route to the peer leaves by another network device.
  - A node whose RDMA resources are used by other processes takes no part, unless O(prove_force) is set.
  - On rails with C(qos), the NICs' counters by priority tell where the packets of a test went, and whether any was
    dropped there. A second, short test by RDMA-CM that asks for no traffic class shows the same of its default.
  - Test servers end by themselves; none outlives its bound of time, even when the controller is gone.
author: The Railwright authors (@railwright)
attributes:
  check_mode:
    description: Says what would be probed, and sends nothing.
    support: full
  diff_mode:
    description: Changes nothing, so there is nothing to compare.
    support: none
options:
  phase:
    description:
      - V(mtu) probes each peer on each rail with full-size packets, and with small ones where those are lost.
      - V(serve) starts the test servers of this node and returns when they listen.
      - V(measure) runs this node's bandwidth tests against the servers of its peers, one rail after the other.
    type: str
    choices: [mtu, serve, measure]
    required: true
  work:
    description: This node's part, see M(railwright.fabric.prove_plan).
    type: dict
    required: true
  intent:
    description: What the node should be. Without it, the node's own copy says so.
    type: dict
  prove_force:
    description: Whether to load a node whose RDMA resources are in use.
    type: bool
    default: false
notes:
  - Needs Python 3.9 on the node, and root. The node needs iputils ping, iproute2 with C(rdma), and perftest.
seealso:
  - module: railwright.fabric.prove_plan
  - module: railwright.fabric.fabric_report
"""

EXAMPLES = r"""
- name: Send full-size packets to every peer on every rail
  railwright.fabric.fabric_prove:
    phase: mtu
    work: "{{ prove_plan.nodes[inventory_hostname] }}"
  register: prove_mtu
"""

RETURN = r"""
pairs:
  description: One result a peer and rail, as the report takes them. Device, GID and netdev are what was really used.
  returned: success, in phase V(mtu) and V(measure)
  type: list
  elements: dict
  sample:
    - {kind: mtu, host: node1, peer: node2, rail: rail0, peer_rail: rail0, expected: 4200, value: 4200, netdev: ens2}
    - {kind: bandwidth, host: node1, peer: node2, rail: rail0, peer_rail: rail0, expected: 0.015, value: 0.0188,
       device: rxe_rail0, gid: "0000:0000:0000:0000:0000:ffff:0a64:0001", netdev: ens2}
    - {kind: class, host: node1, peer: node2, rail: rail0, peer_rail: rail0, expected: 3, value: 3}
served:
  description: One entry a test server. An error says why it does not listen.
  returned: success, in phase V(serve)
  type: list
  elements: dict
  sample: [{client: node2, rail: rail0, port: 18600, error: "", reason: ""}]
refused:
  description: Why the node took no part; empty when it did.
  returned: success
  type: str
planned:
  description: What would be sent, in words.
  returned: in check mode
  type: list
  elements: str
  sample: ["rail0: 4200 bytes from 10.100.0.1 to node2 (10.100.0.2)"]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.model.codec import decode, encode
from ..module_utils.fabric.model.document import from_data, load
from ..module_utils.fabric.ports import LocalPort
from ..module_utils.fabric.probe.node import probe
from ..module_utils.fabric.prove.node import prove_node
from ..module_utils.fabric.prove.servers import LocalStarter
from ..module_utils.fabric.prove.work import NodeWork, announce


def main():
    module = AnsibleModule(
        argument_spec={
            "phase": {"type": "str", "choices": ["mtu", "serve", "measure"], "required": True},
            "work": {"type": "dict", "required": True},
            "intent": {"type": "dict"},
            "prove_force": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    port, phase, given = LocalPort(), module.params["phase"], module.params["intent"]
    try:
        work = decode(NodeWork, module.params["work"], "work")
        if module.check_mode:
            module.exit_json(changed=False, pairs=[], served=[], refused="", planned=announce(work, phase))
        intent = from_data(given, "intent") if given is not None else load(port)
        outcome = prove_node(
            port, LocalStarter(), intent, probe(port), work, phase=phase, force=module.params["prove_force"]
        )
    except FabricError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, **encode(outcome))


if __name__ == "__main__":
    main()
