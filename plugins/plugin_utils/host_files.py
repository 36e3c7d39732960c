# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One file a host, for what one task of a run works out for all: each host's tasks then read only their own."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Mapping
from urllib.parse import quote

from ansible import constants

from ..module_utils.fabric.model.codec import encode


def write(name: str, models: Mapping[str, Any]) -> Path:
    """Write each host's model object as JSON, and return the folder, which lives as long as the Ansible run."""
    folder = Path(tempfile.mkdtemp(prefix=f"railwright-{name}-", dir=constants.DEFAULT_LOCAL_TMP))
    for host, model in models.items():
        path(folder, host).write_text(json.dumps(encode(model)), encoding="utf-8")
    return folder


def path(folder: Path, host: str) -> Path:
    """Where a host's file is in the folder."""
    return folder / f"{quote(host, safe='')}.json"
