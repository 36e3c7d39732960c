# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""One node's part: what is sent, what must not be sent, and what each failure is called."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import FabricError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.ports import Completed
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.cover import plan_proof
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.mtu import probe_mtu
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.node import prove_node
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.servers import serve
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.resolve.bind import bind

from tests.unit.prove.fakes import FakePort, FakeStarter, facts, node, perf_text, ping_text, rail


def prove(port, phase, known=None, *, force=False, starter=None):
    intent = node(1)
    work = plan_proof({"node1": intent, "node2": node(2)}).nodes["node1"]
    return prove_node(port, starter or FakeStarter(), intent, known or facts(), work, phase=phase, force=force)


class TwoRails(FakePort):
    """Routes and results follow the rail that is asked for; ``extra`` bends every route."""

    def __init__(self, **options):
        super().__init__(**options)
        self.extra = {}

    def _route(self, argv):
        second = argv[4].startswith("10.1.")
        own = {"dev": "ens3" if second else "ens2", "prefsrc": "10.1.0.1" if second else "10.0.0.1"}
        return self.answer(argv, {**own, **self.extra})

    def _perf(self, argv):
        if "--help" in argv:
            return super()._perf(argv)
        text = perf_text("rxe_rail1", "10.1.0.1", "0.019") if "rxe_rail1" in argv else perf_text()
        return Completed(tuple(argv), 0, text, "")


def test_full_size_passes():
    port = TwoRails()
    pairs = prove(port, "mtu").pairs
    assert [(p.kind, p.peer, p.rail, p.expected, p.value, p.netdev, p.error) for p in pairs] == [
        ("mtu", "node2", "rail0", 4200, 4200, "ens2", None),
        ("mtu", "node2", "rail1", 4200, 4200, "ens3", None),
    ]
    argv = next(argv for argv in port.sent() if argv[-1] == "10.0.0.2")
    assert argv == [
        "ping", "-n", "-M", "do", "-s", "4172", "-c", "3", "-i", "0.2", "-W", "1", "-I", "ens2",
        "-I", "10.0.0.1", "10.0.0.2",
    ]  # fmt: skip
    assert len(port.sent()) == 2


@pytest.mark.parametrize(
    ("carries", "reason", "value"),
    [(1500, "size_lost", 1500), (4000, "size_lost", 2044), (100, "size_lost", 84), (0, "unreachable", None)],
)
def test_lost_full_size_is_told_from_no_answer_at_all(carries, reason, value):
    pair = prove(TwoRails(carries=carries), "mtu").pairs[0]
    assert (pair.reason, pair.value, pair.expected) == (reason, value, 4200)


@pytest.mark.parametrize(
    ("own_mtu", "extra", "reason", "value"),
    [
        (1500, "ping: local error: message too long, mtu=1500", "local_mtu", 1500),
        (1500, "ping: sendmsg: Message too long", "local_mtu", 1500),
        (4200, "ping: local error: message too long, mtu=1500", "too_big", 1500),
        (4200, "From 10.0.0.254 icmp_seq=1 Frag needed and DF set (mtu = 1500)", "too_big", 1500),
    ],
)
def test_who_refuses_the_size(own_mtu, extra, reason, value):
    port = TwoRails()
    port._ping = lambda argv: replace_out(argv, ping_text(4172, 0, 3, extra))
    pair = prove(port, "mtu", facts(mtu=own_mtu)).pairs[0]
    assert (pair.reason, pair.value) == (reason, value)


def replace_out(argv, out):
    return Completed(tuple(argv), 1, out, "")


def test_a_lost_packet_among_three_is_lossy():
    port = TwoRails()
    port._ping = lambda argv: replace_out(argv, ping_text(4172, 2, 3))
    pair = prove(port, "mtu").pairs[0]
    assert (pair.reason, pair.value) == ("lossy", None)


def test_unreadable_ping_is_unknown_not_good():
    port = TwoRails()
    port._ping = lambda argv: replace_out(argv, ping_text(4172)[:-60])
    assert {pair.reason for pair in prove(port, "mtu").pairs} == {"tool"}
    port = TwoRails()
    port.missing = ("ping",)
    assert {pair.reason for pair in prove(port, "mtu").pairs} == {"tool"}
    port = TwoRails()
    port.hangs = ("ping",)
    assert {pair.reason for pair in prove(port, "mtu").pairs} == {"tool"}


@pytest.mark.parametrize("phase", ["mtu", "measure"])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"dev": "eth0"}, "wrong_egress"),
        ({"type": "local", "dev": "lo"}, "wrong_egress"),
        ({"type": "blackhole"}, "no_route"),
        ({"dev": None}, "no_route"),
    ],
)
def test_nothing_is_sent_by_another_way_out(phase, change, reason):
    port = TwoRails()
    port.extra = change
    outcome = prove(port, phase)
    assert {pair.reason for pair in outcome.pairs} == {reason}
    assert port.sent() == []
    if reason == "wrong_egress":
        assert {pair.netdev for pair in outcome.pairs} == {change["dev"]}


@pytest.mark.parametrize("phase", ["mtu", "measure"])
def test_a_rail_without_its_address_sends_nothing(phase):
    port = TwoRails()
    pairs = prove(port, phase, facts(addresses=("", "10.1.0.1"))).pairs
    assert [pair.reason for pair in pairs] == ["no_address", None]
    assert not any("10.0.0.2" in argv for argv in port.sent())
    assert not any(argv[:4] == ["ip", "-j", "route", "get"] and argv[4] == "10.0.0.2" for argv in port.argvs)


@pytest.mark.parametrize("phase", ["mtu", "measure"])
def test_a_rail_without_hardware_is_said_so(phase):
    bare = replace(facts(), netdevs=(), pci=(), rdma=())
    pairs = prove(TwoRails(), phase, bare).pairs
    assert {pair.reason for pair in pairs} == {"no_device"}
    assert "0000:01:00.0" in pairs[0].error


def test_an_unreadable_route_sends_nothing():
    port = TwoRails()
    port.missing = ("ip",)
    assert {pair.reason for pair in prove(port, "mtu").pairs} == {"tool"}
    assert port.sent() == []


def test_probes_beyond_the_bound_of_time_are_not_run():
    port = TwoRails()
    work = plan_proof({"node1": node(1), "node2": node(2)}).nodes["node1"]
    rails = {one.intent.name: one for one in bind(node(1), facts())}
    pairs = probe_mtu(port, rails, work, bound_s=-1.0)
    assert {pair.reason for pair in pairs} == {"not_run"}
    assert port.sent() == []


def test_ipv6_has_longer_headers():
    intents = {f"node{n}": replace(node(n), rails=(rail(0, f"fd00::{n}/64"),)) for n in (1, 2)}
    known = facts()
    known = replace(known, netdevs=(replace(known.netdevs[0], addresses=("fd00::1/64",)),))
    port = FakePort()
    outcome = prove_node(port, FakeStarter(), intents["node1"], known, plan_proof(intents).nodes["node1"], phase="mtu")
    assert outcome.pairs[0].error is None
    assert port.sent()[0][port.sent()[0].index("-s") + 1] == "4152"


def test_bandwidth_names_device_gid_and_netdev():
    port = TwoRails()
    pairs = prove(port, "measure").pairs
    assert [(p.kind, p.rail, p.value, p.device, p.gid, p.netdev, p.error) for p in pairs] == [
        ("bandwidth", "rail0", 0.018104, "rxe_rail0", "0000:0000:0000:0000:0000:ffff:0a00:0001", "ens2", None),
        ("bandwidth", "rail1", 0.019, "rxe_rail1", "0000:0000:0000:0000:0000:ffff:0a01:0001", "ens3", None),
    ]
    argv = port.sent()[0]
    for option, value in (("-d", "rxe_rail0"), ("-i", "1"), ("-x", "1"), ("-p", "18600"), ("--source_ip", "10.0.0.1")):
        assert argv[argv.index(option) + 1] == value
    assert argv[-1] == "10.0.0.2"


def test_a_result_over_another_device_or_gid_is_a_wrong_path():
    port = FakePort(perf=perf_text("rxe_rail1"))
    assert prove(port, "measure").pairs[0].reason == "wrong_path"
    port = FakePort(perf=perf_text("rxe_rail0", "192.168.7.1"))
    pair = prove(port, "measure").pairs[0]
    assert (pair.reason, pair.value) == ("wrong_path", 0.018104)
    assert pair.gid.endswith("ffff:c0a8:0701")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Couldn't connect to 10.0.0.2:18600\n", "no_server"),
        ("Failed status 12: wr_id 0 syndrom 0x81 scnt=128, ccnt=0\n", "rdma"),
        ("Failed to modify QP 17 to RTR\n", "rdma"),
        ("what is this\n", "tool"),
        ("", "tool"),
        (perf_text()[:-30], "tool"),
    ],
)
def test_failed_tests_have_a_reason_and_no_value(text, reason):
    pair = prove(FakePort(perf=text), "measure").pairs[0]
    assert (pair.reason, pair.value) == (reason, None)
    assert pair.error


def test_a_test_that_hangs_is_a_failure_of_rdma():
    port = TwoRails()
    port.hangs = ("ib_write_bw",)
    assert {pair.reason for pair in prove(port, "measure").pairs} == {"rdma"}


def test_perftest_that_is_not_installed():
    port = TwoRails()
    port.missing = ("ib_write_bw",)
    assert {pair.reason for pair in prove(port, "measure").pairs} == {"tool"}
    assert {one.reason for one in prove(port, "serve").served} == {"tool"}


def test_a_rail_without_its_gid_is_not_measured():
    known = facts()
    device = known.rdma[0]
    known = replace(known, rdma=(replace(device, ports=(replace(device.ports[0], gids=()),)), known.rdma[1]))
    port = TwoRails()
    pairs = prove(port, "measure", known).pairs
    assert [pair.reason for pair in pairs] == ["no_gid", None]
    assert len(port.sent()) == 1


def test_a_v1_gid_is_not_taken_for_a_v2_one():
    known = facts()
    device = known.rdma[0]
    first = replace(device.ports[0].gids[0], kind="IB/RoCE v1")
    known = replace(known, rdma=(replace(device, ports=(replace(device.ports[0], gids=(first,)),)), known.rdma[1]))
    assert prove(TwoRails(), "measure", known).pairs[0].reason == "no_gid"


def test_without_a_bind_option_the_kernel_must_choose_the_rails_address():
    port = TwoRails()
    port.help = ""
    assert [pair.error for pair in prove(port, "measure").pairs] == [None, None]
    port = TwoRails()
    port.help, port.extra = "", {"prefsrc": "192.168.1.1"}
    assert {pair.reason for pair in prove(port, "measure").pairs} == {"wrong_egress"}
    assert port.sent() == []


def test_servers_listen_on_the_rails_own_address():
    port, starter = TwoRails(), FakeStarter()
    served = prove(port, "serve", starter=starter).served
    assert [(one.client, one.rail, one.port, one.error) for one in served] == [
        ("node2", "rail0", 18600, ""),
        ("node2", "rail1", 18601, ""),
    ]
    argv, lifetime, name = starter.started[0]
    assert argv[argv.index("--source_ip") + 1] == "10.0.0.1"
    assert argv[-1] == "10.0.0.1"
    assert lifetime <= 90
    assert name == "prove-18600"
    assert starter.ended == 1


def test_a_server_that_does_not_come_up_says_why(monkeypatch):
    monkeypatch.setattr("ansible_collections.railwright.fabric.plugins.module_utils.fabric.prove.servers.LISTEN_S", 0.0)
    port = TwoRails(listening=(18601,))
    work = plan_proof({"node1": node(1), "node2": node(2)}).nodes["node1"]
    rails = {one.intent.name: one for one in bind(node(1), facts())}
    port.files["/run/railwright/prove-18600.log"] = "Couldn't allocate MR with error=12\n"
    served = serve(port, FakeStarter(), rails, work)
    assert (served[0].reason, served[1].error) == ("no_server", "")
    assert "memlock" in served[0].error


def test_a_rail_without_its_address_serves_nothing():
    starter = FakeStarter()
    served = prove(TwoRails(), "serve", facts(addresses=("", "10.1.0.1")), starter=starter).served
    assert [one.reason for one in served] == ["no_gid", ""]
    assert len(starter.started) == 1


@pytest.mark.parametrize("phase", ["mtu", "serve", "measure"])
def test_a_node_in_use_takes_no_part(phase):
    starter = FakeStarter()
    port = TwoRails(users=({"pid": 42, "comm": "python3"},))
    outcome = prove(port, phase, starter=starter)
    assert "python3 (42)" in outcome.refused
    assert {item.reason for item in (*outcome.pairs, *outcome.served)} == {"in_use"}
    assert port.sent() == []
    assert starter.started == []
    forced = prove(port, phase, force=True)
    assert not forced.refused


def test_queue_pairs_of_the_kernel_are_no_use():
    assert not prove(TwoRails(users=({"comm": "[ib_core]"}, {"comm": "nvme_rdma"})), "mtu").refused


def test_our_own_servers_are_no_use_while_measuring():
    port = TwoRails(users=({"pid": 7, "comm": "ib_write_bw"},))
    assert not prove(port, "measure").refused
    assert prove(port, "mtu").refused


def test_whether_it_is_in_use_must_be_known():
    port = TwoRails()
    port.missing = ("rdma",)
    assert "could not be read" in prove(port, "mtu").refused
    assert port.sent() == []


def test_unknown_phase():
    with pytest.raises(FabricError, match="known phases are mtu, serve, measure"):
        prove(TwoRails(), "load")


def test_infiniband_has_no_gid_index():
    intents = {
        f"node{n}": replace(node(n), rails=(rail(0, f"10.0.0.{n}/16", transport="infiniband", soft_roce=False),))
        for n in (1, 2)
    }
    known = facts()
    device = replace(known.rdma[0], name="mlx5_0", soft=False, parent=None, pci="0000:01:00.0")
    known = replace(known, rdma=(device,))
    text = "\n".join(line for line in perf_text("mlx5_0").splitlines() if "GID" not in line) + "\n"
    port = FakePort(perf=text)
    outcome = prove_node(
        port, FakeStarter(), intents["node1"], known, plan_proof(intents).nodes["node1"], phase="measure"
    )
    assert (outcome.pairs[0].error, outcome.pairs[0].device) == (None, "mlx5_0")
    assert "-x" not in port.sent()[0]
