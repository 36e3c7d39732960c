"""Preflight reads; it leaves nothing."""


def test_nothing_was_written(host):
    assert not host.file("/etc/railwright").exists
    assert not host.file("/usr/local/sbin/railwright").exists


def test_no_rdma_device_was_made(host):
    assert host.run("rdma link show 2>/dev/null").stdout.strip() == ""
