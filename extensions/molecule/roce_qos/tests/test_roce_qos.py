"""The kernel has what the spec says: asked with the field's own tools, not with what set it."""

import json

import pytest


@pytest.fixture
def rails(host):
    """Rails and the netdevs that have their addresses."""
    intent = json.loads(host.file("/etc/railwright/intent.json").content_string)
    links = json.loads(host.check_output("ip -j addr show"))
    held = {f"{a['local']}/{a['prefixlen']}": link["ifname"] for link in links for a in link.get("addr_info", [])}
    return {rail["name"]: held[rail["addresses"][0]] for rail in intent["rails"]}


def dcb(host, what, netdev):
    return json.loads(host.check_output("dcb -j %s show dev %s", what, netdev))


def test_pfc_is_on_for_priority_3_alone(host, rails):
    for netdev in rails.values():
        assert dcb(host, "pfc", netdev)["prio_pfc"] == [priority == 3 for priority in range(8)]


def test_classes_and_shares(host, rails):
    for netdev in rails.values():
        ets = dcb(host, "ets", netdev)
        assert ets["prio_tc"] == [0, 0, 0, 3, 0, 0, 6, 0]
        assert [ets["tc_tsa"][tc] for tc in (0, 3, 6)] == ["ets", "ets", "strict"]
        assert [ets["tc_bw"][tc] for tc in (0, 3)] == [50, 50]


def test_dscp_26_and_48_are_mapped(host, rails):
    for netdev in rails.values():
        trust = host.file(f"/sys/class/net/{netdev}/qos/trust")
        if trust.exists:
            assert trust.content_string.strip() == "dscp"
            lines = host.file(f"/sys/class/net/{netdev}/qos/dscp2prio").content_string.splitlines()
            table = {tuple(line.split()) for line in lines}
            assert {("26", "3"), ("48", "6")} <= table
            continue
        table = [tuple(entry[:2]) for entry in dcb(host, "app", netdev)["dscp_prio"]]
        assert [entry for entry in table if entry[0] in (26, 48)] == [(26, 3), (48, 6)]


def test_global_pause_is_off(host, rails):
    for netdev in rails.values():
        lines = [line.split() for line in host.check_output("ethtool -a %s", netdev).splitlines()]
        found = {words[0]: words[1] for words in lines if len(words) == 2 and words[0] in ("RX:", "TX:")}
        assert found == {"RX:": "off", "TX:": "off"}


def test_rdma_connections_carry_tos_106(host, rails):
    for name in rails:
        base = f"/sys/kernel/config/rdma_cm/rxe_{name}/ports/1"
        assert host.file(f"{base}/default_roce_tos").content_string.strip() == "106"
        assert host.file(f"{base}/default_roce_mode").content_string.strip() == "RoCE v2"


def test_management_has_none_of_it(host, rails):
    assert "mgmt0" not in rails.values()
    assert host.run("dcb -j app show dev mgmt0").stdout.strip() in ("", "{}")
