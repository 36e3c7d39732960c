# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller side of railwright.fabric.fabric_report; the documentation is in plugins/modules/fabric_report.py."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Iterator

from ansible.plugins.action import ActionBase
from ansible.utils.color import ANSIBLE_COLOR

from ..module_utils.fabric.errors import FabricError
from ..module_utils.fabric.model.finding import Finding
from ..module_utils.fabric.verify.document import Run, build, judge
from ..plugin_utils import report_files, report_terminal
from ..plugin_utils.report_collect import node_result, pair_results
from ..plugin_utils.report_common import Document, headline
from ..plugin_utils.spec_inventory import NODES, resolve_site


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            {
                "results": {"type": "str", "default": "fabric_check_result"},
                "earlier": {
                    "type": "list",
                    "elements": "str",
                    "default": [
                        "roce_qos_result",
                        "rail_network_result",
                        "rail_naming_result",
                        "node_agent_result",
                        "rdma_stack_completed",
                        "rdma_stack_installed",
                        "rdma_stack_result",
                        "node_agent_intent_result",
                        "preflight_host",
                        "preflight_info",
                    ],
                },
                "pairs": {"type": "str", "default": "fabric_pairs"},
                "switch_dumps": {"type": "path"},
                "report_dir": {"type": "path"},
                "report": {"type": "path"},
                "on_unknown": {"type": "str", "choices": ["fail", "pass"], "default": "fail"},
                "advisory": {"type": "bool", "default": False},
            }
        )
        result["changed"] = False
        try:
            with _uncollected():
                document = (
                    report_files.read(Path(options["report"])) if options["report"] else _document(task_vars, options)
                )
        except FabricError as error:
            result.update(failed=True, msg=str(error))
            return result
        folder = Path(options["report_dir"] or _folder(options["report"], document)).absolute()
        if self._task.check_mode:
            where = "Check mode: nothing was written, and the nodes are judged as they are now"
        else:
            with _uncollected():
                report_files.write(document, folder)
            where = f"See {folder / 'report.html'}"
        self._display.display(report_terminal.render(document, self._display.columns, ANSIBLE_COLOR, where))
        verdict = document["verdict"]
        result.update({key: document[key] for key in ("verdict", "exit_code")})
        result["report"] = str(folder / "report.html")
        if options["advisory"]:
            result["msg"] = (
                f"{headline(document)}: the nodes as they are, without the changes that this run only predicts"
            )
        elif verdict == "fail" or (verdict == "unknown" and options["on_unknown"] == "fail"):
            # Ansible prints the whole result of a task that fails, below the verdict.
            result.update(failed=True, msg=f"{verdict}: {headline(document)}. {where}")
            return result
        result.update({key: document[key] for key in ("counts", "coverage")})
        return result


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looks for garbage: the findings of a thousand nodes all stay, and a walk over them costs."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _document(task_vars: dict[str, Any], options: dict[str, Any]) -> Document:
    """Judge what the hosts of the run left behind; hosts that are no longer in the play are among them."""
    nodes = task_vars["groups"].get(NODES, [])
    variables = {**task_vars, "inventory_hostname": nodes[0]} if nodes else task_vars
    known, results, pairs = task_vars["hostvars"], {}, []
    site = resolve_site(variables)
    played = {intent.host for intent in site} & set(task_vars.get("ansible_play_hosts_all", ()))
    intents = [intent for intent in site if intent.host in played or not played]
    for intent in intents:
        results[intent.host] = node_result(known[intent.host], intent, options["results"], options["earlier"])
        pairs += pair_results(known[intent.host], intent.host, options["pairs"])
    now = datetime.now(UTC)
    started, finished = (moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in (began(os.getppid(), now), now))
    run = Run(started, finished, site[0].spec_name, site[0].spec_hash, len(site) - len(intents))
    switches = _switches(variables, Path(options["switch_dumps"])) if options["switch_dumps"] else []
    findings = judge(results, pairs, now.date().isoformat(), switches)
    return build(run, results, findings, tuple(pairs))


def began(process: int, now: datetime) -> datetime:
    """When a process started (proc(5): fields of stat, uptime); ``now`` where that cannot be told.

    The parent of the worker that runs an action is the run of Ansible itself.
    """
    try:
        ticks = int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return now
    return now - timedelta(seconds=max(0.0, up - ticks / os.sysconf("SC_CLK_TCK")))


def _switches(variables: dict[str, Any], folder: Path) -> list[Finding]:
    """Findings about the switches' own dumps."""
    from ..module_utils.fabric.verify.switches import (  # noqa: PLC0415 - most runs have no dumps
        judge_switch,
        judge_unread,
    )
    from ..plugin_utils import switch_inventory  # noqa: PLC0415

    intents = switch_inventory.resolve(variables)
    differences, unread = switch_inventory.read_back(intents, folder)
    findings: list[Finding] = []
    for intent in intents:
        if intent.name in unread:
            findings.append(judge_unread(intent, unread[intent.name]))
        else:
            findings += judge_switch(intent, [item for item in differences if item.switch == intent.name])
    return findings


def _folder(report: str | None, document: Document) -> Path:
    """Beside the document that is rendered again, or one folder a fabric below the working directory."""
    return Path(report).parent if report else Path("reports") / (document["spec"]["name"] or "fabric")
