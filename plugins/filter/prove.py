# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Filters of the proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..module_utils.fabric.model.codec import decode, encode
from ..module_utils.fabric.prove.work import NodeWork, unsent

DOCUMENTATION = r"""
name: proof
short_description: Put the results of a node's part of a proof together
version_added: 0.1.0
author: The Railwright authors (@railwright)
description:
  - Every pair of the plan has a result. What a node that dropped out on the way did not send is named as not run.
  - A client only sees that nobody answers. Where the server's node said why its test server does not listen, the
    client's result takes over that reason.
positional: mtu, measured, hostvars
options:
  _input:
    description: The node's part, see M(railwright.fabric.prove_plan).
    type: dict
    required: true
  mtu:
    description: What the phase C(mtu) of M(railwright.fabric.fabric_prove) returned.
    type: dict
    required: true
  measured:
    description: What the phase C(measure) returned.
    type: dict
    required: true
  hostvars:
    description: The variables of all hosts; C(prove_served) of a server's host is read.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Hand over the results
  ansible.builtin.set_fact:
    fabric_pairs: "{{ prove_work | railwright.fabric.proof(prove_mtu, prove_measured, hostvars) }}"
"""

RETURN = r"""
_value:
  description: Pair results, as M(railwright.fabric.fabric_report) takes them.
  type: list
  elements: dict
"""


def proof(
    work: Mapping[str, Any], mtu: Mapping[str, Any], measured: Mapping[str, Any], hostvars: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Results of both phases, with those that were skipped by plan or never sent."""
    part = decode(NodeWork, dict(work), "work")
    results = list(encode(part.skipped))
    for phase, outcome in (("mtu", mtu), ("measure", measured)):
        if "pairs" in outcome:
            results += [_explained(pair, hostvars) for pair in outcome["pairs"]]
        else:
            why = f"{part.host} dropped out: {str(outcome.get('msg', 'no result')).strip()}"
            results += encode(unsent(part, phase, "not_run", why))
    return results


def _explained(pair: dict[str, Any], hostvars: Mapping[str, Any]) -> dict[str, Any]:
    """What only the server's own node knows replaces "nobody answers"."""
    known = hostvars.get(pair["peer"], {}) if pair["reason"] == "no_server" else {}
    served = known["prove_served"].get("served", []) if "prove_served" in known else []
    for server in served:
        if server["error"] and server["client"] == pair["host"] and server["rail"] == pair["rail"]:
            return {**pair, "reason": server["reason"], "error": f"{pair['peer']}: {server['error']}"}
    return pair


class FilterModule:
    """Filters by name."""

    def filters(self) -> dict[str, Any]:
        return {"proof": proof}
