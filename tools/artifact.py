"""The collection as people install it: build it, unpack it, and run ansible-test where it was installed.

On the linked checkout ansible-test is vacuous, so it runs on the installed artifact, with a home of its own: nothing
of a person's own ansible-test is used or changed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# In the person's cache: the environments that ansible-test builds serve every clone.
HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "railwright" / "ansible-test-home"
# Not run: pslint and shellcheck look at files that the collection has none of; pylint's part is ruff's here, and what
# ansible adds to it (no subprocess, no _) is not for a core that knows no Ansible.
SANITY_SKIPS = ("pslint", "shellcheck", "pylint")
# ansible-test fetches this script from a host of its own to put pip into its environments; the interpreter brings one.
GET_PIP = '''\
"""Stands in for get-pip.py: the pip that comes with the interpreter installs what is asked for."""
import pathlib, runpy, sys
import ensurepip
wheel = sorted((pathlib.Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))[-1]
sys.path.insert(0, str(wheel))
sys.argv[1:] = ["install"] + [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
runpy.run_module("pip", run_name="__main__", alter_sys=True)
'''


def run(*argv: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command with no input; output and error in one text."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("ANSIBLE_", "PYTEST_"))}
    clean["PATH"] = f"{BIN}{os.pathsep}{clean.get('PATH', '')}"
    return subprocess.run(
        list(map(str, argv)),
        cwd=cwd,
        env={**clean, **(environment or {})},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def build(target: Path) -> Path:
    """The artifact, built from the checkout."""
    done = run("ansible-galaxy", "collection", "build", "--output-path", target, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stdout)
    return next(target.glob("railwright-fabric-*.tar.gz"))


def install(artifact: Path, target: Path) -> Path:
    """Install an artifact into an empty path with no server in reach; the folder of the collection."""
    done = run(
        "ansible-galaxy",
        "collection",
        "install",
        "--offline",
        "--no-deps",
        artifact,
        "-p",
        target,
        cwd=target.parent,
        environment={"ANSIBLE_COLLECTIONS_PATH": str(target)},
    )
    if done.returncode:
        raise RuntimeError(done.stdout)
    return target / "ansible_collections/railwright/fabric"


def ansible_test(collection: Path, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ansible-test in an installed collection, for the interpreter that runs this."""
    import ansible_test

    source = (Path(ansible_test.__file__).parent / "_internal/python_requirements.py").read_text(encoding="utf-8")
    cache = HOME / ".ansible/test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in re.findall(r"\bpip='([\d.]+)'", source):
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(GET_PIP, encoding="utf-8")
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return run(
        "ansible-test", command, "--python", python, "--color", "no", *arguments, cwd=collection, environment=_home()
    )


def _home() -> dict[str, str]:
    """A home of its own, with pip's cache and settings as they are."""
    environment = {"HOME": str(HOME)}
    cache = subprocess.run([sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True)
    if cache.returncode == 0:
        environment["PIP_CACHE_DIR"] = cache.stdout.strip()
    for settings in (Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"):
        if settings.exists() and "PIP_CONFIG_FILE" not in os.environ:
            environment["PIP_CONFIG_FILE"] = str(settings)
    return environment


def sanity(collection: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """The sanity tests that this machine can run, or only those named."""
    chosen = [word for test in tests for word in ("--test", test)]
    chosen = chosen or [word for test in SANITY_SKIPS for word in ("--skip-test", test)]
    return ansible_test(collection, "sanity", *chosen)


def units(collection: Path) -> subprocess.CompletedProcess[str]:
    """The unit tests, out of the installed collection."""
    return ansible_test(collection, "units", "--num-workers", "2")
