# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that other programs read: sections and keys, kernel parameters, ifupdown's stanzas."""

from __future__ import annotations

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.parse import ini, interfaces, sysctl_conf
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.cases import case

LETTERS = st.text(st.sampled_from("[]=.#;-/*?\\\n \tabc19"), max_size=80)


def test_sections_and_values():
    text = "x=0\n[A]\n# c\nk = 1\nk=2 \\\n  3\n\n[B]\nk=\n[A]\nk=\nk=4\nno assignment\n"
    sections = ini.parse(text)
    assert sections == (("A", (("k", "1"), ("k", "2  3"))), ("B", (("k", ""),)), ("A", (("k", ""), ("k", "4"))))
    assert ini.values(sections, "A", "k") == ("4",)
    assert ini.value(sections, "B", "k") is None
    assert ini.value(sections, "A", "j", "k") == "4"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("net.ipv4.conf.all.rp_filter=1", (("net.ipv4.conf.all.rp_filter", "1"),)),
        ("net/ipv4/conf/rail0.100/rp_filter = 2", (("net.ipv4.conf.rail0/100.rp_filter", "2"),)),
        ("net.ipv4.conf.rail0/100.rp_filter=2", (("net.ipv4.conf.rail0/100.rp_filter", "2"),)),
        ("-net.ipv4.conf.ens4.rp_filter", (("net.ipv4.conf.ens4.rp_filter", None),)),
        ("-net.ipv4.conf.ens4.rp_filter=1", (("net.ipv4.conf.ens4.rp_filter", "1"),)),
        ("a.b=", (("a.b", ""),)),
        ("no assignment", ()),
        ("# a=1\n; b=2\n= 3\n-", ()),
    ],
)
def test_kernel_parameters(line, expected):
    assert sysctl_conf.parse(line + "\n") == expected


@pytest.mark.parametrize(
    ("pattern", "key", "fits"),
    [
        ("net.ipv4.conf.*.rp_filter", "net.ipv4.conf.ens4.rp_filter", True),
        ("net.ipv4.conf.*.rp_filter", "net.ipv4.conf.rail0/100.rp_filter", True),
        ("net.ipv4.conf.*", "net.ipv4.conf.ens4.rp_filter", False),
        ("net.ipv4.conf.ens?.rp_filter", "net.ipv4.conf.ens4.rp_filter", True),
        ("net.ipv4.conf.en[a-f]*.rp_filter", "net.ipv4.conf.ens4.rp_filter", False),
    ],
)
def test_patterns_stay_between_separators(pattern, key, fits):
    assert sysctl_conf.fits(pattern, key) is fits


def test_field_cases_of_kernel_parameters():
    balancer = dict(sysctl_conf.parse(case("sysctl/load-balancer-arp-and-rpfilter.txt")))
    assert balancer["net.ipv4.conf.all.rp_filter"] == "0"
    assert balancer["net.ipv4.conf.all.arp_announce"] == "2"
    assert "net.ipv4.conf.all.arp_ignore" not in balancer
    weka = dict(sysctl_conf.parse(case("sysctl/weka-multi-rail-same-subnet.txt")))
    assert {key: weka[f"net.ipv4.conf.{key}"] for key in ("all.arp_filter", "default.arp_filter")} == {
        "all.arp_filter": "1",
        "default.arp_filter": "1",
    }
    assert weka["net.ipv4.conf.default.arp_announce"] == "2"


def test_stanzas():
    text = """
source /etc/network/interfaces.d/*
source-directory more
auto lo ens3
allow-hotplug ens4
iface lo inet loopback
iface ens3 inet static
    address 192.0.2.1/24   # not a comment, as ifup sees it
    mtu 9000 \\
    up true
iface broken
mapping eth0
    script x
"""
    found = interfaces.parse(text)
    assert found.auto == ("lo", "ens3", "ens4")
    assert (found.sources, found.folders) == (("/etc/network/interfaces.d/*",), ("more",))
    assert [(stanza.netdev, stanza.family, stanza.method, stanza.address, stanza.mtu) for stanza in found.stanzas] == [
        ("lo", "inet", "loopback", None, None),
        ("ens3", "inet", "static", "192.0.2.1/24", "9000"),
    ]


@given(LETTERS)
def test_no_text_crashes(text):
    sections = ini.parse(text)
    ini.value(sections, "a", "b")
    for key, _value in sysctl_conf.parse(text):
        assert key == key.strip() != ""
        sysctl_conf.fits(key, "a.b")
    interfaces.parse(text)


@given(st.text(max_size=60), st.sampled_from(["iface", "auto", "source", "net.ipv4.conf.all.rp_filter=", "[x]\n"]))
def test_no_text_crashes_after_a_keyword(text, word):
    for parse in (ini.parse, sysctl_conf.parse, interfaces.parse):
        parse(f"{word} {text}")
