# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the node agent: its program, and the unit that applies the intent at boot."""

from __future__ import annotations

from typing import Optional

from ..agent.archive import Build, inspect
from ..errors import MissingError
from ..model.plan import Plan, Run, Step, WriteFile
from ..ports import Port
from .files import Files, file_step, read_files

PROGRAM = "/usr/local/sbin/railwright"
UNIT_NAME = "railwright-apply.service"
UNIT = f"/etc/systemd/system/{UNIT_NAME}"
ENABLED = f"/etc/systemd/system/multi-user.target.wants/{UNIT_NAME}"

# Jobs and pods must not start before their rails are there; the names of absent units are ignored (systemd.unit(5)).
UNIT_TEXT = f"""# Managed by Railwright (role node_agent): the next run undoes what is changed here.
[Unit]
Description=Railwright: put the RDMA settings of this node in force
ConditionPathExists=/etc/railwright/intent.json
After=systemd-modules-load.service systemd-networkd.service rdma-hw.target
Before=slurmd.service kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={PROGRAM} apply --boot
TimeoutStartSec=180

[Install]
WantedBy=multi-user.target
"""


def read_agent(port: Port) -> tuple[Optional[Build], Files, bool]:
    """The installed build, the managed files, and whether the unit starts at boot."""
    try:
        installed = inspect(port.read_bytes(PROGRAM))
    except MissingError:
        installed = None
    return installed, read_files(port, (UNIT,)), port.exists(ENABLED)


def plan_agent(
    installed: Optional[Build], files: Files, enabled: bool, wanted: Build, program: Optional[bytes] = None
) -> Plan:
    """Steps towards the ``wanted`` build; ``program`` is the file itself, not needed for a plan that is only shown."""
    steps: list[Step] = []
    settle: list[Run] = []
    if installed != wanted:
        before = str(installed) if installed is not None else ""
        actions = () if program is None else (WriteFile(PROGRAM, program, 0o755), Run((PROGRAM, "--version")))
        steps.append(Step("agent", f"program {PROGRAM}", before, str(wanted), actions))
    unit = file_step(files, WriteFile(UNIT, UNIT_TEXT), "agent", f"unit {UNIT_NAME}", "applies the intent at boot")
    if unit is not None:
        steps.append(unit)
        settle.append(Run(("systemctl", "daemon-reload")))
    if not enabled:
        steps.append(
            Step("agent", f"start of {UNIT_NAME} at boot", "off", "on", (Run(("systemctl", "enable", UNIT_NAME)),))
        )
    return Plan("agent", tuple(steps), tuple(settle))
