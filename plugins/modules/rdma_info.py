#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Module railwright.fabric.rdma_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rdma_info
short_description: Reads what a node's RDMA fabric is made of
version_added: 0.1.0
author: The Railwright authors (@railwright)
description:
  - Reads RDMA devices with their ports and GIDs, network devices and their lossless settings, PCI functions, kernel
    modules, the memlock limit and LLDP neighbours, of a live node, of a recorded tree, or from texts that somebody
    captured.
  - Changes nothing. What cannot be read is V(null), with its reason in C(unread); one tool that hangs or fails does not
    hide the rest.
options:
  root:
    description:
      - Root of the tree to read. Another one than V(/) is a recorded node, a directory on the host that the task runs
        on; then no command is run, outputs come from the file C(commands.json) in it, and what its kernel said from
        C(kernel.json).
    type: path
    default: /
  captured:
    description:
      - Texts that tools printed, by tool. What they tell is merged into RV(facts); what sysfs of O(root) tells goes
        before.
      - With O(captured) and no O(root), nothing but the texts is read.
      - A text that its parser does not know fails the task, naming the tool, the line and its number.
    type: dict
    suboptions:
      ibv_devinfo:
        description: Output of C(ibv_devinfo), with or without C(-v).
        type: str
      rdma_link:
        description: Output of C(rdma link show), with or without C(-j).
        type: str
      rdma_dev:
        description: Output of C(rdma dev show), with or without C(-j).
        type: str
      ibv_devices:
        description: Output of C(ibv_devices).
        type: str
      ibstat:
        description: Output of C(ibstat).
        type: str
      ibstatus:
        description: Output of C(ibstatus).
        type: str
      show_gids:
        description: Output of C(show_gids).
        type: str
      ibdev2netdev:
        description: Output of C(ibdev2netdev), without C(-v).
        type: str
      ip_address:
        description: Output of C(ip -j -d address show).
        type: str
      lldpcli:
        description: Output of C(lldpcli -f json0 show neighbors), or of C(-f json).
        type: str
      lsmod:
        description: Output of C(lsmod), or the text of C(/proc/modules).
        type: str
      ulimit:
        description: Output of C(ulimit -a).
        type: str
      netdevs:
        description:
          - Texts about the lossless settings of single network devices. Keys are their names, values are dictionaries
            of texts by tool.
          - Tools are V(mlnx_qos), V(ethtool_a) (C(ethtool -a)), and V(dcb_app), V(dcb_apptrust), V(dcb_buffer),
            V(dcb_dcbx), V(dcb_ets) and V(dcb_pfc) (C(dcb <object> show dev), with or without C(-j)).
        type: dict
  detail:
    description:
      - Also read the counters of RDMA ports, the firmware of network devices (one more process each), and the GPUs and
        other accelerators.
    type: bool
    default: false
attributes:
  check_mode:
    description: Reads only; the result is the same.
    support: full
  diff_mode:
    description: Changes nothing, so there is nothing to compare.
    support: none
notes:
  - Needs Python 3.9 on the node. Without root, LLDP neighbours and some firmware are missing.
seealso:
  - module: railwright.fabric.fabric_check
"""

EXAMPLES = r"""
- name: Read the node
  railwright.fabric.rdma_info:
  register: node

- name: Show the rate of each port
  ansible.builtin.debug:
    msg: "{{ item.0.name }} port {{ item.1.number }}: {{ item.1.rate_gbps }} Gbit/s"
  loop: "{{ node.facts.rdma | subelements('ports') }}"
  loop_control:
    label: "{{ item.0.name }}"

- name: Read a recorded node, with counters
  railwright.fabric.rdma_info:
    root: /srv/recordings/node17
    detail: true
  delegate_to: localhost

- name: Read the outputs of a support case
  railwright.fabric.rdma_info:
    captured:
      ibv_devinfo: "{{ lookup('ansible.builtin.file', 'case/ibv_devinfo.txt') }}"
      show_gids: "{{ lookup('ansible.builtin.file', 'case/show_gids.txt') }}"
  delegate_to: localhost
"""

RETURN = r"""
facts:
  description:
    - What the node is. Keys that could not be read are V(null).
    - Speeds are in Gbit/s (C(rate_gbps)) or Mbit/s (C(speed_mbps)), MTUs in bytes. The rate of a port that is
      physically down is V(null), since drivers keep an old one there.
    - C(qos) holds the lossless settings of every physical Ethernet device that is not management's - DCBX, trust, the
      map of DSCPs, ETS, PFC, buffers, pause, ECN. What a driver does not have is V(null), too.
    - C(management) names the network devices that carry a default route or this session; they are never touched.
    - C(memlock) is the hard limit of a login session, V(unlimited), kbytes, or V(default) when no file names one.
  returned: success
  type: dict
  sample:
    schema: 1
    system: {hostname: node01, kernel: 6.1.0-30-amd64, distribution: debian, network_manager: systemd-networkd}
    management: [eno1]
    pci: [{address: "0000:18:00.0", vendor: "0x15b3", device: "0x1021", driver: mlx5_core, slot: "1", numa: 0}]
    netdevs: [{name: enp24s0np0, mtu: 9000, carrier: true, pci: "0000:18:00.0", addresses: [10.0.0.1/24]}]
    rdma:
      - name: mlx5_0
        firmware: 28.43.2026
        node_guid: "0xb8cef60300010000"
        driver: mlx5_core
        soft: false
        pci: "0000:18:00.0"
        pcie_path: 0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0
        numa: 0
        ports:
          - number: 1
            state: ACTIVE
            physical_state: LinkUp
            link_layer: Ethernet
            rate_gbps: 400.0
            active_mtu: 4096
            netdev: enp24s0np0
            gids: [{index: 3, gid: "0000:0000:0000:0000:0000:ffff:0a00:0001", kind: RoCE v2, netdev: enp24s0np0}]
    memlock: unlimited
    unread: [{source: rdma -j link show, reason: rdma did not return within 5 s, subject: rdma}]
"""

import json

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.model.codec import encode
from ..module_utils.fabric.model.facts import NodeFacts
from ..module_utils.fabric.ports import LocalPort, RecordedPort
from ..module_utils.fabric.probe.node import probe

# Those of probe.captured, which is imported with a dozen parsers only when there is a text for one.
TOOLS = (
    "ibv_devinfo",
    "rdma_link",
    "ibstat",
    "ibstatus",
    "show_gids",
    "rdma_dev",
    "ibdev2netdev",
    "ibv_devices",
    "ip_address",
    "lldpcli",
    "lsmod",
    "ulimit",
)


def _texts(captured):
    """Texts by tool. One that is JSON comes as what it stands for when a template made it."""
    if not isinstance(captured, dict):
        return captured
    return {tool: text if isinstance(text, str) else json.dumps(text) for tool, text in captured.items()}


def main():
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "captured": {
                "type": "dict",
                "options": {**{tool: {"type": "str"} for tool in TOOLS}, "netdevs": {"type": "dict"}},
            },
            "detail": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    root = module.params["root"]
    texts = {tool: text for tool, text in (module.params["captured"] or {}).items() if text is not None}
    netdevs = {name: _texts(captured) for name, captured in texts.pop("netdevs", {}).items()}
    try:
        if (texts or netdevs) and root == "/":
            facts = NodeFacts()
        else:
            facts = probe(LocalPort() if root == "/" else RecordedPort(root), module.params["detail"])
        if texts or netdevs:
            from ..module_utils.fabric.probe.captured import merge_captured  # noqa: PLC0415

            facts = merge_captured(facts, texts, netdevs)
    except FabricError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, facts=encode(facts))


if __name__ == "__main__":
    main()
