#!/usr/bin/env python3
"""Build the virtual environment that everything else runs in.

Takes the newest suitable Python, says which and why not a newer one, and installs the requirements into the
directory named by ``--venv``. A second run with nothing changed ends at once. Runs on any Python 3.7 or newer, so that
an old system interpreter can start a newer one.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")
OLDEST, NEWEST = (3, 11), (3, 14)
STAMP = "railwright-stamp"
# The bundle `ansible` 13 and newer holds no awx.awx: take that collection from the last one that does.
AWX_BUNDLE = "ansible==12.3.0"
PROBE = (
    "import sys, ssl, venv, ensurepip; "
    "print('%d.%d.%d' % sys.version_info[:3], sys.implementation.name, sys.executable)"
)
APT_TOOLS = {"git": "git", "make": "make", "ssh": "openssh-client"}


def say(text: str) -> None:
    """One line of progress, visible at once."""
    print("setup: " + text, flush=True)


def fail(text: str) -> None:
    """End with one line that says what is wrong."""
    raise SystemExit("setup: " + text)


def candidates(wanted: str = "") -> list[str]:
    """Commands to try, newest version first: what PATH offers, and the versions that a shim on PATH stands for."""
    if wanted:
        return [wanted]
    found = []
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found.extend(commands("python3.%d" % minor))
    found.append("python3")
    return list(dict.fromkeys(found))


def commands(name: str) -> list[str]:
    """Where a command is to be had: on PATH, or as the version that a shim on PATH stands for."""
    found = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.path.basename(folder) == "shims":  # a version manager's: its versions lie beside the shims
            pattern = os.path.join(os.path.dirname(folder), "versions", "*", "bin", name)
            found.extend(sorted(glob.glob(pattern), reverse=True))
        elif os.access(os.path.join(folder, name), os.X_OK):
            found.append(os.path.join(folder, name))
    return found


def examine(command: str) -> tuple[tuple[int, int, int], str]:
    """Version and path of an interpreter; ValueError says why it does not suit."""
    try:
        done = subprocess.run([command, "-c", PROBE], capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(str(error)) from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["exit status %d" % done.returncode]
        raise ValueError(lines[-1] if "Error" in lines[-1] else lines[0])
    version_text, implementation, path = done.stdout.decode().strip().split(" ", 2)
    parts = [int(part) for part in version_text.split(".")]
    version = (parts[0], parts[1], parts[2])
    if implementation != "cpython":
        raise ValueError("is %s, not CPython" % implementation)
    if version[:2] < OLDEST:
        raise ValueError("is %s; %d.%d or newer is needed" % ((version_text, *OLDEST)))
    if version[:2] > NEWEST:
        raise ValueError("is %s; nothing newer than %d.%d is tested" % ((version_text, *NEWEST)))
    return version, path


def choose(wanted: str = "") -> tuple[tuple[int, int, int], str]:
    """The newest interpreter that suits; says why the ones before it did not."""
    refused = []
    for command in candidates(wanted):
        try:
            version, path = examine(command)
        except ValueError as reason:
            refused.append(f"{command}: {reason}")
            continue
        for line in refused:
            say("passed over " + line)
        return version, path
    raise LookupError("; ".join(refused) or "no python3 on PATH")


def apt_install(packages: list[str]) -> None:
    """Install Debian packages: the only thing that sudo is used for."""
    if not shutil.which("apt-get"):
        fail("missing and no apt-get here to install them with: " + " ".join(packages))
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if prefix and not shutil.which("sudo"):
        fail("missing, and neither root nor sudo to install them with: " + " ".join(packages))
    say("installing with apt-get: " + " ".join(packages))
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    keep = ["env", "DEBIAN_FRONTEND=noninteractive"]
    with open(os.devnull) as nothing:
        subprocess.run(
            prefix + keep + ["apt-get", "-q", "update"], stdin=nothing, env=env, check=False, stdout=subprocess.DEVNULL
        )
        done = subprocess.run(
            prefix + keep + ["apt-get", "-qy", "install", "--no-install-recommends"] + packages,
            stdin=nothing,
            env=env,
            stdout=subprocess.DEVNULL,
        )
    if done.returncode:
        fail("apt-get could not install: " + " ".join(packages))


def system_tools() -> None:
    """What is no Python package but needed everywhere."""
    missing = sorted(package for tool, package in APT_TOOLS.items() if not shutil.which(tool))
    if missing:
        apt_install(missing)


def interpreter(wanted: str) -> tuple[tuple[int, int, int], str]:
    """The interpreter to use, installing the distribution's own venv support when that is all that is missing."""
    try:
        return choose(wanted)
    except LookupError as reason:
        if wanted or sys.version_info[:2] < OLDEST:
            fail("no suitable Python (%d.%d to %d.%d with venv): %s" % (OLDEST + NEWEST + (reason,)))
        apt_install(["python3-venv"])
    try:
        return choose(wanted)
    except LookupError as reason:
        fail(f"no suitable Python: {reason}")
        raise


def fingerprint(path: str, version: tuple[int, int, int]) -> tuple[str, str]:
    """What the environment was made of: the interpreter, and the requirements."""
    digest = hashlib.sha256(AWX_BUNDLE.encode())
    for name in REQUIREMENTS:
        digest.update((ROOT / name).read_bytes())
    return "%s %d.%d.%d" % ((os.path.realpath(path), *version)), digest.hexdigest()


def pip(python: Path, *arguments: str) -> None:
    """Run pip quietly; on failure show what it said."""
    argv = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *list(arguments)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout.decode(errors="replace"), file=sys.stderr)
        fail("pip failed: " + " ".join(arguments))


def borrow_awx(python: Path, cache: Path) -> None:
    """Put awx.awx beside the bundled collections where the installed bundle has none."""
    query = "import ansible_collections, sys; sys.stdout.write(list(ansible_collections.__path__)[0])"
    found = subprocess.run([str(python), "-c", query], stdout=subprocess.PIPE, cwd=str(python.parent))
    bundle = Path(found.stdout.decode())
    if found.returncode or (bundle / "awx" / "awx" / "MANIFEST.json").exists():
        return
    say("taking awx.awx out of " + AWX_BUNDLE)
    pip(python, "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(cache), AWX_BUNDLE)
    for wheel in cache.glob("ansible-12.*.whl"):
        with zipfile.ZipFile(str(wheel)) as archive:
            wanted = [name for name in archive.namelist() if name.startswith("ansible_collections/awx/")]
            archive.extractall(str(bundle.parent), wanted)


@contextlib.contextmanager
def locked(venv: Path):
    """One set-up of an environment at a time."""
    with open(str(venv) + ".lock", "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of " + venv.name)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def build(venv: Path, path: str, version: tuple[int, int, int], rebuild: bool) -> None:
    """Create or update the environment and write the stamp last, so that an interrupted set-up is done again."""
    stamp = venv / STAMP
    made_with, needs = fingerprint(path, version)
    had = stamp.read_text().splitlines() if stamp.exists() else []
    if had == [made_with, needs] and not rebuild:
        return
    if rebuild or had[:1] != [made_with]:
        shutil.rmtree(str(venv), ignore_errors=True)
        say(f"creating {venv.name}")
        subprocess.run([path, "-m", "venv", str(venv)], check=True, stdin=subprocess.DEVNULL)
    elif stamp.exists():
        stamp.unlink()
    say("installing {} (a few minutes when nothing is cached)".format(" and ".join(REQUIREMENTS)))
    python = venv / "bin" / "python"
    # Compiling the bundled collections takes longer than installing them; Python compiles what it uses.
    pip(
        python,
        "install",
        "-q",
        "--no-compile",
        "--upgrade-strategy",
        "only-if-needed",
        "-r",
        str(ROOT / REQUIREMENTS[-1]),
    )
    borrow_awx(python, ROOT / ".cache" / "bundles")
    stamp.write_text(made_with + "\n" + needs + "\n")


def report(venv: Path, version: tuple[int, int, int], path: str) -> None:
    """Say what is used."""
    core = ""
    for meta in glob.glob(str(venv / "lib" / "python*" / "site-packages" / "ansible_core-*.dist-info")):
        core = re.sub(r".*ansible_core-(.*)\.dist-info", r"\1", meta)
    say("Python %d.%d.%d (%s), ansible-core %s, in %s" % ((*version, path, core, venv.name)))


def outside_path() -> str:
    """PATH without this checkout's own environments, which must not be built from themselves."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(f for f in folders if ROOT not in Path(f, "x").absolute().parents)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", default=".venv", help="where to build it, relative to the checkout")
    parser.add_argument("--python", default="", help="use this interpreter and look for no other")
    parser.add_argument("--rebuild", action="store_true", help="start from nothing")
    options = parser.parse_args()
    os.chdir(str(ROOT))
    os.environ["PATH"] = outside_path()
    venv = ROOT / options.venv
    (ROOT / ".cache").mkdir(exist_ok=True)
    system_tools()
    version, path = interpreter(options.python)
    with locked(venv):
        build(venv, path, version, options.rebuild)
    report(venv, version, path)


if __name__ == "__main__":
    main()
