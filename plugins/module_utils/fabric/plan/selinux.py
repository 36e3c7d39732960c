# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""SELinux: the files that a plan writes get the labels that the node's policy has for their places.

A new file takes its label from its folder, which is right nearly everywhere; restorecon(8) makes it right where the
policy knows better. Nothing but those files is touched, and neither the mode of SELinux nor its policy.
"""

from __future__ import annotations

from typing import Sequence

from ..model.plan import Action, Run, Step, WriteFile
from ..ports import Port

# selinuxfs is mounted when SELinux is enabled, enforcing or not (selinux(8)).
_ENABLED = "/sys/fs/selinux/enforce"
_TOOLS = ("/usr/sbin/restorecon", "/sbin/restorecon")


def relabels(port: Port) -> bool:
    """Whether files have labels here, and there is a program that sets them."""
    return port.exists(_ENABLED) and any(port.exists(tool) for tool in _TOOLS)


def relabel(steps: Sequence[Step]) -> tuple[Action, ...]:
    """The action that labels the files which ``steps`` write; -i passes over one that a roll back removed."""
    paths = [action.path for step in steps for action in step.actions if isinstance(action, WriteFile)]
    return (Run(("restorecon", "-i", *dict.fromkeys(paths))),) if paths else ()
