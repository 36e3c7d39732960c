"""One file a switch, the same as the reviewed ones but for the number of ports."""

import json
import os
from pathlib import Path

import pytest


@pytest.fixture
def rendered():
    return Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "switches"


def test_there_is_one_file_a_switch(rendered):
    assert sorted(path.name for path in rendered.iterdir()) == [
        "spine0.json",
        "spine1.yaml",
        "spine2.cfg",
        "su1-leaf0.json",
        "su1-leaf1.yaml",
        "su1-leaf2.cfg",
    ]


def test_each_says_which_priority_is_lossless(rendered):
    sonic = json.loads((rendered / "su1-leaf0.json").read_text())
    assert {entry["pfc_enable"] for entry in sonic["PORT_QOS_MAP"].values()} == {"3"}
    assert "priority-flow-control priority 3 no-drop" in (rendered / "su1-leaf2.cfg").read_text()
    assert 'switch-priority:\n            "3": {}' in (rendered / "su1-leaf1.yaml").read_text()
