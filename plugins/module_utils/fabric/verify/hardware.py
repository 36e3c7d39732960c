# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules about a rail's NIC as hardware: driver, firmware, PCIe link, transceiver."""

from __future__ import annotations

from typing import Optional

from ..model.facts import Module, Pci
from ..model.finding import Finding
from ..resolve.bind import BoundPort, BoundRail
from .rule import Rule
from .view import View, place

DRIVER = Rule(
    "rail.driver",
    "The rail's NIC is driven by the driver of the hardware profile",
    "fail",
    "local",
    "Another driver has other settings, other counters and other limits, or no RDMA at all.",
    "Run site.yml (role rdma_stack) for this node, or correct the driver in the hardware profile.",
    "the hardware profile (group hw_*): rails.*.driver",
)
FIRMWARE = Rule(
    "rail.firmware",
    "The rail's NIC has the firmware of the hardware profile",
    "fail",
    "local",
    "Firmware decides what the NIC can do, and nodes that differ in it differ in faults.",
    "Update the NIC's firmware, or correct it in the hardware profile; a new one is in force after a reset of the NIC.",
    "the hardware profile (group hw_*): rails.*.firmware",
)
PCIE = Rule(
    "rail.pcie",
    "The NIC's PCIe link is as wide and as fast as it can be, and carries the rail's rate",
    "fail",
    "local",
    "Half the lanes are half the bandwidth, whatever the network side says.",
    "Seat the card again and look at its slot: lspci -vv shows LnkCap and LnkSta of the NIC and of the port above it.",
    "kernel Documentation/ABI/testing/sysfs-bus-pci: current_link_speed, max_link_width; drivers/pci/pci.h",
)
OPTICS = Rule(
    "rail.optics",
    "The rail's transceivers or cables are well",
    "fail",
    "local",
    "A module that fades or runs hot loses bits first, then packets, then the link.",
    "Clean or exchange the cable or module, and look at its other end; for heat see to the airflow of the node.",
    "SFF-8636 and CMIS alarms; symbol error rates as in NVIDIA/NVSentinel (InfiniBand: at most 1e-12)",
)

# Gbit/s that one lane carries, by GT/s: 8b/10b up to 5, 128b/130b up to 32, PAM4 beyond (PCIE_SPEED2MBS_ENC in the
# kernel's drivers/pci/pci.h, the numbers of "available PCIe bandwidth" in dmesg).
_PER_LANE = {2.5: 2.0, 5.0: 4.0, 8.0: 8 * 128 / 130, 16.0: 16 * 128 / 130, 32.0: 32 * 128 / 130, 64.0: 64.0}
# What a device that fell off the bus reads as: all bits set.
_DEAD_FIRMWARE = "65535.65535"
# Symbol error rates: above the first a link is bad, above the second it is worth a look.
BAD_BER, WORTH_A_LOOK = 1e-12, 1e-15
HOT = 70.0  # degrees Celsius: the top of the commercial range of case temperatures
# A lane with less than this has no light; modules report a dark receiver as -40 dBm, or as minus infinity.
DARK_DBM = -25.0


def driver(view: View, rail: BoundRail) -> Optional[Finding]:
    """What drives each port, by the name of the netdev's, the PCI function's or the RDMA device's driver."""
    want = rail.intent.driver
    if want is None:
        return None
    host, name = view.host, rail.intent.name
    drivers = {_label(port): _drivers(port) for port in rail.ports}
    found = ", ".join(f"{label} {' / '.join(names)}" for label, names in drivers.items() if names)
    others = [label for label, names in drivers.items() if names and _plain(want) not in map(_plain, names)]
    if others:
        return DRIVER.broken(
            host,
            name,
            expected=want,
            found=found,
            cause=f"another driver holds {', '.join(others)}",
            device=others[0],
        )
    blind = [label for label, names in drivers.items() if not names]
    if blind or not drivers:
        subjects = ("pci", "netdevs", *blind)
        found = view.missing(f"the driver of {', '.join(blind) or name}", *subjects)
        return DRIVER.unknown(host, name, expected=want, found=found)
    return DRIVER.passed(host, name, found=found)


def _drivers(port: BoundPort) -> list[str]:
    rdma = port.rdma if port.rdma is not None and not port.rdma.soft else None
    names = [item.driver for item in (port.netdev, port.pci, rdma) if item is not None and item.driver]
    return list(dict.fromkeys(name for name in names if name))


def _plain(name: str) -> str:
    return name.replace("-", "_")


def firmware_of(port: BoundPort) -> Optional[str]:
    """The version that a port's device tells; nothing for soft RoCE, and for a device that does not answer."""
    rdma, netdev = port.rdma, port.netdev
    told = [rdma.firmware if rdma is not None and not rdma.soft else None, netdev.firmware if netdev else None]
    # ethtool adds the board: "28.43.2026 (MT_0000000834)".
    return next((text.split()[0] for text in told if text and text.strip() and _DEAD_FIRMWARE not in text), None)


def firmware(view: View, rail: BoundRail) -> Optional[Finding]:
    """The running version of each port's device."""
    want = rail.intent.firmware
    if want is None or rail.intent.soft_roce:
        return None
    host, name = view.host, rail.intent.name
    versions = [(_label(port), firmware_of(port)) for port in rail.ports]
    found = ", ".join(f"{label} {version}" for label, version in versions if version)
    others = [label for label, version in versions if version is not None and version != want]
    if others:
        return FIRMWARE.broken(
            host,
            name,
            expected=want,
            found=found,
            cause=f"{', '.join(others)} runs another version than the profile names",
            device=others[0],
        )
    blind = [label for label, version in versions if version is None]
    if blind or not versions:
        subjects = ("rdma", *(port.rdma.name for port in rail.ports if port.rdma is not None))
        found = view.missing(f"the firmware of {', '.join(blind) or name}", *subjects)
        return FIRMWARE.unknown(host, name, expected=want, found=found)
    return FIRMWARE.passed(host, name, found=found)


def pcie(view: View, rail: BoundRail) -> Optional[Finding]:
    """Lanes and speed of each port's function; a virtual machine sees its host's topology not, or wrong."""
    if rail.intent.soft_roce or view.facts.system.virtual:
        return None
    host, name, need = view.host, rail.intent.name, rail.intent.speed_gbps
    functions = [port.pci for port in rail.ports if port.pci is not None]
    expected = "the link that the NIC can have" + (f", at least {need:g} Gbit/s" if need else "")
    short = [(pci, *slow) for pci in functions if (slow := _slow(pci, need)) is not None]
    if short:
        pci, cause, warn = min(short, key=lambda item: item[2])
        found = f"{pci.address} {_link(pci)}"
        return PCIE.broken(host, name, expected=expected, found=found, cause=cause, warn=warn, device=pci.address)
    blind = [pci.address for pci in functions if pci.width is None or pci.speed_gts is None]
    if blind or not functions:
        found = view.missing(f"the PCIe link of {', '.join(blind) or place(rail)}", "pci", *blind)
        return PCIE.unknown(host, name, expected=expected, found=found)
    return PCIE.passed(host, name, found=", ".join(f"{pci.address} {_link(pci)}" for pci in functions))


def _slow(pci: Pci, need: Optional[float]) -> Optional[tuple[str, bool]]:
    """What is wrong with a link, and whether it is only worth a warning: it still carries the rate."""
    carries = pcie_gbps(pci.speed_gts, pci.width)
    narrow = pci.width is not None and pci.max_width is not None and pci.width < pci.max_width
    slow = pci.speed_gts is not None and pci.max_speed_gts is not None and pci.speed_gts < pci.max_speed_gts
    enough = need is not None and carries is not None and carries >= need
    if need is not None and carries is not None and not enough:
        how = f"{carries:.4g} Gbit/s is less than the rail's {need:g} Gbit/s"
        return (f"the link came up narrower or slower than it can: {how}" if narrow or slow else how), False
    if narrow or slow:
        what = "fewer lanes" if narrow else "a lower speed"
        return f"the link came up with {what} than the NIC can have: a bad seat, a riser, or a slower slot", enough
    return None


def pcie_gbps(speed_gts: Optional[float], width: Optional[int]) -> Optional[float]:
    """Gbit/s of a PCIe link before its packets' own headers: 8 GT/s x8 -> 63.0."""
    lane = _PER_LANE.get(speed_gts) if speed_gts is not None else None
    return lane * width if lane is not None and width is not None else None


def _link(pci: Pci) -> str:
    able = f" (able to {pci.max_speed_gts:g} GT/s x{pci.max_width})" if pci.max_speed_gts and pci.max_width else ""
    speed = f"{pci.speed_gts:g} GT/s" if pci.speed_gts is not None else "unknown speed"
    return f"{speed} x{pci.width if pci.width is not None else '?'}{able}"


def optics(view: View, rail: BoundRail) -> Optional[Finding]:
    """Alarms, light, temperature and symbol errors of each port's module; only where the probe looked at them."""
    if view.facts.optics is None or rail.intent.soft_roce:
        return None
    host, name, expected = view.host, rail.intent.name, "no alarm, light on every lane, symbol BER below 1e-15"
    netdevs = [port.netdev.name for port in rail.ports if port.netdev is not None]
    present = [module for module in view.facts.optics if module.netdev in netdevs]
    ills = [(module, text, warn) for module in present for text, warn in _ills(module)]
    if ills:
        module, _text, warn = min(ills, key=lambda ill: ill[2])
        return OPTICS.broken(
            host,
            name,
            expected=expected,
            found=_words(module),
            cause="; ".join(text for other, text, _warn in ills if other is module),
            warn=warn,
            device=module.netdev,
        )
    if not present:
        unread = view.unread("optics", *netdevs)
        return OPTICS.unknown(host, name, expected=expected, found=f"no module ({unread})") if unread else None
    return OPTICS.passed(host, name, found=", ".join(_words(module) for module in present))


def _ills(module: Module) -> list[tuple[str, bool]]:
    """What a module suffers from, and whether each is only worth a warning."""
    ills = [(alarm, alarm.lower().endswith("warning")) for alarm in module.alarms]
    dark = [str(lane) for lane, power in enumerate(module.rx_dbm, 1) if power < DARK_DBM]
    if dark:
        ills.append((f"no light received on lane {', '.join(dark)} of {len(module.rx_dbm)}", False))
    silent = [str(lane) for lane, power in enumerate(module.tx_dbm, 1) if power < DARK_DBM]
    if silent:
        ills.append((f"no light sent on lane {', '.join(silent)} of {len(module.tx_dbm)}", False))
    if module.temperature is not None and module.temperature >= HOT:
        ills.append((f"{module.temperature:g} degrees Celsius", True))
    errors = module.symbol_ber if module.symbol_ber is not None else module.effective_ber
    if errors is not None and errors > WORTH_A_LOOK:
        ills.append((f"symbol error rate {errors:.1e}", errors <= BAD_BER))
    return ills


def _words(module: Module) -> str:
    return " ".join(word for word in (module.netdev, module.kind, module.vendor, module.part, module.serial) if word)


def _label(port: BoundPort) -> str:
    for item in (port.netdev, port.rdma):
        if item is not None:
            return item.name
    return port.pci.address if port.pci is not None else "the port"
