# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Frozen dataclasses: intent, facts, steps, findings."""
