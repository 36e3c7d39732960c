# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What discovery writes is what the schema takes, on the controller."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import RecordedPort
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.probe import probe
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.discover import discover
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.discover_files import inventory_files

from tests.unit import trees

yaml = pytest.importorskip("yaml")
pytest.importorskip("jsonschema")


@pytest.mark.parametrize(
    ("builders", "soft"),
    [((trees.eight_rails,), False), ((trees.infiniband, trees.bonded), False), ((trees.soft_roce,), True)],
)
def test_the_files_pass_the_schema(tmp_path, builders, soft):
    from ansible_collections.railwright.fabric.plugins.plugin_utils.spec_schema import check

    facts = {
        f"node{n}": probe(RecordedPort(str(build(tmp_path / str(n)))), detail=True) for n, build in enumerate(builders)
    }
    files = inventory_files(discover(facts, soft), soft, {})
    for name, text in files.items():
        data = yaml.safe_load(text)
        if name.startswith("group_vars"):
            check(data)
        else:
            hosts = [
                hosts for unit in data["all"]["children"]["gpu_nodes"]["children"].values() for hosts in unit["hosts"]
            ]
            assert sorted(hosts) == sorted(facts)


def test_write_once(tmp_path):
    from ansible_collections.railwright.fabric.plugins.plugin_utils.write_once import write_files

    files = {"a/b.yml": "x\n", "c.yml": "y\n"}
    assert write_files(tmp_path, files, overwrite=False, check=True)["changed"]
    assert not list(tmp_path.iterdir())
    assert len(write_files(tmp_path, files, overwrite=False, check=False)["written"]) == 2
    again = write_files(tmp_path, files, overwrite=False, check=False)
    assert (again["changed"], again["kept"], len(again["same"])) == (False, [], 2)
    (tmp_path / "c.yml").write_text("mine\n")
    kept = write_files(tmp_path, files, overwrite=False, check=False)
    assert (kept["changed"], kept["kept"]) == (False, [str(tmp_path / "c.yml")])
    assert (tmp_path / "c.yml").read_text() == "mine\n"
    assert kept["diff"][0]["before"] == "mine\n"
    assert write_files(tmp_path, files, overwrite=True, check=False)["changed"]
    assert (tmp_path / "c.yml").read_text() == "y\n"
