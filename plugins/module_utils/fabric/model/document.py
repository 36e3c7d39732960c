# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as a document: ``/etc/railwright/intent.json``, which setters, agent and checks all read."""

from __future__ import annotations

import json
from typing import Any

from ..errors import IntentError, MissingError
from ..ports import Port
from ..version import VERSION
from .codec import decode, encode
from .intent import SCHEMA, NodeIntent

PATH = "/etc/railwright/intent.json"
REMEDY = "Run playbooks/provision.yml against this node"


def dump(intent: NodeIntent) -> str:
    """The document's text: the same for the same intent, one value a line, so that it can be compared by eye."""
    return json.dumps(encode(intent), indent=1) + "\n"


def load(port: Port, path: str = PATH) -> NodeIntent:
    """The node's intent.

    :raises IntentError: when it is not there, damaged, or of a schema that this core does not know.
    """
    try:
        text = port.read(path)
    except MissingError:
        raise IntentError("this node has no intent yet", path, remedy=REMEDY) from None
    try:
        data = json.loads(text)
    except ValueError as error:
        raise IntentError(f"the intent is damaged: {error}", path, remedy=REMEDY) from None
    return from_data(data, path)


def from_data(data: Any, place: str) -> NodeIntent:
    """An intent from plain data, its schema checked first: a newer one may well have keys that are unknown here.

    :raises IntentError: see :func:`load`.
    """
    if not isinstance(data, dict):
        raise IntentError("the intent is damaged: a mapping is expected", place, remedy=REMEDY)
    if data.get("schema") != SCHEMA:
        raise IntentError(
            f"the intent was written by version {data.get('core_version', 'unknown')} in a schema that this version, "
            f"{VERSION}, does not know",
            f"{place}: schema",
            repr(data.get("schema")),
            f"Known is schema {SCHEMA}. {REMEDY}",
        )
    return decode(NodeIntent, data, place)
