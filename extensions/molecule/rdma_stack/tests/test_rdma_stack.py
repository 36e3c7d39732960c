"""The stack is there: devices, modules now and at boot, locked memory."""

import json


def test_every_rail_has_a_soft_roce_device(host):
    links = json.loads(host.check_output("rdma -j link show"))
    devices = [link for link in links if link["netdev"].startswith("rail") or link["ifname"].startswith("rxe")]
    assert len(devices) >= 2, links


def test_modules_are_loaded_now_and_at_boot(host):
    loaded = host.file("/proc/modules").content_string
    for module in ("rdma_rxe", "ib_uverbs", "rdma_ucm"):
        assert f"{module} " in loaded
    assert "rdma" in host.check_output("cat /etc/modules-load.d/*.conf /etc/rdma/modules/*.conf 2>/dev/null || true")


def test_verbs_see_the_devices(host):
    assert host.check_output("ibv_devices").count("\n") >= 3


def test_locked_memory_is_unlimited_for_login_sessions(host):
    assert "memlock" in host.check_output("cat /etc/security/limits.d/*.conf")
