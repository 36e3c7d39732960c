"""Every rail's netdev has the rail's name, and gets it again at the next boot."""

import json


def names(host):
    rails = json.loads(host.file("/etc/railwright/intent.json").content_string)["rails"]
    return [port["netdev"] for rail in rails for port in rail["ports"]]


def test_rails_have_their_names(host):
    assert len(names(host)) >= 2
    there = {link["ifname"] for link in json.loads(host.check_output("ip -j link show"))}
    assert set(names(host)) <= there


def test_udev_gives_the_same_name(host):
    for name in names(host):
        told = host.check_output(f"udevadm test-builtin net_setup_link /sys/class/net/{name} 2>&1")
        assert f"ID_NET_LINK_FILE=/etc/systemd/network/09-railwright-{name}.link" in told
        assert f"Name={name}" in host.file(f"/etc/systemd/network/09-railwright-{name}.link").content_string


def test_soft_roce_devices_keep_their_netdevs(host):
    links = json.loads(host.check_output("rdma -j link show"))
    assert {link["netdev"] for link in links if link["ifname"].startswith("rxe_")} == set(names(host))


def test_the_management_link_is_as_it_was(host):
    assert not [link for link in json.loads(host.check_output("ip -j link show")) if link["ifname"].startswith("rwtmp")]
    client = host.check_output("echo $SSH_CONNECTION").split()[0]
    assert json.loads(host.check_output(f"ip -j route get {client}"))[0]["dev"] == "mgmt0"
