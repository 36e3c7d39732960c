# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A change that cuts a node off is undone by the node itself, and the run, or the next one, says what happened."""

from __future__ import annotations

import copy
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from tests.lab.conftest import ROOT
from tests.lab.test_site import kill_at

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


def waits(converged, node):
    """Whether a change of the node waits for its confirmation."""
    return converged.lab.run(node, [f"test -e {RECORD}"], check=False).returncode == 0


def test_a_controller_that_is_gone_confirms_nothing(converged_lab, tmp_path):
    # The node itself waits, from the beginning: a change is confirmed within seconds, and to log in takes as long.
    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(converged_lab.lab.run, "node1", [f"until test -e {RECORD}; do sleep 0.1; done"], timeout=240)
        task = "rail_network : Configure the rails"
        kill_at(converged_lab, task, seen.result, other_spec(tmp_path, smaller), after=0)
    deadline = time.monotonic() + 90
    while waits(converged_lab, "node1"):
        assert time.monotonic() < deadline, "the change still waits for its confirmation"
        time.sleep(2)
    assert mtu(converged_lab, "node1") == 4200
    played = converged_lab.playbook("site.yml")
    assert "was undone" in " ".join(played.out.split())
    assert played.report["verdict"] == "pass"
