# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a table of rules: facts, intent, and what the rule must say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.local import check_local

from tests.unit.verify import nodes


def row(rule, state, facts, *words, rail="rail0", name="", soft=False, **changes):
    """One row. ``changes`` are fields of the first rail's intent; ``node`` is a whole intent in its place."""
    node = changes.pop("node", None) or wanted(soft, **changes)
    return pytest.param(
        rule, state, rail, node, facts, words, marks=pytest.mark.rule(rule, state), id=f"{rule}-{name or state}"
    )


def wanted(soft=False, **changes):
    """The intent of node 1, its first rail changed."""
    have = nodes.intent(soft=soft)
    return replace(have, rails=(replace(have.rails[0], **changes), *have.rails[1:]))


def judged(rule, node, facts):
    """All findings of one rule."""
    return [item for item in check_local(node, facts) if item.rule == rule]


def check(rule, state, rail, node, facts, words):
    """The rule says about the rail what the row says."""
    (found,) = [item for item in judged(rule, node, facts) if item.rail == rail]
    text = f"{found.found} | {found.expected} | {found.cause} | {found.remedy}"
    assert (found.state, [word for word in words if word not in text]) == (state, []), text
    if state in ("fail", "warn"):
        assert all((found.host, found.expected, found.found, found.cause, found.remedy))


def pci(have, rail=0, **changes):
    """The facts with fields of one rail's PCI function changed."""
    items = tuple(replace(item, **changes) if n == rail else item for n, item in enumerate(have.pci))
    return replace(have, pci=items)


def rdma(have, rail=0, **changes):
    """The facts with fields of one rail's RDMA device changed."""
    items = tuple(replace(item, **changes) if n == rail else item for n, item in enumerate(have.rdma))
    return replace(have, rdma=items)
