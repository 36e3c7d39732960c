# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""A client's result takes over what only its server's node knows."""

from __future__ import annotations

from ansible_collections.railwright.fabric.plugins.filter.prove import with_servers

PAIR = {"host": "node1", "peer": "node2", "rail": "rail0", "reason": "no_server", "error": "Couldn't connect"}


def served(**changes):
    entry = {"client": "node1", "rail": "rail0", "port": 18600, "error": "no memory", "reason": "no_server", **changes}
    return {"node2": {"prove_served": {"served": [entry]}}}


def test_the_servers_reason_wins():
    pair = with_servers([PAIR], served(reason="in_use"))[0]
    assert (pair["reason"], pair["error"]) == ("in_use", "node2: no memory")


def test_only_the_failed_server_of_this_very_pair_counts():
    for other in (served(client="node3"), served(rail="rail1"), served(error=""), {"node2": {}}, {}):
        assert with_servers([PAIR], other) == [PAIR]
    good = {**PAIR, "reason": None, "error": None}
    assert with_servers([good], served()) == [good]
