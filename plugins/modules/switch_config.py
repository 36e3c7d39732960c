#!/usr/bin/python
# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action plugin railwright.fabric.switch_config, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: switch_config
short_description: Render the lossless configuration of leaf and spine switches, and read it back
version_added: 0.1.0
author: The Railwright authors (@railwright)
description:
  - Resolves, for every host of the groups C(leaf_switches) and C(spine_switches), what its ports need for the fabric -
    trust, DSCP map, queues, PFC, ECN thresholds, ETS shares, MTU, PFC watchdog, buffers. All of it follows from
    C(fabric_spec), the nodes and the switches' own variables, which schemas/fabric_spec.schema.json describes.
  - Writes one file a switch for review - C(<switch>.json), a fragment of SONiC's config_db; C(<switch>.yaml), a patch
    for Cumulus Linux' NVUE; C(<switch>.cfg), lines for Arista EOS. Nothing is sent to a switch.
  - Where a leaf's C(switch_ports) are not listed, they are taken from the LLDP neighbours in the nodes'
    C(fabric_facts).
  - With O(dumps), each switch's own dump is held against what it should be, difference by difference.
  - Works on the controller only. Run it once.
options:
  output:
    description: Folder to write the configurations to, relative to the current directory.
    type: path
    required: true
  dumps:
    description:
      - Folder with one dump a switch, C(<switch>.json) or any other suffix, relative to the current directory.
      - SONiC - C(/etc/sonic/config_db.json) or C(sonic-cfggen -d --print-data). Cumulus Linux -
        C(nv config show -o json). EOS - C(show running-config all), as text or with C(| json).
    type: path
attributes:
  check_mode:
    description: Writes nothing, and says what would be written; dumps are read all the same.
    support: full
  diff_mode:
    description: Shows the difference of every file.
    support: full
requirements:
  - jsonschema (on the controller)
"""

EXAMPLES = r"""
- name: Render the switches' configurations
  railwright.fabric.switch_config:
    output: switches
  run_once: true

- name: Render them, and hold the switches' dumps against them
  railwright.fabric.switch_config:
    output: switches
    dumps: dumps
  run_once: true
  register: switches
"""

RETURN = r"""
written:
  description: Files that were written.
  returned: success
  type: list
  elements: str
  sample: [switches/su1-leaf0.json]
same:
  description: Files that hold this configuration already.
  returned: success
  type: list
  elements: str
  sample: []
switches:
  description: For each switch its operating system, role, file, and what is at the other end of its ports.
  returned: success
  type: dict
  sample:
    su1-leaf0:
      os: sonic
      role: leaf
      file: switches/su1-leaf0.json
      ports: {Ethernet0: gpu001 rail0, Ethernet248: spine0}
notes:
  description: Rails that should end on a leaf, and that none of its ports leads to.
  returned: success
  type: list
  elements: str
  sample: ["su1-leaf0: no port leads to gpu004 rail0, which should end here"]
differences:
  description:
    - Every setting of a dump that is not as wanted, once for all ports of a switch that have it so. C(found) is null
      where the dump does not tell.
  returned: with O(dumps)
  type: list
  elements: dict
  sample:
    - switch: su1-leaf0
      ports: [Ethernet0]
      setting: pfc
      number: null
      wanted: "3"
      found: "4"
unread:
  description: Switches that could not be judged, and why.
  returned: with O(dumps)
  type: dict
  sample: {"su1-leaf1": "dumps/su1-leaf1.*: there is no dump of this switch"}
findings:
  description: For each switch its differences in words, or why it could not be judged; empty for one that is right.
  returned: with O(dumps)
  type: dict
  sample: {"su1-leaf0": ["su1-leaf0: Ethernet0: pfc is 4, wanted 3"], "spine0": []}
"""
