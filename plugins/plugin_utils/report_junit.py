# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as JUnit XML, for CI: one suite a node, one for the fabric; a test case is one rule on one subject.

A fail is a failure, an unknown an error; what follows from a root or is waived is skipped and says why.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from .report_common import Document, Item, seconds, where

# What XML 1.0 (2.2) does not allow, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(document: Document) -> str:
    """The XML document."""
    suites: dict[str, list[tuple[str, Item | None]]] = {"fabric": []}
    for host, node in document["hosts"].items():
        suites[host] = [
            (f"{rule} {rail}".strip(), None) for rule, rails in node["passed"].items() for rail in rails or [""]
        ]
    for item in document["findings"]:
        peer = f" → {item['peer']}" if item["peer"] else ""
        rail = f" {item['rail']}" if item["rail"] else ""
        suites.setdefault(item["host"] or "fabric", []).append((f"{item['rule']}{rail}{peer}", item))
    name = _clean(f"railwright {document['spec']['name']}".strip())
    root = ET.Element("testsuites", name=name)
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite, cases in suites.items():
        element = ET.SubElement(root, "testsuite", name=_clean(suite), timestamp=document["started"])
        counts = dict.fromkeys(totals, 0)
        seen: dict[str, int] = {}
        for case, item in cases:
            counts["tests"] += 1
            seen[case] = seen.get(case, 0) + 1
            outcome = _case(element, suite, case if seen[case] == 1 else f"{case} ({seen[case]})", item)
            if outcome:
                counts[outcome] += 1
        for key, value in counts.items():
            element.set(key, str(value))
            totals[key] += value
    # The schema that Jenkins holds files to knows no "skipped" here.
    for key in ("tests", "failures", "errors"):
        root.set(key, str(totals[key]))
    root.set("time", f"{seconds(document):.0f}")
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _case(parent: ET.Element, suite: str, name: str, item: Item | None) -> str:
    element = ET.SubElement(parent, "testcase", classname=_clean(f"railwright.{suite}"), name=_clean(name), time="0")
    if item is None:
        return ""
    if item["caused_by"] or item["waived"]:
        reason = f"follows from {item['caused_by']}" if item["caused_by"] else f"waived: {item['waived']}"
        ET.SubElement(element, "skipped", message=_clean(reason))
        return "skipped"
    words = "\n".join(f"{word}: {item[word]}" for word in ("found", "expected", "cause", "remedy") if item[word])
    if item["state"] == "warn":
        ET.SubElement(element, "system-out").text = _clean(words)
        return ""
    tag, outcome = ("failure", "failures") if item["state"] == "fail" else ("error", "errors")
    message = f"{where(item)}: {item['found']}"
    ET.SubElement(element, tag, message=_clean(message), type=item["rule"]).text = _clean(words)
    return outcome


def _clean(text: str) -> str:
    return _ILLEGAL.sub("�", text)
