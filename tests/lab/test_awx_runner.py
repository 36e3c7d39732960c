# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The third way of use: an AWX job on the lab's nodes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tools import awx_job

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.lab


@pytest.fixture
def short():
    """A folder like AWX's own, /runner: the connections' sockets below it must fit into 108 bytes."""
    with tempfile.TemporaryDirectory(prefix="rw-") as folder:
        yield Path(folder)


def test_site_as_an_awx_job(converged_lab, short):
    """site.yml on a converged fabric, through ansible-runner with AWX's environment: nothing to change."""
    done = awx_job.run(short / "runner", "site.yml", ROOT / "inventories/lab")
    said = (short / "runner/artifacts/1/stdout").read_text(encoding="utf-8")
    assert done.status == "successful", said[-4000:]
    assert done.stats["changed"] == {}, said[-4000:]
    assert done.stats["failures"] == {}
    assert done.stats["dark"] == {}
    assert len(done.stats["ok"]) >= 2
