"""The agent is one executable, judges the node by itself, and runs at boot."""

import json

AGENT = "/usr/local/sbin/railwright"


def test_it_is_one_executable_of_root(host):
    agent = host.file(AGENT)
    assert agent.is_file
    assert agent.user == "root"
    assert agent.mode & 0o111 == 0o111
    assert not agent.mode & 0o022


def test_the_intent_is_there(host):
    intent = host.file("/etc/railwright/intent.json")
    assert intent.user == "root"
    assert json.loads(intent.content_string)["schema"] == 1


def test_check_passes(host):
    done = host.run(AGENT + " check")
    assert done.rc == 0, done.stdout + done.stderr


def test_check_speaks_json(host):
    assert json.loads(host.run(AGENT + " check --json").stdout)


def test_show_names_the_devices(host):
    assert "rail0" in host.check_output(AGENT + " show")


def test_it_is_woken_when_hardware_comes_back(host):
    rules = host.file("/etc/udev/rules.d/99-railwright-restore.rules")
    assert "railwright-restore.service" in rules.content_string
    assert host.run("systemctl start railwright-restore.service").rc == 0
    assert "railwright apply --event" in host.check_output("systemctl cat railwright-restore.service")


def test_it_runs_at_boot(host):
    units = host.check_output("systemctl list-unit-files --no-legend 'railwright*'")
    assert "enabled" in units
