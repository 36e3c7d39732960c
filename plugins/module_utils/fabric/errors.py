# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Typed errors of the core. Each names a place, the value found there and, where there is one, the remedy."""

from __future__ import annotations

from typing import Optional


class FabricError(Exception):
    """Base of every error that Railwright raises on purpose.

    :param message: what is wrong, one sentence.
    :param place: where: a spec path (``fabric_spec.rails[2].name``), a file, or a command line.
    :param value: what was found there, as text.
    :param remedy: what to do about it.
    """

    def __init__(
        self, message: str, place: Optional[str] = None, value: Optional[str] = None, remedy: Optional[str] = None
    ) -> None:
        self.message = message
        self.place = place
        self.value = value
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.value is not None:
            text += f" (found {self.value!r})"
        return f"{text}. {self.remedy}" if self.remedy else text


class SpecError(FabricError):
    """The fabric spec, a hardware profile or a host's variables are wrong or contradict each other."""


class IntentError(FabricError):
    """An intent document is missing, damaged, or of a version that this core does not know."""


class ParseError(FabricError):
    """A tool printed what its parser does not know; ``place`` is ``tool:line``, ``value`` the line itself."""


class ReadError(FabricError):
    """A file or a tool could not be read; what it would have told is unknown, never good."""


class MissingError(ReadError):
    """The file or the tool is not there."""


class HungError(ReadError):
    """A tool did not return within its bound of time and was ended."""


class ApplyError(FabricError):
    """A step failed, or the node was not as wanted after it; the message says what was rolled back."""


class RefusedError(FabricError):
    """A step would cut a management link or a running job, and was not carried out."""


class UnsupportedError(RefusedError):
    """The node's settings are owned by a program that this version cannot drive; nothing was touched."""
