# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A change that cuts a node off is undone by the node itself, and the run, or the next one, says what happened."""

from __future__ import annotations

import copy
import json
import re
import time

import pytest
import yaml

from tests.lab.conftest import ROOT

pytestmark = [pytest.mark.lab, pytest.mark.full]
SPEC = yaml.safe_load((ROOT / "inventories/lab/group_vars/all/fabric.yml").read_text(encoding="utf-8"))["fabric_spec"]
CONTROLLER = "10.0.2.2"  # as nodes see it: the host side of QEMU's user network
RECORD = "/var/lib/railwright/undo/record.json"


def other_spec(folder, change):
    """The arguments that run a playbook with a changed copy of the lab's spec."""
    spec = copy.deepcopy(SPEC)
    change(spec)
    path = folder / "spec.json"
    path.write_text(json.dumps({"fabric_spec": spec}), encoding="utf-8")
    return ("-e", f"@{path}")


def astray(spec):
    """The controller is a part of what rail0 reaches by its gateway."""
    spec["units"]["su1"]["rail0"].update(subnet="10.0.2.64/26", gateway="10.0.2.126", aggregate="10.0.2.0/25")


def smaller(spec):
    spec["fabrics"]["compute"]["link"]["host_mtu"] = 4196


def mtu(converged, node):
    return int(converged.lab.run(node, [f"cat /sys/class/net/{converged.netdev(node, 'rail0')}/mtu"]).stdout)


def test_a_route_that_leads_the_controller_astray_is_taken_back(converged_lab, tmp_path):
    began = time.monotonic()
    played = converged_lab.playbook("site.yml", *other_spec(tmp_path, astray), check=False)
    assert played.rc != 0
    assert f"the way back to the controller {CONTROLLER}" in " ".join(played.out.split())
    for node in ("node1", "node2"):
        way = converged_lab.lab.run(node, [f"ip route get {CONTROLLER}"]).stdout
        assert "dev mgmt0" in way
    assert time.monotonic() - began < 180
    again = converged_lab.playbook("site.yml")
    assert again.report["verdict"] == "pass"


# From the node's side the controller is gone as soon as a change waits for its confirmation, and for a minute.
GONE = f"until test -e {RECORD}; do sleep 0.05; done; systemctl stop ssh; pkill -9 sshd; sleep 60; systemctl start ssh"


def test_a_controller_that_is_gone_confirms_nothing(converged_lab, tmp_path):
    lab = converged_lab.lab
    lab.run("node1", [f"systemd-run --quiet --collect --unit gone sh -c '{GONE}'"])
    played = converged_lab.playbook("site.yml", *other_spec(tmp_path, smaller), check=False)
    assert played.rc != 0
    assert re.search(r"^node1 .*unreachable=1", played.out, re.MULTILINE), played.out[-3000:]
    lab.wait_ssh("node1")
    assert lab.run("node1", [f"test -e {RECORD}"], check=False).returncode == 1
    assert (mtu(converged_lab, "node1"), mtu(converged_lab, "node2")) == (4200, 4196)
    played = converged_lab.playbook("site.yml")
    assert "was undone" in " ".join(played.out.split())
    assert played.report["verdict"] == "pass"
