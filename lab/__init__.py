"""A rack in a box: virtual nodes with real kernels, leaf switches and soft RoCE, on one machine.

The command line is ``python3 -m lab VERB``; the same verbs are the methods of :class:`Lab`.
Only the standard library is used, and root is needed for nothing but installing host packages.
"""

from .errors import LabError
from .rack import Lab

__all__ = ["Lab", "LabError"]
