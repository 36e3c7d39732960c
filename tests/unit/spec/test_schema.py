# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Bad variables, as YAML hands them over: one message each, with path, value and what is allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

# The schema is judged on the controller, where Ansible and what it brings (PyYAML) are.
pytest.importorskip("ansible")

import yaml
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import SpecError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve import host, spec, switch_entry
from ansible_collections.railwright.fabric.plugins.plugin_utils.spec_schema import SCHEMA, check, plain

REPOSITORY = Path(__file__).resolve().parents[3]

GOOD = """
fabric_spec:
  schema: 1
  name: pod
  fabrics:
    data: {transport: roce, link: {speed: 400G, host_mtu: 9000}, qos: {profile: pfc}}
  rails:
    - {name: rail0, fabric: data}
  units:
    su1: {rail0: {subnet: 10.10.1.0/24, leaf: l0}}
  addressing: {mode: pool, families: [4]}
fabric_profile:
  model: x
  rails: {rail0: {ports: [{pci: "0000:18:00.0"}]}}
fabric_node_id: 1
"""


def message(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        check({key: plain(value, key) for key, value in yaml.safe_load(text).items()})
    return str(caught.value)


def test_the_base_of_these_tests_is_good() -> None:
    check(yaml.safe_load(GOOD))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("name: pod", "name: pod\n  rials: []", "fabric_spec: unknown key rials. Did you mean rails?"),
        (
            "leaf: l0",
            "leaf: l0, colour: red",
            "fabric_spec.units.su1.rail0: unknown key colour. Known are subnet, gateway",
        ),
        ("  name: pod\n", "", "fabric_spec: the key name is missing. Name of the site or pod"),
        (
            "host_mtu: 9000",
            'host_mtu: "9000"',
            "fabric_spec.fabrics.data.link.host_mtu: a whole number is expected (found '9",
        ),
        (
            "host_mtu: 9000",
            "host_mtu: 9300",
            "host_mtu: at most 9194 is expected (found '9300'). MTU of the node's netdev",
        ),
        ("speed: 400G", "speed: 400", "link.speed: text is expected (found '400'). Line rate of one port, in Gbit/s"),
        ("speed: 400G", "speed: 400Gb", "link.speed: this is not written as expected (found '400Gb')."),
        ("transport: roce", "transport: rocev2", "transport: allowed are roce, infiniband (found 'rocev2')"),
        ("profile: pfc", "profile: ecn", "qos.profile: allowed are pfc+dcqcn, pfc, dcqcn, lossy (found 'ecn')"),
        (
            "families: [4]",
            "families: [5]",
            "fabric_spec.addressing.families: allowed are [4], [6], [4, 6] (found '[5]')",
        ),
        (
            "mode: pool",
            "mode: static",
            "fabric_spec.addressing.mode: allowed are pool, p2p31, external, dhcp, none, unnumb",
        ),
        ("10.10.1.0/24", "10.10.1.0", "units.su1.rail0.subnet: this is not written as expected (found '10.10.1.0')."),
        ("10.10.1.0/24", "10", "units.su1.rail0.subnet: text or a list is expected (found '10'). The rail's subnet"),
        (
            "rails:\n    - ",
            "rails:\n    - {name: toolonganame, fabric: data}\n    - ",
            "rails[0].name: this is not written as",
        ),
        ("su1: {rail0", "su1: {Rail0", "fabric_spec.units.su1: this name is not allowed (found 'Rail0')"),
        ("fabric_node_id: 1", "fabric_node_id: one", "fabric_node_id: a whole number is expected (found 'one')"),
        (
            "fabric_node_id: 1",
            "fabric_nodeid: 1",
            "fabric_nodeid: unknown key fabric_nodeid. Did you mean fabric_node_id?",
        ),
        (
            "rail0, fabric",
            "rail0, bond: {mode: lacp}, fabric",
            "rails[0].bond.mode: allowed are 802.3ad, active-backup (f",
        ),
        (
            "rail0, fabric",
            "rail0, vlan: {id: 4095}, fabric",
            "rails[0].vlan.id: at most 4094 is expected (found '4095')",
        ),
        ("schema: 1", "schema: 2", "fabric_spec.schema: 1 is expected (found '2'). Version of this contract"),
    ],
)
def test_one_message_for_what_is_wrong(before: str, after: str, expected: str) -> None:
    assert before in GOOD
    assert expected in message(GOOD.replace(before, after, 1))


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        # YAML 1.1 reads digits with colons to the base of sixty: a float, and an integer
        ("{pci: 0000:18:00.0}", 'unquoted PCI address as a number (found \'1080.0\'). Quote it: pci: "0000:18:00.0"'),
        ("{pci: 0000:18:00.1}", '(found \'1080.1\'). Quote it: pci: "0000:18:00.1"'),
        ("{mac: 52:54:00:00:01:01}", "rails.rail0.ports[0].mac: YAML read an unquoted MAC address as a number"),
        ("{guid: 0x946dae0300a1b2c4}", 'Quote it: guid: "0x946dae0300a1b2c4"'),
        ("{slot: 3}", "slot: YAML read an unquoted slot as a number (found '3'). Quote it: slot: \"3\""),
        ("{match: [{pci: 0000:18:00.0}]}", 'ports[0].match[0].pci: YAML read an unquoted PCI address as a number'),
        ('{pci: "18:00.0"}', "ports[0].pci: this is not written as expected (found '18:00.0'). PCI address of"),
        ('{pci: "0000:5E:00.0"}', "this is not written as expected (found '0000:5E:00.0')"),
        ("{netdev: eth0}", "ports[0]: unknown key netdev. Known are pci, slot, path, mac, guid, match, rdma_port"),
    ],
)  # fmt: skip
def test_hardware_addresses(port: str, expected: str) -> None:
    assert expected in message(GOOD.replace('{pci: "0000:18:00.0"}', port))


def test_what_was_meant_by_a_mac_is_written_back() -> None:
    for mac in ("52:54:00:00:01:01", "02:00:59:10:20:30"):
        text = GOOD.replace('{pci: "0000:18:00.0"}', f"{{mac: {mac}}}")
        if isinstance(yaml.safe_load(mac), int):
            assert message(text).endswith(f'Quote it: mac: "{mac}"')


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "su1: {",
            "1: {",
            "fabric_spec.units: YAML read a key as a whole number (found '1'). Quote it, \"1\":, or use a name",
        ),
        ("rails: {rail0", "rails: {0", "fabric_profile.rails: YAML read a key as a whole number (found '0')"),
        ("su1: {", "on: {", "fabric_spec.units: YAML read a key as true. It was written yes, on, true or y: quote it"),
    ],
)
def test_keys_that_yaml_did_not_read_as_text(before: str, after: str, expected: str) -> None:
    assert expected in message(GOOD.replace(before, after, 1))


def test_a_date_is_what_it_says() -> None:
    text = GOOD.replace("  name: pod", "  waivers: [{rule: rail.mtu, reason: x, until: 2027-03-31}]\n  name: pod")
    variables: Any = {key: plain(value, key) for key, value in yaml.safe_load(text).items()}
    check(variables)
    assert spec.load(variables["fabric_spec"]).waivers[0].until == "2027-03-31"


def test_the_core_and_the_schema_know_the_same_variables() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert {*host.VARIABLES, *switch_entry.VARIABLES, "fabric_spec"} == set(schema["properties"])


def test_everything_is_described_and_closed() -> None:
    def walk(node: Any, path: str) -> None:
        if not isinstance(node, dict):
            return
        if node.get("type") == "object":
            assert node.get("additionalProperties") is False, path
        for key, entry in node.get("properties", {}).items():
            target = entry
            if "description" not in entry and "$ref" in entry:
                target = schema["$defs"][entry["$ref"].rpartition("/")[2]]
            assert target.get("description"), f"{path}.{key}"
        for key, entry in node.items():
            if isinstance(entry, dict):
                walk(entry, f"{path}.{key}")
            for item in entry if isinstance(entry, list) else ():
                walk(item, f"{path}.{key}")

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    walk(schema, "")


@pytest.mark.parametrize(
    "site",
    sorted(path.parent.parent.parent.name for path in REPOSITORY.glob("inventories/*/group_vars/all/fabric.yml")),
)
def test_every_inventory_here_fits_the_schema(site: str) -> None:
    folder = REPOSITORY / "inventories" / site / "group_vars"
    loaded = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.rglob("*.yml")}
    assert "fabric.yml" in loaded
    assert any(name.startswith("hw_") for name in loaded)
    for name, variables in loaded.items():
        check({key: plain(value, key) for key, value in variables.items()})
        if name == "fabric.yml":
            spec.load(plain(variables["fabric_spec"], "fabric_spec"))


@pytest.mark.parametrize(
    "case", sorted(path.parent.name for path in REPOSITORY.glob("tests/fixtures/intent/*/input.json"))
)
def test_every_golden_input_fits_the_schema(case: str) -> None:
    data = json.loads((REPOSITORY / "tests/fixtures/intent" / case / "input.json").read_text(encoding="utf-8"))
    check({"fabric_spec": data["spec"]})
    for entry in data["hosts"].values():
        check(entry["variables"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: pod", 'name: "pod\\n"'),
        ("{name: rail0", '{name: "rail0\\n"'),
        ("su1: {rail0:", 'su1: {"rail0\\n":'),
        ('"0000:18:00.0"', '"0000:18:00.0\\n"'),
        ("10.10.1.0/24", '"10.10.1.0/24\\n"'),
    ],
)
def test_a_line_feed_at_the_end_is_seen(before: str, after: str) -> None:
    assert before in GOOD
    assert "\\Z" not in message(GOOD.replace(before, after, 1))


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf"])
def test_a_bound_that_holds_nothing_is_none(number: str) -> None:
    text = GOOD.replace("  name: pod", f"  acceptance: {{bandwidth: {number}}}\n  name: pod")
    assert message(text).startswith("fabric_spec.acceptance.bandwidth: a finite number is expected")
