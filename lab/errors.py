"""The one error that the lab raises for what a person can act on."""

from __future__ import annotations


class LabError(Exception):
    """Says what failed and, where known, what to do; the command line prints it and exits 1."""
