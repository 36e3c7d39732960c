"""Run a playbook as AWX does: a copy of the project, the inventory as a file, AWX's environment and working directory.

What AWX sets is in its RunJob.build_env: the environment beats ansible.cfg, and the collections path becomes AWX's own
folder, then what ansible.cfg says (relative to the project), then the usual places.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ansible_runner

ROOT = Path(__file__).resolve().parent.parent
COLLECTIONS = "requirements_collections:collections:~/.ansible/collections:/usr/share/ansible/collections"


def copy_project(target: Path, root: Path = ROOT) -> Path:
    """What a clone holds, links as links: tracked files and those that git would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        source = root / name
        if source.is_symlink() or source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name, follow_symlinks=False)
    return target


def inventory_script(inventory: Path, target: Path) -> Path:
    """The inventory as AWX hands it over: a script that prints JSON, hosts and variables resolved beforehand."""
    argv = [str(Path(sys.executable).parent / "ansible-inventory"), "-i", str(inventory), "--list"]
    listed = subprocess.run(
        argv,
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
    ).stdout
    data = json.dumps(json.loads(listed))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"#!/usr/bin/env python3\nprint({data!r})\n", encoding="utf-8")
    target.chmod(0o700)
    return target


def environment(private: Path, job: int) -> dict[str, str]:
    """The variables that AWX sets for a job."""
    folder, _, rest = COLLECTIONS.partition(":")
    return {
        "ANSIBLE_COLLECTIONS_PATH": f"{private / folder}:{rest}",
        "ANSIBLE_FORCE_COLOR": "True",
        "ANSIBLE_HOST_KEY_CHECKING": "False",
        "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
        "ANSIBLE_PARAMIKO_RECORD_HOST_KEYS": "False",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_ROLES_PATH": f"{private / 'requirements_roles'}:~/.ansible/roles:/usr/share/ansible/roles",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(private / "cp"),
        "AWX_PRIVATE_DATA_DIR": str(private),
        "HOME": str(private),
        "INVENTORY_ID": "1",
        "JOB_ID": str(job),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PROJECT_REVISION": "0" * 40,
    }


def run(
    private: Path,
    playbook: str,
    inventory: Path,
    *,
    job: int = 1,
    arguments: str = "",
    extra: dict[str, Any] | None = None,
) -> ansible_runner.Runner:
    """Run a playbook of the project under ansible-runner; the result has rc, status, stats and events."""
    import ansible_runner

    project = copy_project(private / "project")
    hosts = inventory_script(inventory, private / "inventory" / "hosts")
    for folder in ("requirements_collections", "requirements_roles", "cp"):
        (private / folder).mkdir(exist_ok=True)
    variables = {"awx_job_id": job, "awx_job_launch_type": "manual", "tower_job_id": job, **(extra or {})}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ANSIBLE_", "PYTEST_"))}
    before = dict(os.environ)
    # The runner adds its own process's environment to a job's: give it none of this one's Ansible settings.
    os.environ.clear()
    os.environ.update(kept)
    try:
        return ansible_runner.run(
            private_data_dir=str(private),
            project_dir=str(project),
            playbook=playbook,
            inventory=str(hosts),
            envvars=environment(private, job),
            extravars=variables,
            cmdline=arguments or None,
            ident=str(job),
            quiet=True,
        )
    finally:
        os.environ.clear()
        os.environ.update(before)
