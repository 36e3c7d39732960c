# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What every tier of tests shares: honest skips, marked rules, and the core without Ansible. Python 3.9 syntax."""

from __future__ import annotations

import fnmatch
import importlib
import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CORE = "ansible_collections.railwright.fabric.plugins.module_utils.fabric"
BLOCKED = "ansible"


class AnsibleBlocker:
    """Makes ``import ansible`` fail as if it were not installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == BLOCKED:
            msg = f"No module named {name!r} (out of reach: --without-ansible)"
            raise ModuleNotFoundError(msg, name=name)


def allowed_skips(path=HERE / "allowed_skips.txt"):
    """The committed list: pairs of a glob over test ids and the reason why such a test may be skipped in CI."""
    pairs = []
    if not Path(path).exists():
        return pairs
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        glob, separator, reason = (part.strip() for part in line.partition(" | "))
        if not (glob and separator and reason):
            raise pytest.UsageError("%s:%d: want 'glob | reason'" % (path, number))
        pairs.append((glob, reason))
    return pairs


def pytest_addoption(parser):
    group = parser.getgroup("railwright")
    group.addoption("--without-ansible", action="store_true", help="the core's tests with Ansible out of reach")
    group.addoption("--list-rules", metavar="FILE", help="write the rule marks of the collected tests as JSON")


def pytest_configure(config):
    config.addinivalue_line("markers", "rule(id, state): the test brings the named rule into this state")
    config.addinivalue_line("markers", "artifact: builds and installs the collection")
    config.addinivalue_line("markers", "lab: needs the running lab")
    config.addinivalue_line("markers", "full: only in make test-full")
    if config.getoption("--without-ansible") and not any(isinstance(f, AnsibleBlocker) for f in sys.meta_path):
        loaded = [name for name in sys.modules if name.partition(".")[0] == BLOCKED]
        if loaded:
            msg = "Ansible is loaded already: {}".format(", ".join(sorted(loaded)[:3]))
            raise pytest.UsageError(msg)
        sys.meta_path.insert(0, AnsibleBlocker())


def pytest_collection_finish(session):
    target = session.config.getoption("--list-rules")
    if target:
        marks = [
            {"test": item.nodeid, "rule": mark.args[0], "state": mark_state(mark)}
            for item in session.items
            for mark in item.iter_markers("rule")
        ]
        Path(target).write_text(json.dumps(marks), encoding="utf-8")


def mark_state(mark):
    """The state that a ``rule`` mark names, positional or by keyword."""
    return mark.args[1] if len(mark.args) > 1 else mark.kwargs["state"]


@pytest.fixture(autouse=True)
def _rule_mark_is_true(request, monkeypatch):
    """A test marked ``rule(id, state)`` must have seen a finding of that rule in that state."""
    wanted = {(mark.args[0], mark_state(mark)) for mark in request.node.iter_markers("rule")}
    if not wanted:
        yield
        return
    finding = importlib.import_module(CORE + ".model.finding").Finding
    original, seen = finding.__init__, set()

    def recording(self, *args, **kwargs):
        original(self, *args, **kwargs)
        seen.add((self.rule, self.state))

    monkeypatch.setattr(finding, "__init__", recording)
    yield
    missing = wanted - seen
    assert not missing, f"marked, but no such finding was made: {sorted(missing)}"


def _judge_skip(config, nodeid, report):
    """In CI, turn a skip that is on no list into a failure."""
    if not os.environ.get("CI") or not report.skipped or hasattr(report, "wasxfail"):
        return
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if config.getoption("--without-ansible") and "'ansible" in text:
        return
    if any(fnmatch.fnmatch(nodeid, glob) and reason in text for glob, reason in allowed_skips()):
        return
    report.outcome = "failed"
    report.longrepr = f"skipped in CI, and on no line of tests/allowed_skips.txt: {nodeid}: {text}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    _judge_skip(item.config, item.nodeid, outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    _judge_skip(collector.config, collector.nodeid, outcome.get_result())


def pytest_terminal_summary(terminalreporter):
    """Leave the counts where run_tiers.py adds them up."""
    target = os.environ.get("RAILWRIGHT_TALLY")
    if target and not hasattr(terminalreporter.config, "workerinput"):  # a worker's counts are in its controller's
        stats = terminalreporter.stats
        counts = {
            "passed": len(stats.get("passed", [])),
            "failed": len(stats.get("failed", [])) + len(stats.get("error", [])),
            "skipped": len(stats.get("skipped", [])),
        }
        with open(target, "a", encoding="utf-8") as handle:
            handle.write(json.dumps(counts) + "\n")
