# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One at a time: who holds the lock is named, and a holder that died holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.lock import locked
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ApplyError


def test_held_lock_names_its_holder(tmp_path):
    path = str(tmp_path / "lock")
    slept = []
    with locked("railwright apply", path=path):
        second = locked("Ansible module rail_network", 1.0, path, slept.append)
        with pytest.raises(ApplyError, match=rf"at work on this node already.*railwright apply, process {os.getpid()}"):
            second.__enter__()
        assert sum(slept) == pytest.approx(1.0)
    with locked("Ansible module rail_network", 0.0, path):
        assert "rail_network" in (tmp_path / "lock").read_text()


def test_lock_that_may_not_be_taken_says_how(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ApplyError, match=r"cannot be taken: Not a directory.*become"),
        locked("me", path=str(tmp_path / "file" / "lock")),
    ):
        pass


def test_lock_of_a_dead_process_is_free(tmp_path):
    path = str(tmp_path / "lock")
    code = f"import fcntl, os; fcntl.flock(os.open({path!r}, os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX); os._exit(1)"
    subprocess.run([sys.executable, "-c", code], check=False)
    with locked("railwright apply", 0.0, path):
        pass


def test_lock_that_is_let_go_meanwhile(tmp_path):
    path = str(tmp_path / "lock")
    first = locked("first", path=path)
    first.__enter__()
    with locked("second", 5.0, path, lambda seconds: first.__exit__(None, None, None)):
        pass
