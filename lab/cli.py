"""The command line: arguments in, one line or JSON out, exit status 0, 1 (it failed) or 2 (usage)."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import deps, keys
from .config import Config
from .errors import LabError
from .image import build
from .inventory import inventory
from .rack import FRESH, Lab


def main(arguments: list[str]) -> int:
    """Run one verb and return the exit status."""
    # An interrupted `up` must clean up: make SIGTERM and SIGHUP an exception, as SIGINT is.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    options = _parser().parse_args(arguments)
    try:
        # A fault returns nothing: it has worked, or it has raised.
        status: int | None = options.action(options)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130
    return status or 0


def _interrupted(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lab", description="A rack in a box; see docs/lab.md.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    verb = verbs.add_parser("deps", help="install the host packages that are missing")
    verb.add_argument("--list", action="store_true", help="only print them")
    verb.set_defaults(action=_deps)
    verb = verbs.add_parser("image", help="build the node image, if it is not there")
    verb.set_defaults(action=_image)
    verb = verbs.add_parser("up", help="bring the lab up")
    verb.set_defaults(action=_up)
    verb = verbs.add_parser("down", help="end the lab and leave nothing but caches")
    verb.add_argument("--force", action="store_true", help="even if another checkout started it")
    verb.set_defaults(action=_down)
    verb = verbs.add_parser("reset", help="go back to a snapshot and undo all faults")
    verb.add_argument("--snapshot", default=FRESH, metavar="NAME")
    verb.set_defaults(action=_reset)
    verb = verbs.add_parser("snapshot", help="save the state of all nodes")
    verb.add_argument("name")
    verb.set_defaults(action=_snapshot)
    verb = verbs.add_parser("ssh", help="log in to a node, or run a command there")
    verb.add_argument("node")
    verb.add_argument("command", nargs=argparse.REMAINDER)
    verb.set_defaults(action=_ssh)
    verb = verbs.add_parser("status", help="print what is there, as JSON")
    verb.set_defaults(action=_status)
    verb = verbs.add_parser("inventory", help="print the nodes as an Ansible inventory")
    verb.set_defaults(action=_inventory)
    _add_faults(verbs.add_parser("inject", help="break something"))
    return parser


def _add_faults(parser: argparse.ArgumentParser) -> None:
    faults = parser.add_subparsers(required=True, metavar="FAULT")

    for name, up in (("link-down", False), ("link-up", True)):
        fault = faults.add_parser(name, help="carrier of a rail")
        fault.add_argument("node")
        fault.add_argument("rail")
        fault.set_defaults(action=lambda o: Lab().link(o.node, o.rail, o.up), up=up)
    fault = faults.add_parser("mtu", help="largest packet of a leaf or port; larger frames vanish")
    fault.add_argument("target", metavar="LEAF[:PORT]")
    fault.add_argument("bytes", type=int)
    fault.set_defaults(action=lambda o: Lab().leaf_set(o.target, mtu=o.bytes))
    fault = faults.add_parser("loss", help="share of frames lost, each way")
    fault.add_argument("target", metavar="LEAF[:PORT]")
    fault.add_argument("percent", type=float)
    fault.set_defaults(action=lambda o: Lab().leaf_set(o.target, loss=o.percent / 100))
    fault = faults.add_parser("rate", help="speed of a leaf or port, 0 for unlimited")
    fault.add_argument("target", metavar="LEAF[:PORT]")
    fault.add_argument("mbit", type=float)
    fault.set_defaults(action=lambda o: Lab().leaf_set(o.target, rate=int(o.mbit * 1e6)))
    for name, down in (("port-down", True), ("port-up", False)):
        fault = faults.add_parser(name, help="forwarding of a leaf or port; carrier stays")
        fault.add_argument("target", metavar="LEAF[:PORT]")
        fault.set_defaults(action=lambda o: Lab().leaf_set(o.target, down=o.down), down=down)
    fault = faults.add_parser("swap", help="exchange two cables at their leaves")
    for name in ("node", "rail", "other_node", "other_rail"):
        fault.add_argument(name)
    fault.set_defaults(action=lambda o: Lab().swap((o.node, o.rail), (o.other_node, o.other_rail)))
    for name, method in (
        ("power-off", Lab.power_off),
        ("power-on", Lab.power_on),
        ("freeze", Lab.freeze),
        ("thaw", Lab.thaw),
        ("hard-reset", Lab.hard_reset),
        ("reboot", Lab.reboot),
    ):
        fault = faults.add_parser(name, help=(method.__doc__ or "").partition(".")[0])
        fault.add_argument("node")
        fault.set_defaults(action=lambda o: o.method(Lab(), o.node), method=method)
    fault = faults.add_parser("capture", help="write what passes a port to a pcap file; no file: stop")
    fault.add_argument("port", metavar="LEAF:PORT")
    fault.add_argument("file", type=Path, nargs="?")
    fault.set_defaults(action=lambda o: Lab().capture(o.port, o.file))


def _deps(options: argparse.Namespace) -> int:
    if options.list:
        print("\n".join(deps.missing()))
    else:
        deps.install()
    return 0


def _image(options: argparse.Namespace) -> int:
    deps.require()
    print(build.ensure(Config.from_environment()).directory)
    return 0


def _up(options: argparse.Namespace) -> int:
    lab, started = Lab(), time.monotonic()
    if lab.up():
        print(f"lab up in {time.monotonic() - started:.0f} s: {', '.join(lab.config.node_names)}")
    else:
        print("the lab is up already")
    return 0


def _down(options: argparse.Namespace) -> int:
    print("lab down" if Lab().down(options.force) else "there is no lab")
    return 0


def _reset(options: argparse.Namespace) -> int:
    started = time.monotonic()
    Lab().reset(options.snapshot)
    print(f"lab reset to {options.snapshot} in {time.monotonic() - started:.1f} s")
    return 0


def _snapshot(options: argparse.Namespace) -> int:
    Lab().snapshot(options.name)
    return 0


def _ssh(options: argparse.Namespace) -> int:
    lab = Lab()
    if options.node not in lab.config.node_names:
        raise LabError(f"no node {options.node}: there are {', '.join(lab.config.node_names)}")
    if lab.lock.held() is None:
        raise LabError("the lab is not up: `python3 -m lab up`")
    argv = keys.ssh_argv(lab.config, options.node, options.command)
    if not options.command:
        os.execvp(argv[0], argv)
    return subprocess.run(argv, check=False).returncode


def _status(options: argparse.Namespace) -> int:
    status = Lab().status()
    print(json.dumps(status, indent=2))
    return 0 if status["up"] else 1


def _inventory(options: argparse.Namespace) -> int:
    print(json.dumps(inventory(Config.from_environment()), indent=2))
    return 0
