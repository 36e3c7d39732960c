# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the field cases are: outputs from real sites, which are not part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_ROOT = Path(os.environ.get("RAILWRIGHT_CASES") or Path(__file__).parents[2].parent / "shared" / "cases")


def case(name: str) -> str:
    """Text of a case such as ``ibstat/cx6-lx-down-disabled.txt``; skips the test where the cases are not there."""
    if not _ROOT.is_dir():
        pytest.skip("the field cases are not here (set RAILWRIGHT_CASES)")
    return (_ROOT / name).read_text(encoding="utf-8")
