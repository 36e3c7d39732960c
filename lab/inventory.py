"""The nodes as an Ansible dynamic inventory."""

from __future__ import annotations

import shlex
from typing import Any

from .config import Config
from .keys import locate, port, ssh_options
from .topology import RAIL_PCI, RAILS, management_mac, node_number, rail_mac

GROUPS = ("gpu_nodes", "su1", "hw_lab")


def inventory(config: Config) -> dict[str, Any]:
    """What ``--list`` prints; it depends on the settings only, so the lab need not be up."""
    variables = {
        node: {
            "ansible_host": "127.0.0.1",
            "ansible_port": port(config, node),
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(locate(config).client),
            "ansible_ssh_common_args": shlex.join(ssh_options(config)),
            "ansible_python_interpreter": "/usr/bin/python3",
            "fabric_node_id": node_number(node),
            "lab_management_mac": management_mac(node),
            "lab_rails": {rail: {"mac": rail_mac(node, rail), "pci": RAIL_PCI[rail]} for rail in RAILS},
        }
        for node in config.node_names
    }
    groups = {group: {"hosts": config.node_names} for group in GROUPS}
    return {"_meta": {"hostvars": variables}, **groups}
