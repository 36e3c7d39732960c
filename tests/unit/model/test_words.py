# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Values as people read them."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.words import spans


@pytest.mark.parametrize(
    ("numbers", "text"), [((), ""), ((7,), "7"), ((24, 25, 27), "24-25 27"), ((0, 2, 3, 4), "0 2-4")]
)
def test_spans(numbers, text):
    assert spans(numbers) == text
