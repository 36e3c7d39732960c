# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""ping: what passed, what was refused where, and what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.errors import ParseError
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse.ping import Ping, parse_ping

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "ping"


def fixture(name):
    return (FIXTURES / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "source", "size"), [("full-v4", "10.9.0.1", 4172), ("full-v6", "fd00::1", 4152)])
def test_all_packets_came_back(name, source, size):
    ping = parse_ping(fixture(name))
    assert ping.ok
    assert (ping.source, ping.size, ping.sent, ping.received) == (source, size, 3, 3)
    assert 0.05 < ping.average_ms < 0.2


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("local-mtu-v4", "local_mtu", 4200),
        ("local-mtu-v6", "local_mtu", 4200),
        ("frag-needed", "path_mtu", 1500),
        ("packet-too-big-v6", "path_mtu", 1500),
        ("packet-too-big-v6", "path_mtu_from", "fd00::fe"),
        ("net-unreachable", "unreachable", "Destination Net Unreachable (from 10.9.0.2)"),
        ("host-unreachable", "unreachable", "Destination Host Unreachable (from 10.9.0.1)"),
        ("no-buffer", "send_error", "No buffer space available"),
        ("no-source-address", "fatal", "bind: Cannot assign requested address"),
        ("no-answer", "unreachable", None),
    ],
)
def test_failures_are_told_apart(name, field, value):
    ping = parse_ping(fixture(name))
    assert not ping.ok
    assert getattr(ping, field) == value


def test_frag_needed_of_a_router_is_not_taken_for_the_local_mtu_only():
    ping = parse_ping(fixture("frag-needed"))
    assert (ping.path_mtu, ping.path_mtu_from, ping.local_mtu) == (1500, "10.9.0.254", 1500)


def test_messages_on_standard_error_count():
    text = fixture("local-mtu-v4")
    out = "\n".join(line for line in text.splitlines() if not line.startswith("ping:"))
    err = "\n".join(line for line in text.splitlines() if line.startswith("ping:"))
    assert parse_ping(out, err) == parse_ping(text)


def test_one_lost_packet_is_not_ok():
    ping = parse_ping(fixture("one-lost"))
    assert not ping.ok
    assert (ping.sent, ping.received) == (3, 2)


def test_old_ping_without_the_mtu():
    ping = parse_ping(fixture("no-answer"), "ping: sendmsg: Message too long\n")
    assert ping.local_mtu == 0
    assert ping.send_error is None


@pytest.mark.parametrize(
    "text",
    [
        "connect: Network is unreachable\n",
        "ping: connect: Network is unreachable\n",
        "ping: unknown host node9\n",
        "ping: bad address 'node9'\n",
    ],
)
def test_what_stops_ping_before_it_sends(text):
    ping = parse_ping("", text)
    assert ping.fatal
    assert not ping.ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "no such command\n",
        "PING 10.9.0.2 (10.9.0.2): 56 data bytes\n3 packets transmitted, 3 packets received, 0% packet loss\n",
    ],
)
def test_what_is_not_iputils_ping_is_refused(text):
    with pytest.raises(ParseError):
        parse_ping(text)


@pytest.mark.parametrize("name", ["full-v4", "full-v6"])
def test_cut_off_output_is_never_good(name):
    text = fixture(name).rstrip()
    for end in range(len(text)):
        try:
            ping = parse_ping(text[:end])
        except ParseError:
            continue
        assert not ping.ok, text[:end]


def test_counted_replies_that_are_not_shown_are_refused():
    with pytest.raises(ParseError, match="shows none"):
        parse_ping(
            "PING 10.9.0.2 (10.9.0.2) from 10.9.0.1 : 8(36) bytes of data.\n\n--- 10.9.0.2 ping statistics ---\n"
            "3 packets transmitted, 3 received, 0% packet loss, time 405ms\n"
        )


def test_nothing_sent_is_not_ok():
    assert not Ping().ok
