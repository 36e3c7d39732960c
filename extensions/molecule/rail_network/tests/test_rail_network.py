"""Every rail has its address and its MTU, and keeps them."""

import json


def rails(host):
    intent = json.loads(host.file("/etc/railwright/intent.json").content_string)
    return intent["rails"]


def addresses(host):
    links = json.loads(host.check_output("ip -j addr show"))
    return {f"{a['local']}/{a['prefixlen']}": link for link in links for a in link.get("addr_info", [])}


def test_there_are_rails(host):
    assert len(rails(host)) >= 2


def test_addresses_of_the_fabric_are_on_links_with_its_mtu(host):
    held = {address: link for address, link in addresses(host).items() if address.startswith("10.100.")}
    assert len(held) == len(rails(host))
    assert {link["mtu"] for link in held.values()} == {4200}


def test_they_are_written_for_the_next_boot(host):
    written = host.check_output("cat /etc/systemd/network/*.network")
    for address in addresses(host):
        if address.startswith("10.100."):
            assert address in written


def test_path_mtu_is_4096(host):
    assert host.check_output("ibv_devinfo").count("active_mtu:\t\t4096") >= 2


def test_kernel_parameters_are_in_force_and_come_back(host):
    lines = host.file("/etc/sysctl.d/99-zz-railwright-rails.conf").content_string.splitlines()
    wanted = dict(line.split(" = ") for line in lines if not line.startswith("#"))
    assert len(wanted) >= 3 * len(rails(host))
    # As the kernel reads them at boot: the last file by name counts.
    boot = host.check_output("systemd-analyze cat-config sysctl.d")
    for name, value in wanted.items():
        # A filter that is off serves as well as a loose one, and is left as it is until the next boot.
        assert host.check_output(f"sysctl -n {name}") in ({"0", value} if name.endswith("rp_filter") else {value})
        assert [line for line in boot.splitlines() if line.startswith(name)][-1] == f"{name} = {value}"


def test_the_change_is_confirmed(host):
    assert not host.file("/var/lib/railwright/undo/record.json").exists
    assert not host.file("/var/lib/railwright/undo/outcome.json").exists
    assert host.check_output("systemctl list-timers --all --no-legend 'railwright-undo-*'") == ""


def test_the_management_is_remembered(host):
    remembered = json.loads(host.file("/etc/railwright/management.json").content_string)["nics"]
    held = {link["ifname"] for address, link in addresses(host).items() if address.startswith("10.100.")}
    assert remembered
    assert not held & {nic["netdev"] for nic in remembered}
