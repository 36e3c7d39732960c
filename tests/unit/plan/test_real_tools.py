# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""The goldens, read by the programs that they are for, where these are installed: netplan(8) and nmcli(1)."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import ini

from tests.unit.plan.network_cases import CASES, golden

# Of no consequence, or told by netplan's defaults for netdevs that it makes.
LEFT_OUT = {"Description", "RequiredForOnline", "LLDP", "ConfigureWithoutCarrier", "IgnoreCarrierLoss"}


def meaning(files):
    """What networkd is told: per file its sections, NICs without their match, drop-ins with what they belong to.

    IPv6 knows no scopes, and networkd passes over the one that netplan names (networkd-route.c).
    """
    told = {}
    for path, text in sorted(files.items()):
        name = path.rpartition("/")[2]
        if not name.endswith((".network", ".netdev", ".conf")):
            continue
        owner = path.split(".network.d/")[0].rpartition("/")[2].removesuffix(".network")
        told.setdefault((owner, name.endswith(".netdev")), []).extend(ini.parse(text))
    found = []
    for (_owner, made), sections in told.items():
        subject = ini.value(tuple(sections), "NetDev" if made else "Match", "Name") or "NIC"
        items = set()
        for section, pairs in sections:
            kept = dict(pair for pair in pairs if pair[0] not in LEFT_OUT)
            if section in ("Route", "RoutingPolicyRule"):
                kept.setdefault("Table", "254")
                if ":" in kept.get("Destination", ""):
                    kept.pop("Scope", None)
                items.add((section, tuple(sorted(kept.items()))))
            elif section not in ("Match", "NetDev"):
                items |= {(section, key, value) for key, value in pairs if key not in LEFT_OUT}
        found.append((subject, made, tuple(sorted(map(str, items)))))
    return sorted(found)


@pytest.mark.parametrize("case", CASES)
def test_netplan_makes_of_ours_what_networkd_is_told_directly(case, tmp_path):
    if shutil.which("netplan") is None:
        pytest.skip("netplan is not installed here")
    files = golden(case, "netplan")
    for path, text in files.items():
        target = tmp_path / path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(0o600)
    done = subprocess.run(
        ["netplan", "generate", "--root-dir", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    made = {str(path): path.read_text() for path in (tmp_path / "run/systemd/network").iterdir()}
    # A .link file would take the NIC's name away at the next boot.
    assert not [path for path in made if path.endswith(".link")]
    assert meaning({**made, **files}) == meaning(golden(case, "systemd-networkd"))


@pytest.mark.parametrize("case", CASES)
def test_networkmanager_keeps_every_key(case):
    if shutil.which("nmcli") is None:
        pytest.skip("nmcli is not installed here")
    for path, text in golden(case, "NetworkManager").items():
        if not path.endswith(".nmconnection"):
            continue
        argv = ["nmcli", "--offline", "connection", "modify", "connection.autoconnect", "yes"]
        done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        kept = {(section, key, _plain(value)) for section, pairs in ini.parse(done.stdout) for key, value in pairs}
        wanted = {(section, key, _plain(value)) for section, pairs in ini.parse(text) for key, value in pairs}
        assert wanted <= kept


def _plain(value):
    """NetworkManager writes a single address of a rule without its length, and options in its own order."""
    value = value.replace("/32 ", " ").replace("/128 ", " ")
    return ",".join(sorted(value.split(","))) if "=" in value else value
