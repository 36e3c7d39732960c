# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""playbooks/discover.yml, rdma_info and write_discovery, from recorded nodes to an inventory for the resolver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit import trees

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}


def ansible(*argv):
    command = [str(BIN / argv[0]), *map(str, argv[1:])]
    return subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """An inventory of two recorded nodes and one that cannot be reached; the nodes' own addresses agree."""
    folder = tmp_path_factory.mktemp("nodes")
    hosts = {}
    for number in (1, 2):
        nics = [replace(nic, gid_table=8) for nic in trees.rail_nics(number)]
        tree = trees.eight_rails(folder / f"gpu{number}", host=number, nics=nics)
        hosts[f"gpu{number}"] = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "discover_root": str(tree),
        }
    hosts["gpu3"] = {"ansible_host": "127.0.0.1", "ansible_port": 1}
    inventory = folder / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
    return inventory


def discover(nodes, output, *more):
    return ansible("ansible-playbook", "-i", nodes, "playbooks/discover.yml", "-e", f"discover_output={output}", *more)


def test_discover_and_write_discovery(nodes, tmp_path):
    output = tmp_path / "site"
    done = discover(nodes, output, "--check")
    assert "changed=1" in done.stdout, done.stdout
    assert not output.exists()

    done = discover(nodes, output)
    assert "Not read: gpu3" in done.stdout, done.stdout
    assert sorted(path.relative_to(output).as_posix() for path in output.rglob("*.yml")) == [
        "group_vars/all/fabric.yml",
        "group_vars/hw_poweredge_xe9680.yml",
        "hosts.yml",
    ]
    assert "gpu2: {fabric_node_id: 2}" in (output / "hosts.yml").read_text(encoding="utf-8")

    mine = (output / "hosts.yml").read_text(encoding="utf-8") + "# mine\n"
    (output / "hosts.yml").write_text(mine, encoding="utf-8")
    again = discover(nodes, output)
    assert "changed=1" not in again.stdout, again.stdout
    assert "hosts.yml differs from what was discovered and was kept" in " ".join(again.stderr.split()), again.stderr
    assert (output / "hosts.yml").read_text(encoding="utf-8") == mine

    resolved = ansible("ansible", "gpu1", "-i", output, "-m", "railwright.fabric.resolve_intent", "-a", "scope=site")
    assert "nodes: 2" in resolved.stdout, resolved.stdout
