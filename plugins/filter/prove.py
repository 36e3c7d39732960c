# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Filters of the proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DOCUMENTATION = r"""
name: with_servers
short_description: Give failed bandwidth results the reason that their server knows
version_added: 0.1.0
author: The Railwright authors (@railwright)
description:
  - A client only sees that nobody answers. Where the server's node said why its test server does not listen, the
    client's result takes over that reason.
positional: hostvars
options:
  _input:
    description: Results of the phase C(measure) of M(railwright.fabric.fabric_prove).
    type: list
    elements: dict
    required: true
  hostvars:
    description: The variables of all hosts; C(prove_served) of a server's host is read.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Say why a server did not answer
  ansible.builtin.set_fact:
    fabric_pairs: "{{ prove_measured.pairs | railwright.fabric.with_servers(hostvars) }}"
"""

RETURN = r"""
_value:
  description: The results.
  type: list
  elements: dict
"""


def with_servers(pairs: list[dict[str, Any]], hostvars: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Replace reason and error of the pairs whose server's own node knows better."""
    return [_explained(pair, hostvars) if pair["reason"] == "no_server" else pair for pair in pairs]


def _explained(pair: dict[str, Any], hostvars: Mapping[str, Any]) -> dict[str, Any]:
    known = hostvars.get(pair["peer"], {})
    served = known["prove_served"].get("served", []) if "prove_served" in known else []
    for server in served:
        if server["error"] and server["client"] == pair["host"] and server["rail"] == pair["rail"]:
            # A test server that did not start is a failed test; what the peer could not do is not measured.
            return {**pair, "reason": server["reason"], "error": f"{pair['peer']}: {server['error']}"}
    return pair


class FilterModule:
    """Filters by name."""

    def filters(self) -> dict[str, Any]:
        return {"with_servers": with_servers}
