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


def test_services_may_lock_memory_as_well(host):
    told = host.check_output("systemctl show --property=LimitMEMLOCK,NeedDaemonReload ssh.service")
    assert sorted(told.split()) == ["LimitMEMLOCK=infinity", "NeedDaemonReload=no"]
    main = host.check_output("systemctl show --property=MainPID --value ssh.service").strip()
    (line,) = [line for line in host.file(f"/proc/{main}/limits").content_string.splitlines() if "locked mem" in line]
    assert line.split()[3] == "unlimited"


def test_storage_modules_are_kept_out_by_the_program_that_loads_them(host):
    assert "blacklist ib_iser" in host.file("/etc/modprobe.d/railwright-storage.conf").content_string
    load = "SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console /usr/lib/systemd/systemd-modules-load"
    told = host.run(f"echo ib_iser > /run/storage.conf; {load} /run/storage.conf; rm /run/storage.conf")
    assert "deny-listed" in told.stderr, told
    assert "ib_iser " not in host.file("/proc/modules").content_string
