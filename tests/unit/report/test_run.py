# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""fabric_check and fabric_report under Ansible, on recorded nodes and on nodes that are not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.unit import trees

pytest.importorskip("ansible")
ROOT = Path(__file__).resolve().parents[3]
SPEC = {
    "schema": 1,
    "name": "recorded",
    "fabrics": {"compute": {"transport": "roce", "link": {"speed": "1G", "host_mtu": 4200}}},
    "rails": [{"name": "rail0", "fabric": "compute"}, {"name": "rail1", "fabric": "compute"}],
    "units": {"su1": {f"rail{n}": {"subnet": f"10.{n + 1}.0.0/24", "leaf": f"leaf{n}"} for n in range(2)}},
    "addressing": {"mode": "pool"},
}
PROFILE = {
    "model": "lab",
    "soft_roce": True,
    "rails": {f"rail{n}": {"ports": [{"pci": f"0000:0{n + 1}:00.0"}]} for n in range(2)},
}
PLAY = """
- hosts: gpu_nodes
  gather_facts: false
  tasks:
    - railwright.fabric.resolve_intent: {scope: site}
      run_once: true
      register: site
    - railwright.fabric.resolve_intent: {intents: "{{ site.intents }}"}
      register: resolved
    - ansible.builtin.copy:
        content: "{{ resolved.intent | to_json }}"
        dest: "{{ tree }}/etc/railwright/intent.json"
      check_mode: false
    - railwright.fabric.fabric_check: {root: "{{ tree }}", intent: "{{ resolved.intent }}"}
      register: fabric_check_result
- hosts: localhost
  gather_facts: false
  tasks:
    - railwright.fabric.fabric_report: {report_dir: "{{ reports }}"}
      register: report
    - ansible.builtin.debug: {var: report}
"""


def inventory(folder, **variables):
    hosts = {
        f"node{number}": {
            "fabric_node_id": number,
            "tree": str(folder / f"tree{number}"),
            "ansible_python_interpreter": sys.executable,
            **variables,
        }
        for number in (1, 2)
    }
    groups = {name: {"hosts": dict.fromkeys(hosts)} for name in ("gpu_nodes", "su1", "hw_lab")}
    data = {"all": {"hosts": hosts, "vars": {"fabric_spec": SPEC, "fabric_profile": PROFILE}, "children": groups}}
    (folder / "hosts.json").write_text(json.dumps(data))
    return folder / "hosts.json"


def play(folder, book, *more, **variables):
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_NOCOLOR": "1",
        "COLUMNS": "110",
    }
    hosts = inventory(folder, **variables)
    argv = [sys.executable, "-m", "ansible", "playbook", "-i", str(hosts), str(book), *more]
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def recorded(tmp_path):
    for number in (1, 2):
        root = trees.soft_roce(tmp_path / f"tree{number}", number)
        (root / "etc/railwright").mkdir()
    (tmp_path / "play.yml").write_text(PLAY)
    return tmp_path


def run(folder, *more):
    extra = ("-e", json.dumps({"reports": str(folder / "out")}), *more)
    return play(folder, folder / "play.yml", *extra, ansible_connection="local")


def test_healthy_nodes_pass_and_check_mode_writes_nothing(recorded):
    done = run(recorded, "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS  recorded: no fault on 2 nodes" in done.stdout
    assert done.stdout.count("changed=1") == 2, "the copy of the intent is the only change"
    assert not (recorded / "out").exists()


def test_what_cannot_be_judged_fails_the_run_after_the_report(recorded):
    trees.hang(recorded / "tree2", trees.RDMA)
    before = time.time()
    done = run(recorded)
    assert done.returncode == 2
    assert "unknown: 1 thing that could not be judged on 2 nodes" in done.stdout
    document = json.loads((recorded / "out/report.json").read_text())
    assert [item["key"] for item in document["findings"] if not item["caused_by"]] == ["host.probe@node2/-"]
    # The run began with Ansible, not with its last task; clock ticks and whole seconds blur both ends.
    started, finished = (datetime.fromisoformat(document[key]).timestamp() for key in ("started", "finished"))
    assert before - 2 < started < finished <= time.time()
    written = sorted(path.name for path in (recorded / "out").iterdir())
    assert written == ["junit.xml", "report.html", "report.json", "report.prom"]


def test_verify_reports_when_no_node_can_be_reached(tmp_path):
    """The real playbooks: nobody listens on port 1, and yet there is a report, whose views can be made again."""
    out = tmp_path / "out"
    extra = json.dumps({"fabric_report_dir": str(out)})
    unreachable = {"ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_connection": "ssh"}
    done = play(tmp_path, ROOT / "playbooks/verify.yml", "-e", extra, **unreachable)
    assert done.returncode == 2, done.stdout + done.stderr
    document = json.loads((out / "report.json").read_text())
    roots = [item["key"] for item in document["findings"] if not item["caused_by"]]
    assert roots == ["host.reachable@node1/-", "host.reachable@node2/-"]
    assert "refused" in document["hosts"]["node1"]["message"]
    limited = play(tmp_path, ROOT / "playbooks/verify.yml", "-e", extra, "--limit", "node2", **unreachable)
    assert limited.returncode == 2, "a limited run has a verdict like any other"
    document = json.loads((out / "report.json").read_text())
    assert [item["key"] for item in document["findings"] if not item["caused_by"]] == ["host.reachable@node2/-"]
    assert "0 of 2 nodes judged, 1 unreachable, 1 left out of this run" in limited.stdout
    (out / "report.html").unlink()
    again = play(tmp_path, ROOT / "playbooks/report.yml", "-e", json.dumps({"fabric_report": str(out / "report.json")}))
    assert again.returncode == 2
    assert "1 fault on 1 node" in again.stdout
    assert (out / "report.html").exists()
