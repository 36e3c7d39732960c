# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Driver, firmware, PCIe link and transceiver of a rail's NIC."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Module, NodeFacts, Unread
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.verify.hardware import pcie_gbps

from tests.unit.verify import nodes
from tests.unit.verify.rows import check, judged, pci, rdma, row, wanted

HARD, SOFT = nodes.facts(soft=False), nodes.facts()
MLX5 = {"driver": "mlx5_core"}
FW = {"firmware": "28.43.2026"}
GOOD = Module("enp1s0", "QSFP112", "NVIDIA", "MMS4X00", temperature=45.0, rx_dbm=(1.2, 0.9), tx_dbm=(1.0, 1.1))


def seen(**changes):
    return replace(HARD, optics=(replace(GOOD, **changes),))


def virtual(have):
    return replace(have, system=replace(have.system, virtual=True))


ROWS = [
    row("rail.driver", "pass", HARD, "mlx5_core", **MLX5),
    row("rail.driver", "pass", SOFT, soft=True, name="dash", driver="virtio-net"),
    # The netdev's driver is another name than the PCI function's: either may be what the profile says.
    row("rail.driver", "pass", SOFT, soft=True, name="bus", driver="virtio-pci"),
    row("rail.driver", "fail", HARD, "bnxt_en", "mlx5_core", driver="bnxt_en"),
    # The soft device's driver is not the NIC's.
    row("rail.driver", "fail", SOFT, soft=True, name="rxe", driver="rdma_rxe"),
    row(
        "rail.driver",
        "unknown",
        nodes.netdev(pci(rdma(HARD, driver=None), driver=None), driver=None),
        "could not be read",
        **MLX5,
    ),
    row("rail.firmware", "pass", HARD, **FW),
    row("rail.firmware", "fail", rdma(HARD, firmware="28.39.1002"), "28.39.1002", "28.43.2026", **FW),
    # The beginning of another version.
    row("rail.firmware", "fail", rdma(HARD, firmware="28.43.20260"), name="like", **FW),
    # ethtool adds the board to it.
    row(
        "rail.firmware",
        "pass",
        nodes.netdev(rdma(HARD, firmware=None), firmware="28.43.2026 (MT_0000000834)"),
        name="ethtool",
        **FW,
    ),
    # A dead device answers with all bits set: that is no version.
    row("rail.firmware", "unknown", rdma(HARD, firmware="65535.65535.65535"), name="dead", **FW),
    row("rail.firmware", "unknown", rdma(HARD, firmware=None), **FW),
    row("rail.pcie", "pass", HARD, "32 GT/s x16"),
    row("rail.pcie", "fail", pci(HARD, width=8), "x8", "252", "400"),
    row("rail.pcie", "fail", pci(HARD, speed_gts=16.0), "16 GT/s", name="speed"),
    # Nothing is lost that the rail needs, but something is wrong with the slot.
    row("rail.pcie", "warn", pci(HARD, width=8), "fewer lanes", speed_gbps=200.0),
    row("rail.pcie", "warn", pci(HARD, speed_gts=16.0), "lower speed", name="slower", speed_gbps=200.0),
    # Without a rate to compare with, a narrow link is not good enough.
    row("rail.pcie", "fail", pci(HARD, width=8), name="no-rate", speed_gbps=None),
    # As good as this NIC can be, and still not enough.
    row("rail.pcie", "fail", pci(HARD, width=8, max_width=8), "less than the rail's", name="able"),
    row("rail.pcie", "unknown", pci(HARD, width=None)),
    row("rail.pcie", "unknown", replace(HARD, pci=None), name="unread"),
    row("rail.optics", "pass", seen(), "QSFP112"),
    row("rail.optics", "fail", seen(rx_dbm=(1.2, -40.0)), "lane 2 of 2"),
    row("rail.optics", "fail", seen(rx_dbm=(float("-inf"), 1.0)), "lane 1", name="infinite"),
    row("rail.optics", "fail", seen(tx_dbm=(-40.0, 1.0)), "no light sent", name="sent"),
    row("rail.optics", "fail", seen(alarms=("laser rx power low alarm",)), "rx power low", name="alarm"),
    row("rail.optics", "warn", seen(alarms=("module temperature high warning",))),
    row("rail.optics", "warn", seen(temperature=71.0), "71 degrees", name="hot"),
    row("rail.optics", "fail", seen(symbol_ber=1e-11), "1.0e-11", name="ber"),
    row("rail.optics", "warn", seen(symbol_ber=1e-13), name="ber-warn"),
    row("rail.optics", "pass", seen(symbol_ber=1e-16), name="ber-good"),
    # Raw errors are normal where forward error correction is (PAM4), and effective ones count only without symbol ones.
    row("rail.optics", "pass", seen(raw_ber=1e-6, effective_ber=1e-9, symbol_ber=0.0), name="raw"),
    row("rail.optics", "fail", seen(effective_ber=1e-9), name="effective"),
    # The worse of two.
    row("rail.optics", "fail", seen(temperature=71.0, symbol_ber=1e-9), "71", "1.0e-09", name="worse"),
    row(
        "rail.optics",
        "unknown",
        replace(HARD, optics=(), unread=(Unread("ethtool -m enp1s0", "Input/output error", "enp1s0"),)),
        "Input/output error",
    ),
]


@pytest.mark.parametrize(("rule", "state", "rail", "node", "facts", "words"), ROWS)
def test_rule(rule, state, rail, node, facts, words):
    check(rule, state, rail, node, facts, words)


@pytest.mark.parametrize(
    ("rule", "node", "facts"),
    [
        ("rail.driver", wanted(), HARD),  # nothing is asked for
        ("rail.firmware", wanted(), HARD),
        ("rail.firmware", wanted(soft=True, **FW), SOFT),  # soft RoCE has none
        ("rail.pcie", nodes.intent(soft=True), SOFT),
        ("rail.pcie", wanted(), virtual(pci(HARD, width=1))),  # what a guest sees is the hypervisor's invention
        ("rail.optics", wanted(), HARD),  # nobody looked
        ("rail.optics", wanted(), replace(HARD, optics=())),  # a cable without a module that speaks
    ],
)
def test_rule_that_does_not_apply(rule, node, facts):
    assert judged(rule, node, facts) == []


def test_nothing_read_is_unknown():
    node = wanted(**MLX5, **FW)
    states = {
        item.state for rule in ("rail.driver", "rail.firmware", "rail.pcie") for item in judged(rule, node, NodeFacts())
    }
    assert states == {"unknown"}


@pytest.mark.parametrize(
    ("speed", "width", "gbps"),
    [
        (2.5, 8, 16.0),
        (8.0, 8, 63.0),
        (8.0, 16, 126.0),
        (16.0, 16, 252.1),
        (32.0, 16, 504.1),
        (None, 16, None),
        (7.0, 4, None),
    ],
)
def test_what_a_link_carries_is_what_the_kernel_says(speed, width, gbps):
    """dmesg of mlx5_core: 63.008 Gb/s for 8.0 GT/s x8, 126.016 for x16, 252.048 for 16.0 GT/s x16."""
    found = pcie_gbps(speed, width)
    assert (found if found is None else round(found, 1)) == gbps
