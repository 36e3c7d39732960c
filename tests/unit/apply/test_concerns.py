# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Driver stack and rails on a node that behaves: first and second run, drift, refusals, and what goes wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply import concerns
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.apply.concerns import apply_network, apply_stack
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ApplyError, ReadError, RefusedError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Unread
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.derive import STORAGE_ULPS

from tests.unit.apply.simulated import RAIL0, RAIL1, Clock, SimulatedNode, intent, rail


def network(node, wanted=None, **options):
    return apply_network(node, wanted or intent(), timer=Clock().timer, **options)


def stack(node, wanted=None, packages=(), **options):
    return apply_stack(node, wanted or intent(), packages, timer=Clock().timer, **options)


def test_network_first_and_second_run():
    node = SimulatedNode()
    plan = network(node)
    kernel = [str(step) for step in plan.steps if step.subject == "kernel"]
    assert kernel[0] == "kernel: file /etc/sysctl.d/99-zz-railwright-rails.conf (none) -> 9 parameters"
    assert kernel[1] == "kernel: net.ipv4.conf.ens4.arp_ignore 0 -> 1"
    assert [str(step).partition(" [")[0] for step in plan.steps if step.subject != "kernel"] == [
        f"rail0: file {RAIL0} (none) -> MTU 4200, 10.100.0.1/24",
        "rail0: MTU of ens4 1500 -> 4200",
        "rail0: address of ens4 (none) -> 10.100.0.1/24",
        f"rail1: file {RAIL1} (none) -> MTU 4200, 10.100.1.1/24",
        "rail1: MTU of ens5 1500 -> 4200",
        "rail1: address of ens5 (none) -> 10.100.1.1/24",
    ]
    assert [call for call in node.calls if call.startswith("networkctl")] == [
        "networkctl reload",
        "networkctl reconfigure ens4",
        "networkctl reconfigure ens5",
    ]
    assert node.net["ens4"]["mtu"] == 4200
    assert node.net["ens2"] == {**SimulatedNode().net["ens2"]}
    node.forget()
    assert network(node).steps == ()
    assert node.changes == []


def test_network_check_changes_nothing():
    node = SimulatedNode()
    assert network(node, check=True).steps == network(SimulatedNode()).steps
    assert node.changes == []


def test_network_drift_by_hand_is_found_and_only_that_link_is_configured_again():
    node = SimulatedNode()
    network(node)
    node.forget()
    node.net["ens5"]["mtu"] = 1500
    plan = network(node)
    assert [(step.subject, step.setting, step.before, step.after) for step in plan.steps] == [
        ("rail1", "MTU of ens5", "1500", "4200")
    ]
    assert [call for call in node.changes if "network" in call and "unsettled" not in call] == [
        "networkctl reload",
        "networkctl reconfigure ens5",
    ]
    assert node.net["ens5"]["mtu"] == 4200


@pytest.mark.parametrize("found", [[], ["10.100.0.9/24"], ["10.100.0.1/24", "10.100.0.2/24"]])
def test_network_drifted_addresses(found):
    node = SimulatedNode()
    network(node)
    node.net["ens4"]["addresses"] = [*found, "fe80::1/64"]
    assert [step.setting for step in network(node).steps] == ["address of ens4"]
    assert node.net["ens4"]["addresses"] == ["10.100.0.1/24"]


def test_network_rolls_back_when_it_did_not_help():
    node = SimulatedNode()
    network(node)
    before = dict(node.files)
    wanted = intent(rail(0, host_mtu=9100), rail(1))
    with pytest.raises(ApplyError, match=r"not as wanted afterwards: rail0: MTU of ens4 4200 -> 9100.*Rolled back: "):
        network(node, wanted)
    assert node.files == before
    assert node.net["ens4"]["mtu"] == 4200
    assert node.calls.count("networkctl reload") == 3


def test_network_rolls_back_when_a_tool_fails():
    node = SimulatedNode()
    node.tools["networkctl reload"] = (1, "Connection timed out")
    with pytest.raises(ApplyError, match=r"Connection timed out.*Rolling back failed as well"):
        network(node)
    assert RAIL0 not in node.files
    assert node.exists("/run/railwright/unsettled-network")
    node.tools["networkctl reload"] = lambda port: port.reload()
    network(node)
    assert node.net["ens4"]["mtu"] == 4200


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("path", [RAIL0, RAIL1])
def test_network_killed_in_the_middle_converges_on_the_next_run(path):
    node = SimulatedNode()

    def kill(written):
        if written == path:
            raise Killed

    node.on_write = kill
    with pytest.raises(Killed):
        network(node)
    node.on_write = lambda written: None
    network(node)
    assert network(node).steps == ()


def test_network_killed_before_settling_settles_even_when_all_looks_well():
    node = SimulatedNode()
    network(node)
    # The file is in place and the link happens to be as wanted, but networkd never read that file.
    node.files["/run/railwright/unsettled-network"] = b""
    node.loaded = {}
    node.forget()
    plan = network(node)
    assert [step.setting for step in plan.steps] == ["settings in force", "settings in force"]
    assert node.loaded
    assert not node.exists("/run/railwright/unsettled-network")


def test_network_refuses_the_management_link():
    node = SimulatedNode()
    node.files["/proc/net/route"] = node.files["/proc/net/route"].replace(b"ens2", b"ens4")
    with pytest.raises(RefusedError, match="rail0 is on ens4, and ens4 carries the node's management"):
        network(node)
    assert node.changes == []


def test_stack_makes_no_soft_roce_device_on_the_management_link():
    node = SimulatedNode()
    node.files["/proc/net/route"] = node.files["/proc/net/route"].replace(b"ens2", b"ens4")
    with pytest.raises(RefusedError, match="rail0 is on ens4, and ens4 carries the node's management"):
        apply_stack(node, intent(rail(0)))
    assert node.changes == []


def test_network_refuses_the_link_of_the_session():
    node = SimulatedNode()
    node.net["ens5"]["addresses"] = ["192.0.2.7/24"]
    with pytest.raises(RefusedError, match="rail1 is on ens5"):
        network(node, session="192.0.2.7")
    assert node.changes == []


def test_network_refuses_what_it_cannot_drive():
    node = SimulatedNode(manager="wickedd")
    with pytest.raises(RefusedError, match=r"found 'none that is known'"):
        network(node)
    assert node.changes == []


QPS = [
    {"ifname": "rxe_rail0", "port": 1, "lqpn": 1, "type": "GSI", "state": "RTS", "comm": "[ib_core]"},
    {"ifname": "rxe_rail1", "port": 1, "lqpn": 17, "type": "RC", "state": "RTS", "pid": 812, "comm": "ib_write_bw"},
]


@pytest.mark.parametrize("drifted", ["ens4", "ens5"])
def test_network_refuses_a_change_under_a_job(drifted):
    node = SimulatedNode()
    stack(node)
    network(node)
    node.tools["rdma -j resource show qp"] = json.dumps(QPS)
    node.net[drifted]["mtu"] = 1500
    node.forget()
    if drifted == "ens4":
        # Only the kernel's own queue pair is on that rail.
        assert network(node).steps
        return
    with pytest.raises(RefusedError, match=r"rail1.*rxe_rail1 by ib_write_bw \(812\)"):
        network(node)
    assert node.changes == []
    assert network(node, allow_disruption=True).steps


def test_network_refuses_a_change_under_a_job_that_is_not_connected_yet():
    """Contexts are of processes; the other device's, and what the kernel holds, stop nothing."""
    node = SimulatedNode()
    stack(node)
    network(node)
    counts = [{"ifname": f"rxe_rail{rail}", "pd": 2, "qp": 1, "ctx": rail * 2} for rail in range(2)]
    node.tools["rdma -j resource show"] = json.dumps(counts)
    node.net["ens4"]["mtu"] = 1500
    assert network(node).steps
    node.net["ens5"]["mtu"] = 1500
    with pytest.raises(RefusedError, match=r"rxe_rail1 by 2 process\(es\) that opened it"):
        network(node)


@pytest.mark.parametrize("tool", ["rdma -j resource show qp", "rdma -j resource show"])
@pytest.mark.parametrize("reply", ["hangs", (1, "no"), "Segmentation fault"])
def test_network_unknown_use_is_no_free_rail(tool, reply):
    node = SimulatedNode()
    stack(node)
    node.tools[tool] = reply
    node.forget()
    with pytest.raises(RefusedError, match="is in use cannot be told"):
        network(node)
    assert node.changes == []


def test_users_are_asked_for_only_when_something_changes():
    node = SimulatedNode()
    stack(node)
    network(node)
    node.forget()
    network(node)
    assert "rdma -j resource show qp" not in node.calls


def test_network_leaves_what_it_does_not_know_alone_and_says_so():
    node = SimulatedNode()
    gone = rail(1, ports=rail(2).ports)
    plan = network(node, intent(rail(0, addressing="dhcp", addresses=()), gone))
    assert {step.subject for step in plan.steps} == {"kernel"}
    assert plan.notes == (
        "rail0: left alone, because addresses from DHCP are verified only",
        "rail1: left alone, because no NIC with PCI address 0000:03:00.0 on this node",
    )


def test_stack_first_and_second_run():
    node = SimulatedNode()
    plan, missing = stack(node, packages=("rdma-core",))
    assert missing == ()
    assert [str(step) for step in plan.steps] == [
        "boot: modules (none) -> ib_uverbs, rdma_rxe, rdma_ucm",
        f"boot: storage modules kept out (none) -> {', '.join(STORAGE_ULPS)}",
        "logins: memlock limit (none) -> unlimited",
        "kernel: module ib_uverbs (none) -> loaded",
        "kernel: module rdma_rxe (none) -> loaded",
        "kernel: module rdma_ucm (none) -> loaded",
        "rail0: soft RoCE device (none) -> rxe_rail0 on ens4 [after: module rdma_rxe]",
        "rail1: soft RoCE device (none) -> rxe_rail1 on ens5 [after: module rdma_rxe]",
    ]
    assert "root hard memlock unlimited" in node.read("/etc/security/limits.d/railwright-memlock.conf")
    node.forget()
    assert stack(node, packages=("rdma-core",))[0].steps == ()
    assert node.changes == []


def test_stack_waits_for_packages():
    node = SimulatedNode()
    plan, missing = stack(node, packages=("rdma-core", "perftest"))
    assert missing == ("perftest",)
    assert str(plan.steps[0]) == "packages: perftest (none) -> installed [after: the role's package task]"
    assert {step.depends_on for step in plan.steps if step.subject in {"kernel", "rail0"}} == {"packages perftest"}
    assert node.changes == []


def test_stack_module_that_is_built_in():
    node = SimulatedNode()
    node.files["/proc/sys/kernel/osrelease"] = b"6.1.0\n"
    node.files["/lib/modules/6.1.0/modules.builtin"] = b"kernel/drivers/infiniband/core/ib-uverbs.ko\n"
    # A folder below /sys/module may also belong to a module that is on its way in or out.
    node.files["/sys/module/rdma_rxe/initstate"] = b"going\n"
    plan, _ = stack(node, intent(modules=("ib-uverbs", "rdma_rxe")))
    assert [step.setting for step in plan.steps if step.subject == "kernel"] == ["module rdma_rxe"]
    assert stack(node, intent(modules=("ib-uverbs", "rdma_rxe")))[0].steps == ()


def test_network_files_of_an_earlier_spec_go():
    node = SimulatedNode()
    old = "/etc/systemd/network/10-railwright-alpha.network"
    network(node, intent(rail(0, name="alpha", host_mtu=1600), rail(1)))
    # Its name comes first, so networkd takes it rather than the new one.
    foreign = "/etc/systemd/network/10-railway-alpha.network"
    node.files[foreign] = b"[Match]\nName=ens2\n"
    plan = network(node)
    stale = next(step for step in plan.steps if step.setting == f"file {old}")
    assert (stale.subject, stale.before, stale.after) == ("alpha", "a rail of an earlier spec", "")
    assert stale.disruptive
    assert old not in node.files
    assert foreign in node.files
    assert node.net["ens4"]["mtu"] == 4200
    node.forget()
    assert network(node).steps == ()
    assert node.changes == []


def test_network_file_of_an_earlier_spec_alone_configures_its_link_again():
    node = SimulatedNode()
    network(node)
    node.files[RAIL0.replace("rail0", "old")] = node.files[RAIL1]
    node.forget()
    assert [step.subject for step in network(node).steps] == ["old"]
    assert [call for call in node.calls if "networkctl" in call] == ["networkctl reload", "networkctl reconfigure ens5"]
    assert network(node).steps == ()


def test_network_file_of_an_earlier_spec_stays_while_a_job_may_use_its_rail():
    node = SimulatedNode()
    stack(node)
    network(node)
    node.tools["rdma -j resource show qp"] = json.dumps(QPS)
    node.forget()
    with pytest.raises(RefusedError, match="rxe_rail1 by ib_write_bw"):
        network(node, intent(rail(0)))
    assert node.changes == []


def test_network_file_of_an_earlier_spec_on_what_is_management_now_stays():
    node = SimulatedNode()
    network(node)
    node.files["/proc/net/route"] = node.files["/proc/net/route"].replace(b"ens2", b"ens5")
    node.forget()
    plan = network(node, intent(rail(0)))
    assert {step.subject for step in plan.steps} == {"kernel"}
    assert plan.notes == (f"{RAIL1}: left alone, because ens5 carries the node's management by now",)
    assert RAIL1 in node.files
    assert not [call for call in node.calls if call.startswith("networkctl")]


def test_network_unknown_management_is_no_permission():
    node = SimulatedNode()
    node.files["/proc/net/route"] = b"Iface Destination\nens2 zz\n"
    with pytest.raises(ReadError, match="which link carries the management could not be read"):
        network(node)
    assert node.changes == []


def test_network_unknown_rdma_devices_are_no_free_rails(monkeypatch):
    node = SimulatedNode()
    node.net["ens4"]["mtu"] = 1600
    look = concerns.probe
    unread = (Unread("rdma -j link show", "did not return", "rdma"),)
    monkeypatch.setattr(concerns, "probe", lambda *a, **k: replace(look(*a, **k), rdma=None, unread=unread))
    with pytest.raises(RefusedError, match=r"rail0.*in use cannot be told.*rdma -j link show: did not return"):
        network(node)
    assert node.changes == []
    assert network(node, allow_disruption=True).steps
    assert network(node).steps == ()


def test_roll_back_keeps_the_mode_of_files():
    node = SimulatedNode()
    network(node)
    node.modes[RAIL0] = 0o600
    with pytest.raises(ApplyError, match="Rolled back"):
        network(node, intent(rail(0, host_mtu=9100), rail(1)))
    assert (node.modes[RAIL0], node.modes[RAIL1]) == (0o600, 0o644)


def test_roll_back_names_what_is_not_undone():
    node = SimulatedNode()
    node.tools["rdma link add"] = (2, "error: Operation not supported")
    with pytest.raises(ApplyError, match=r"Not undone: modprobe ib_uverbs, modprobe rdma_rxe, modprobe rdma_ucm"):
        stack(node)
    node = SimulatedNode()
    node.tools["networkctl reconfigure"] = (1, "no")
    with pytest.raises(ApplyError) as error:
        network(node)
    assert "Not undone" not in str(error.value)


def test_stack_soft_device_on_the_wrong_netdev_moves():
    node = SimulatedNode()
    stack(node)
    node.rdma_delete_all = [node._forget(name) for name in ("rxe_rail0", "rxe_rail1")]
    node.add_device("rxe_rail0", "ens5")
    plan, _ = stack(node, intent(rail(0)))
    assert [step.before for step in plan.steps] == ["rxe_rail0 on ens5"]
    assert node.read("/sys/class/infiniband/rxe_rail0/parent") == "ens4\n"


def test_stack_soft_device_with_another_name_is_renamed():
    node = SimulatedNode()
    stack(node)
    node._forget("rxe_rail0")
    node.add_device("rxe0", "ens4")
    plan, _ = stack(node)
    assert [(step.before, step.after, step.disruptive) for step in plan.steps] == [
        ("rxe0 on ens4", "rxe_rail0 on ens4", None)
    ]
    assert "rdma dev set rxe0 name rxe_rail0" in node.calls
    assert stack(node)[0].steps == ()


def test_stack_module_that_does_not_load():
    node = SimulatedNode()
    node.tools["modprobe"] = (1, "modprobe: FATAL: Module rdma_rxe not found in directory /lib/modules/6.1.0")
    with pytest.raises(ApplyError, match=r"Module rdma_rxe not found.*Rolled back: /etc/modules-load.d"):
        stack(node)
    assert not node.exists("/etc/modules-load.d/railwright-rdma.conf")


@pytest.mark.parametrize("call", ["networkctl reload", "networkctl reconfigure ens5"])
def test_network_killed_after_the_file_of_a_rail_that_is_no_more_has_gone(call):
    node = SimulatedNode()
    network(node)
    tool = node.tools[call.rpartition(" ens5")[0] or call]

    def kill(port):
        raise Killed

    node.tools[call] = kill
    with pytest.raises(Killed):
        network(node, intent(rail(0)))
    assert RAIL1 not in node.files
    node.tools[call] = tool
    plan = network(node, intent(rail(0)))
    assert ("rail1", "settings in force") in [(step.subject, step.setting) for step in plan.steps]
    assert node.net["ens5"]["addresses"] == []
    node.forget()
    assert network(node, intent(rail(0))).steps == ()
    assert node.changes == []


def test_network_what_an_interrupted_run_owes_is_no_trap():
    """A netdev of then has another name by now: its settling fails, and the run does not."""
    node = SimulatedNode()
    network(node)
    owed = {"disrupts": {"rail7": "x"}, "settle": [["networkctl", "reconfigure", "ens9"], 30.0]}
    node.files["/run/railwright/unsettled-network"] = json.dumps(owed).encode()
    network(node)
    owed["settle"] = [[["networkctl", "reconfigure", "ens9"], 30.0]]
    node.files["/run/railwright/unsettled-network"] = json.dumps(owed).encode()
    node.tools["networkctl reconfigure ens9"] = (1, 'Interface "ens9" not found.')
    assert "rail7" in [step.subject for step in network(node).steps]
    assert network(node).steps == ()


def test_stack_soft_devices_that_changed_places():
    node = SimulatedNode()
    stack(node)
    for name in ("rxe_rail0", "rxe_rail1"):
        node._forget(name)
    node.add_device("rxe_rail0", "ens5")
    node.add_device("rxe_rail1", "ens4")
    node.forget()
    stack(node)
    # The kernel has one a netdev: none is added where another one is still.
    assert [call for call in node.calls if call.startswith(("rdma link add", "rdma link delete", "rdma dev"))] == [
        "rdma link delete rxe_rail0",
        "rdma dev set rxe_rail1 name rxe_rail0",
        "rdma link add rxe_rail1 type rxe netdev ens5",
    ]
    assert stack(node)[0].steps == ()
