# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a tool prints, its parser answers or raises ParseError, and damage never makes a result good."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.perftest import parse_perftest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ping import parse_ping

hypothesis = pytest.importorskip("hypothesis", reason="the package hypothesis is not installed")
st = hypothesis.strategies

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(FIXTURES.glob("p*/*.txt"))]
PARSERS = [parse_ping, parse_perftest]


def quiet(parser, text):
    try:
        return parser(text)
    except ParseError:
        return None


@hypothesis.given(st.sampled_from(PARSERS), st.text())
def test_any_text(parser, text):
    result = quiet(parser, text)
    assert result is None or not result.ok


@hypothesis.given(st.sampled_from(PARSERS), st.sampled_from(TEXTS), st.data())
def test_spliced_text(parser, text, data):
    at = data.draw(st.integers(0, len(text)))
    quiet(parser, text[:at] + data.draw(st.text(max_size=20)) + text[at + data.draw(st.integers(0, 20)) :])


@hypothesis.given(st.sampled_from(PARSERS), st.sampled_from(TEXTS), st.data())
def test_dropped_tail(parser, text, data):
    text = text.rstrip()
    kept = text[: data.draw(st.integers(0, len(text) - 1))]
    result = quiet(parser, kept)
    assert result is None or not result.ok
