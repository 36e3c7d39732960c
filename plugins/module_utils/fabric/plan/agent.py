# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the node agent: its program, the unit that applies the intent at boot, and what wakes it up later.

A driver that is loaded again, firmware that is reset and a change of the switch mode make netdevs and RDMA devices
anew, without any of their settings: udev tells. A link that came up again emits no event of udev: the network managers
tell, each by its dispatcher.
"""

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

RESTORE_NAME = "railwright-restore.service"
RESTORE = f"/etc/systemd/system/{RESTORE_NAME}"
# Events come in bunches; while the service runs, systemd takes another start for the one that runs.
RESTORE_TEXT = f"""# Managed by Railwright (role node_agent): the next run undoes what is changed here.
[Unit]
Description=Railwright: put the RDMA settings of hardware that came back in force
ConditionPathExists=/etc/railwright/intent.json
After={UNIT_NAME}
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart={PROGRAM} apply --event
TimeoutStartSec=180
"""

_START = f"systemctl --no-block start {RESTORE_NAME}"
RULES = "/etc/udev/rules.d/99-railwright-restore.rules"
# Containers make netdevs all the time: only those on a bus count. A soft RoCE device is on none.
RULES_TEXT = f"""# Managed by Railwright (role node_agent): the next run undoes what is changed here.
ACTION=="add|move|change", SUBSYSTEM=="net", SUBSYSTEMS=="pci|virtio", RUN+="/usr/bin/{_START}"
ACTION=="add|move", SUBSYSTEM=="infiniband", RUN+="/usr/bin/{_START}"
"""

# networkd-dispatcher(8), NetworkManager-dispatcher(8), interfaces(5).
DISPATCHERS = (
    "/etc/networkd-dispatcher/routable.d/50-railwright",
    "/etc/NetworkManager/dispatcher.d/50-railwright",
    "/etc/network/if-up.d/railwright",
)
DISPATCHER_TEXT = f"""#!/bin/sh
# Managed by Railwright (role node_agent): the next run undoes what is changed here.
case "$2" in
down | pre-down | connectivity-change | hostname | dns-change) exit 0 ;;
esac
[ "$IFACE" = lo ] || exec {_START}
"""


def read_agent(port: Port) -> tuple[Optional[Build], Files, bool]:
    """The installed build, the managed files, and whether the unit starts at boot."""
    try:
        installed = inspect(port.read_bytes(PROGRAM))
    except MissingError:
        installed = None
    hooks = (path for path in DISPATCHERS if port.exists(path.rpartition("/")[0]))
    return installed, read_files(port, (UNIT, RESTORE, RULES, *hooks)), port.exists(ENABLED)


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
    units = (
        file_step(files, WriteFile(UNIT, UNIT_TEXT), "agent", f"unit {UNIT_NAME}", "applies the intent at boot"),
        file_step(files, WriteFile(RESTORE, RESTORE_TEXT), "agent", f"unit {RESTORE_NAME}", "applies it when woken"),
    )
    if any(unit is not None for unit in units):
        steps += [unit for unit in units if unit is not None]
        settle.append(Run(("systemctl", "daemon-reload")))
    rules = file_step(files, WriteFile(RULES, RULES_TEXT), "agent", f"file {RULES}", "wakes it for new devices")
    if rules is not None:
        steps.append(rules)
        settle.append(Run(("udevadm", "control", "--reload")))
    for path in DISPATCHERS:
        hook = file_step(files, WriteFile(path, DISPATCHER_TEXT, 0o755), "agent", f"file {path}", "wakes it for links")
        if path in files and hook is not None:
            steps.append(hook)
    if not enabled:
        steps.append(
            Step("agent", f"start of {UNIT_NAME} at boot", "off", "on", (Run(("systemctl", "enable", UNIT_NAME)),))
        )
    return Plan("agent", tuple(steps), tuple(settle))
