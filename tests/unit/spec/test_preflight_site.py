# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's part of preflight through ansible-playbook itself: messages, exit codes, no node contacted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ansible")

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLE = REPOSITORY / "inventories" / "example-roce-8rail"
BUSES = ("18", "40", "4f", "5e", "5f", "9a", "ce", "dc", "e4")
PLAYBOOK = """
- hosts: gpu_nodes
  gather_facts: false
  tasks:
    - railwright.fabric.resolve_intent: {scope: site}
      run_once: true
      register: site
    - railwright.fabric.resolve_intent: {intents: "{{ site.intents }}"}
      register: node
    - ansible.builtin.copy:
        dest: "{{ out }}/{{ inventory_hostname }}.json"
        content: "{{ node.intent | to_json }}"
        mode: "0644"
      check_mode: false
      delegate_to: localhost
      when: out is defined
"""


def play(inventory: Path, folder: Path, *arguments: str, playbook: str = PLAYBOOK) -> subprocess.CompletedProcess[str]:
    file = folder / "play.yml"
    file.write_text(playbook, encoding="utf-8")
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(REPOSITORY / "ansible.cfg"),
        # The directory of the interpreter, so that a run never picks up another Ansible.
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_NOCOLOR": "true",
    }
    command = ["ansible-playbook", "-i", str(inventory), str(file), *arguments]
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "site"))


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")


@pytest.mark.parametrize("check", [pytest.param((), marks=pytest.mark.full), ("--check",)])
def test_a_good_site_resolves_the_same_in_check_mode(tmp_path: Path, check: tuple[str, ...]) -> None:
    # None of these hosts exists: contacting one would fail.
    done = play(EXAMPLE, tmp_path, "-e", f"out={tmp_path}", *check)
    assert done.returncode == 0, done.stdout + done.stderr
    intent = json.loads((tmp_path / "gpu004.json").read_text(encoding="utf-8"))
    assert (intent["unit"], intent["node_id"]) == ("su1", 14)
    assert intent["rails"][3]["ports"][0]["match"][0]["pci"] == "0000:5f:00.0"
    assert intent["rails"][7]["addresses"] == ["10.17.1.14/24"]


FABRIC, HOSTS, HARDWARE = "group_vars/all/fabric.yml", "hosts.yml", "group_vars/hw_hgx8.yml"


def rarely(*case: str) -> object:
    """Each run of ansible-playbook takes seconds: what the schema's own tests see, the full run sees through it."""
    return pytest.param(*case, marks=pytest.mark.full)


@pytest.mark.parametrize(
    ("file", "before", "after", "expected"),
    [
        (
            FABRIC,
            "fabric_spec:",
            "other_spec:",
            "fabric_spec: the fabric spec is not defined. Write it to group_vars/all",
        ),
        (FABRIC, "  rails:", "  rials:", "fabric_spec: unknown key rials. Did you mean rails?"),
        (
            HOSTS,
            "fabric_node_id: 12",
            "fabric_node_id: 11",
            "gpu002: fabric_node_id: gpu001 has this number in unit",
        ),
        (HARDWARE, '"0000:18:00.0"', "0000:18:00.0", "YAML read an unquoted PCI address as a number (found '1080.0')"),
        rarely(FABRIC, "    su2:", "    2:", "fabric_spec.units: YAML read a key as a whole number (found '2')"),
        rarely(FABRIC, "host_mtu: 9000", "host_mtu: big", "link.host_mtu: a whole number is expected (found 'big')"),
        rarely(FABRIC, "host_mtu: 9000", "host_mtu: 300", "RoCE needs an MTU of at least 352 bytes (found '300')"),
        rarely(FABRIC, "10.10.1.0/24", "10.10.1.7/24", "units.su1.rail0.subnet: this subnet has host bits set"),
        rarely(FABRIC, "schema: 1", "schema: 2", "this version of Railwright knows schema 1 only (found '2')"),
        rarely(HOSTS, "fabric_node_id: 12", "fabric_node_id: x", "gpu002: fabric_node_id: a whole number is expected"),
        rarely(HOSTS, "        su1:", "        su9:", "gpu001: the host is in no unit. Put it into one group"),
        rarely(HOSTS, "gpu005: {", "gpu001: {", "gpu001: the host is in two units (found 'su1, su2')"),
        rarely(HARDWARE, '{pci: "0000:18:00.0"}', "{mac: 52:54:00:00:01:01}", 'Quote it: mac: "52:54:00:00:01:01"'),
        rarely(HARDWARE, "    rail7:", "    rail9:", "has no NIC for this rail (found 'rail7'). Add rail7"),
    ],
)
def test_bad_input_fails_once_and_before_any_node(
    site: Path, file: str, before: str, after: str, expected: str
) -> None:
    edit(site / file, before, after)
    done = play(site, site.parent)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout.count("fatal:") == 1
    assert expected in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("file", ["group_vars/all/fabric.yml", "host_vars/gpu002.yml"])
def test_invalid_yaml_is_refused_with_its_place(site: Path, file: str) -> None:
    path = site / file
    path.parent.mkdir(exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.write_text("\n".join([*lines, "  open: 'a' b"]), encoding="utf-8")
    done = play(site, site.parent)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "YAML parsing failed" in said
    assert f"Origin: {path.resolve()}:{len(lines) + 1}:" in said


def test_templated_variables_are_read_as_what_they_become(site: Path) -> None:
    edit(
        site / "hosts.yml", "gpu002: {fabric_node_id: 12}", 'gpu002: {number: 99, fabric_node_id: "{{ number | int }}"}'
    )
    done = play(site, site.parent, "-e", f"out={site.parent}", "--limit", "gpu002")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((site.parent / "gpu002.json").read_text(encoding="utf-8"))["node_id"] == 99


def test_hardware_is_judged_node_by_node(site: Path) -> None:
    nics = [{"address": f"0000:{bus}:00.0", "vendor": "15b3", "device": "1021"} for bus in BUSES]
    moved = [{**nic, "address": "0000:50:00.0"} if "4f" in nic["address"] else nic for nic in nics]
    facts = {"system": {"distribution": "ubuntu", "release": "24.04"}, "netdevs": [], "rdma": []}
    for name, pci in (("gpu001", [nic for nic in moved if "5f" not in nic["address"]]), ("all", nics)):
        folder = site / ("host_vars" if name == "gpu001" else "group_vars") / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "facts.yml").write_text(json.dumps({"node_facts": {**facts, "pci": pci}}), encoding="utf-8")
    playbook = PLAYBOOK.replace('{{ site.intents }}"}', '{{ site.intents }}", facts: "{{ node_facts }}"}')
    done = play(site, site.parent, "-e", f"out={site.parent}", "--limit", "gpu001,gpu008", playbook=playbook)
    text = " ".join(done.stdout.split())
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout.count("fatal:") == 1
    assert (
        "rail rail2: no NIC with PCI address 0000:4f:00.0 on this node; free NICs are 0000:50:00.0 (15b3:1021)" in text
    )
    assert 'fabric_devices: rail2: ports: - {pci: "0000:50:00.0"}' in text
    assert not (site.parent / "gpu001.json").exists()
    assert (site.parent / "gpu008.json").exists()


@pytest.mark.full
def test_a_variable_that_cannot_be_templated_is_named(site: Path) -> None:
    edit(site / "hosts.yml", "gpu002: {fabric_node_id: 12}", 'gpu002: {fabric_node_id: "{{ nowhere }}"}')
    done = play(site, site.parent)
    assert done.returncode == 2
    assert "gpu002: fabric_node_id: the variable cannot be templated" in done.stdout


def test_all_hosts_count_and_not_only_those_of_the_play(site: Path) -> None:
    edit(site / "hosts.yml", "fabric_node_id: 12", "fabric_node_id: 11")
    done = play(site, site.parent, "--limit", "gpu008")
    assert done.returncode == 2
    assert "gpu002: fabric_node_id: gpu001 has this number" in done.stdout


@pytest.mark.full
def test_the_whole_site_is_judged_in_linear_time(site: Path) -> None:
    def seconds(count: int) -> float:
        # The site's waiver is for gpu007.
        names = ("gpu007", *(f"n{number}" for number in range(1, count)))
        half = "\n".join(f"            {name}: {{fabric_node_id: {number + 2}}}" for number, name in enumerate(names))
        (site / "hosts.yml").write_text(
            f"all:\n  children:\n    gpu_nodes:\n      children:\n        su1:\n          hosts:\n{half}\n"
            "    hw_hgx8:\n      children:\n        gpu_nodes:\n",
            encoding="utf-8",
        )
        started = time.monotonic()
        done = play(
            site, site.parent, playbook=PLAYBOOK.partition("    - railwright.fabric.resolve_intent: {intents")[0]
        )
        assert done.returncode == 0, done.stdout[-2000:]
        return time.monotonic() - started

    small, large = seconds(25), seconds(250)
    assert large < 10 * small
