# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that undoes a change, as the node runs it: alone, below another interpreter, with nothing of the core."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply import undo as program
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.undo import undo


@pytest.fixture
def site(tmp_path):
    """A folder with a record that is due, of a file that was changed, one that is new, and two commands."""
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_text("after", encoding="utf-8")
    new.write_text("after", encoding="utf-8")
    record = {
        "token": "t",
        "boot": Path(program.BOOT_ID).read_text(encoding="utf-8").strip(),
        "deadline": time.monotonic() - 1,
        "intent": "x",
        "steps": ["rail0: MTU"],
        "files": {str(kept): {"data": base64.b64encode(b"before").decode(), "mode": 0o640}, str(new): None},
        "commands": [
            {"argv": ["touch", str(tmp_path / "ran")], "timeout": 5, "allowed": [0]},
            {"argv": ["false"], "timeout": 5, "allowed": [0]},
        ],
    }
    write(tmp_path, record)
    return tmp_path, record


def write(folder, record):
    (folder / program.RECORD).write_text(json.dumps(record), encoding="utf-8")


def again(folder):
    return undo(str(folder), lock=str(folder / "lock"))


def test_files_and_commands(site):
    folder, _ = site
    outcome = again(folder)
    assert (folder / "kept").read_text(encoding="utf-8") == "before"
    assert (folder / "kept").stat().st_mode & 0o777 == 0o640
    assert not (folder / "new").exists()
    assert (folder / "ran").exists()
    assert outcome["failed"] == ["false: exit code 1: "]
    assert json.loads((folder / program.OUTCOME).read_text(encoding="utf-8")) == outcome
    assert not (folder / program.RECORD).exists()
    assert again(folder) is None


def test_before_the_deadline_nothing_is_due(site):
    folder, record = site
    write(folder, {**record, "deadline": time.monotonic() + 60})
    assert again(folder) is None
    assert (folder / "new").exists()
    assert undo(str(folder), force=True, lock=str(folder / "lock")) is not None


def test_after_a_reboot_it_is_due_whatever_the_clock_says(site):
    folder, record = site
    write(folder, {**record, "boot": "another", "deadline": time.monotonic() + 60})
    assert again(folder) is not None


@pytest.mark.parametrize("damage", ["", "{"])
def test_damaged_record(site, damage):
    folder, _ = site
    (folder / program.RECORD).write_text(damage, encoding="utf-8")
    assert again(folder) is None


def test_commands_that_hang_or_are_missing_do_not_end_the_rest(site, tmp_path):
    folder, record = site
    commands = [
        {"argv": ["sleep", "60"], "timeout": 0.1, "allowed": [0]},
        {"argv": ["no-such-tool"], "timeout": 5, "allowed": [0]},
        {"argv": ["touch", str(tmp_path / "last")], "timeout": 5, "allowed": [0]},
    ]
    write(folder, {**record, "commands": commands})
    assert len(again(folder)["failed"]) == 2
    assert (tmp_path / "last").exists()


def test_it_runs_alone_and_later(site, tmp_path):
    folder, record = site
    write(folder, {**record, "deadline": time.monotonic() + 0.3})
    copy = tmp_path / "undo.py"
    text = Path(program.__file__).read_text(encoding="utf-8")
    copy.write_text(text.replace('"/run/railwright.lock"', repr(str(tmp_path / "lock"))), encoding="utf-8")
    started = time.monotonic()
    subprocess.run([sys.executable, "-IS", str(copy), "--after", "0.5", str(folder)], check=True, timeout=20)
    end = started + 20
    while not (folder / program.OUTCOME).exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert (folder / "kept").read_text(encoding="utf-8") == "before"
