# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""playbooks/switches.yml and switch_config on the 8-rail example: files, check mode, dumps without and with a drift."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract import checks
from tests.unit.switch.sites import ports_up

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
FILES = ["spine0.json", "spine1.yaml", "spine2.cfg", "su1-leaf0.json", "su1-leaf1.yaml", "su1-leaf2.cfg"]


def switches(output, *more):
    command = [BIN / "ansible-playbook", "-i", "inventories/example-roce-8rail", "playbooks/switches.yml"]
    command += ["-e", f"switch_config_output={output}", "--limit", "leaf_switches:spine_switches", *more]
    return subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The rendered files, and dumps of switches that have just that."""
    output, dumps = tmp_path_factory.mktemp("site") / "out", tmp_path_factory.mktemp("dumps")
    done = switches(output, "--check", "--diff")
    assert "changed=1" in done.stdout, done.stdout
    assert '"pfc_enable": "3"' in done.stdout
    assert not output.exists()
    assert switches(output).returncode == 0
    for path in output.iterdir():
        if path.suffix == ".yaml":
            (dumps / f"{path.stem}.json").write_text(json.dumps(checks.load_yaml(path)), encoding="utf-8")
        elif path.suffix == ".cfg":
            (dumps / path.name).write_text(path.read_text(encoding="utf-8") + "end\n", encoding="utf-8")
        else:
            tables = ports_up(json.loads(path.read_text(encoding="utf-8")))
            (dumps / path.name).write_text(json.dumps(tables), encoding="utf-8")
    return output, dumps


def test_switch_config_renders_the_example(site):
    output, dumps = site
    assert sorted(path.name for path in output.iterdir()) == FILES
    # Its own YAML is what another reader takes it for, and a second run changes nothing.
    assert checks.load_yaml(output / "su1-leaf1.yaml")[0]["set"]["qos"]["roce"]["enable"] == "on"
    done = switches(output, "-e", f"switch_config_dumps={dumps}")
    assert done.returncode == 0, done.stdout
    assert "changed=1" not in done.stdout
    assert done.stdout.count("the switch is as it should be") == len(FILES)


def test_a_drift_and_a_missing_dump_fail_by_name(site, tmp_path):
    output, dumps = site
    for path in dumps.iterdir():
        text = path.read_text(encoding="utf-8").replace('"pfc_enable": "3"', '"pfc_enable": "4"')
        if path.stem != "spine2":
            (tmp_path / path.name).write_text(text, encoding="utf-8")
    done = switches(output, "-e", f"switch_config_dumps={tmp_path}")
    assert done.returncode == 2
    assert "su1-leaf0: Ethernet0, Ethernet8, Ethernet16, Ethernet24, Ethernet248: pfc is 4, wanted 3" in done.stdout
    assert "spine0: Ethernet0, Ethernet8: pfc is 4, wanted 3" in done.stdout
    assert "there is no dump of this switch" in done.stdout
    assert done.stdout.count("the switch is as it should be") == len(FILES) - 3


def test_a_dump_with_pfc_on_another_priority_is_one_root_of_the_report(site, tmp_path):
    _, dumps = site
    for path in dumps.iterdir():
        text = path.read_text(encoding="utf-8")
        wrong = text.replace('"pfc_enable": "3"', '"pfc_enable": "4"') if path.stem == "su1-leaf0" else text
        (tmp_path / path.name).write_text(wrong, encoding="utf-8")
    command = [BIN / "ansible-playbook", "-i", "inventories/example-roce-8rail", "playbooks/verify.yml"]
    command += ["--limit", "gpu001", "-e", "ansible_host=127.0.0.1", "-e", "ansible_port=1"]
    command += ["-e", f"switch_config_dumps={tmp_path}", "-e", f"fabric_report_dir={tmp_path / 'report'}"]
    subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    report = json.loads((tmp_path / "report/report.json").read_text(encoding="utf-8"))
    roots = [found for found in report["findings"] if found["state"] != "pass" and not found["caused_by"]]
    switch = [found for found in roots if found["rule"].startswith("switch.")]
    assert [(found["rule"], found["device"]) for found in switch] == [("switch.pfc", "su1-leaf0")]
    assert switch[0]["state"] == "fail"
    assert (switch[0]["expected"], switch[0]["found"][:5]) == ("pfc 3", "pfc 4")
    assert switch[0]["remedy"]
