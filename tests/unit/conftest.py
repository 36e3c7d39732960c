# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""How hard the properties are tried: a few examples each time, many with ``--hypothesis-profile=full``."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):  # without it, the tests that need it say so
    from hypothesis import settings

    settings.register_profile("few", max_examples=20, deadline=None)
    settings.register_profile("full", max_examples=300, deadline=None)
    settings.load_profile("few")
