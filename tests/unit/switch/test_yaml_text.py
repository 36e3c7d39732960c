# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What is written as YAML is what another reader reads."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.render.yaml_text import dump
from hypothesis import given, settings
from hypothesis import strategies as st

yaml = pytest.importorskip("yaml")

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12) | st.sampled_from(
    [
        "on",
        "Off",
        "no",
        "y",
        "null",
        "~",
        "12",
        "0x1f",
        "1:30",
        "a: b",
        "- x",
        "#",
        "'",
        '"',
        "swp1s0",
        "default-global",
    ]
)
SCALARS = TEXT | st.integers(-(10**9), 10**9)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(TEXT, TREES, max_size=5) | st.lists(st.dictionaries(TEXT, TREES, min_size=1), max_size=3))
@settings(max_examples=200, deadline=None)
def test_another_reader_reads_the_same(value: object) -> None:
    assert yaml.safe_load(dump(value)) == value


def test_words_that_are_no_words_are_quoted() -> None:
    assert dump({"enable": "on", "3": {"mode": "dwrr", "bw-percent": 50}}) == (
        '---\nenable: "on"\n"3": {mode: dwrr, bw-percent: 50}\n'
    )
