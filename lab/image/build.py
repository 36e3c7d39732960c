"""Builds the image once and keeps it, keyed by everything that goes into it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .. import keys
from ..config import REPOSITORY, Config
from ..errors import LabError
from ..process import run, tail
from . import recipe, sources

BUILD_TIMEOUT = 1800.0
TWIN_SOURCE = Path(__file__).resolve().parent.parent / "twin"


@dataclass(frozen=True)
class Image:
    """The files of one image."""

    directory: Path

    @property
    def kernel(self) -> Path:
        """The distribution's kernel."""
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """Our initramfs."""
        return self.directory / "initrd.img"

    @property
    def disk(self) -> Path:
        """The root file system, read-only: nodes run on overlays."""
        return self.directory / "root.ext4"


def key(config: Config) -> str:
    """Hash of what the image is made from: recipe, twin, keys, apt sources. No dates."""
    digest = hashlib.sha256()
    here = Path(__file__).resolve().parent
    texts = [*sorted(here.glob("*.py")), *twin_sources(), here.parent / "topology.py"]
    for path in texts:
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    pair = keys.ensure(config)
    facts = [config.suite, sources.apt_sources(config), pair.client_public, pair.host_public]
    digest.update(json.dumps(facts).encode())
    return digest.hexdigest()[:16]


def twin_sources() -> list[Path]:
    """What the NIC twin is built from."""
    return sorted(path for path in TWIN_SOURCE.iterdir() if path.suffix in (".c", ".h") or path.name == "Kbuild")


def locate(config: Config) -> Image:
    """Where the image is, or will be."""
    return Image(config.cache / "images" / f"{config.suite}-{key(config)}")


def ensure(config: Config) -> Image:
    """Return the image, built first where it is not there. Raises LabError."""
    image = locate(config)
    if image.directory.is_dir():
        return image
    image.directory.parent.mkdir(parents=True, exist_ok=True)
    with _one_builder(image.directory.parent / ".building"):
        if image.directory.is_dir():
            return image
        for leftover in image.directory.parent.glob("tmp-*"):
            shutil.rmtree(leftover)
        work = Path(tempfile.mkdtemp(prefix="tmp-", dir=image.directory.parent))
        started = time.monotonic()
        print(f"building the node image ({config.suite}), once; a few minutes", file=sys.stderr)
        try:
            # mmdebstrap's unprivileged mode reads and writes here as another user.
            work.chmod(0o755)
            _build(config, work)
            finished = work / "image"
            finished.mkdir()
            for name in ("vmlinuz", "initrd.img", "root.ext4"):
                (work / name).rename(finished / name)
            finished.rename(image.directory)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        print(f"node image built in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return image


@contextmanager
def _one_builder(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another build of the node image", file=sys.stderr)
            deadline = time.monotonic() + BUILD_TIMEOUT
            while True:
                try:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise LabError(f"another build held {path} for {BUILD_TIMEOUT:.0f} s") from None
                    time.sleep(1)
        yield


def _build(config: Config, work: Path) -> None:
    pair = keys.ensure(config)
    secrets = {
        "client_public": pair.client_public,
        "host_public": pair.host_public,
        "host_private": pair.host.read_text(),
    }
    descriptor = os.open(work / "keys.json", os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        json.dump(secrets, stream)
    commands = {"rootfs": _rootfs_argv(config, work), "twin": _twin_argv(config, work)}
    _parallel(commands, work)
    module = work / "nic_twin.ko"
    (work / "twin.json").write_text(json.dumps({"release": _vermagic(module)}))
    run(
        ["fakeroot", "--", sys.executable, "-m", "lab.image.assemble", str(work)],
        timeout=BUILD_TIMEOUT,
        cwd=REPOSITORY,
    )


def _vermagic(module: Path) -> str:
    """The kernel release that a module is for."""
    _, found, rest = module.read_bytes().partition(b"vermagic=")
    if not found:
        raise LabError(f"{module.name} has no version magic")
    return rest.partition(b" ")[0].decode()


def _mmdebstrap(config: Config) -> list[str]:
    argv = ["mmdebstrap", "--quiet", "--variant=apt", f"--keyring={sources.KEYRING}"]
    argv += [f"--aptopt={option}" for option in sources.apt_options()]
    argv += [f"--dpkgopt=path-exclude={path}" for path in recipe.EXCLUDED_PATHS]
    return argv


def _rootfs_argv(config: Config, work: Path) -> list[str]:
    # apt checks signatures and hashes of what it downloads, and leaves out what is installed.
    packages = " ".join(recipe.REPOSITORY_PACKAGES)
    download = (
        'mkdir -p "$1/srv/railwright/packages/partial" && '
        'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get --yes --quiet --download-only --no-install-recommends '
        f'-o Dir::Cache::archives="$1/srv/railwright/packages" install {packages}'
    )
    return [
        *_mmdebstrap(config),
        "--include=" + ",".join(recipe.BASE_PACKAGES),
        f"--customize-hook={download}",
        "--format=tar",
        config.suite,
        str(work / "rootfs.tar"),
        *sources.apt_sources(config),
    ]


def _twin_argv(config: Config, work: Path) -> list[str]:
    make = "chroot \"$1\" sh -c 'make -C /lib/modules/*/build M=/twin modules'"
    return [
        *_mmdebstrap(config),
        "--include=" + ",".join(recipe.BUILD_PACKAGES),
        '--customize-hook=mkdir "$1/twin"',
        f"--customize-hook=copy-in {' '.join(str(path) for path in twin_sources())} /twin",
        f"--customize-hook={make}",
        f"--customize-hook=copy-out /twin/nic_twin.ko {work}",
        "--format=null",
        config.suite,
        "/dev/null",
        *sources.apt_sources(config),
    ]


def _parallel(commands: dict[str, list[str]], work: Path) -> None:
    """Run commands side by side; the first failure ends the others. Raises LabError."""
    logs = {name: work / f"{name}.log" for name in commands}
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, argv in commands.items():
            with logs[name].open("wb") as stream:
                try:
                    running[name] = subprocess.Popen(
                        argv,
                        stdin=subprocess.DEVNULL,
                        stdout=stream,
                        stderr=subprocess.STDOUT,
                        env={**os.environ, "INITRD": "No", "LC_ALL": "C.UTF-8"},
                        start_new_session=True,
                    )
                except FileNotFoundError as error:
                    raise LabError(f"{argv[0]} is not installed: run `python3 -m lab deps`") from error
        deadline = time.monotonic() + BUILD_TIMEOUT
        waiting = dict(running)
        while waiting:
            for name, child in list(waiting.items()):
                status = child.poll()
                if status is None:
                    continue
                del waiting[name]
                if status != 0:
                    raise LabError(f"building the {name} failed with status {status}:\n{tail(logs[name])}")
            if time.monotonic() > deadline:
                raise LabError(f"building {' and '.join(waiting)} did not end within {BUILD_TIMEOUT:.0f} s")
            time.sleep(0.2)
    finally:
        for child in running.values():
            if child.poll() is None:
                # mmdebstrap cleans up its temporary directory on SIGTERM.
                os.killpg(child.pid, signal.SIGTERM)
                try:
                    child.wait(30)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait(30)
