# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The third way of use: an AWX job on the lab's nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import awx_job

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.lab


def test_site_as_an_awx_job(converged_lab, tmp_path):
    """site.yml on a converged fabric, through ansible-runner with AWX's environment: nothing to change."""
    done = awx_job.run(tmp_path / "runner", "site.yml", ROOT / "inventories/lab")
    said = (tmp_path / "runner/artifacts/1/stdout").read_text(encoding="utf-8")
    assert done.status == "successful", said[-4000:]
    assert done.stats["changed"] == {}, said[-4000:]
    assert done.stats["failures"] == {}
    assert done.stats["dark"] == {}
    assert len(done.stats["ok"]) >= 2
