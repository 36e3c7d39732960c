"""Which cable goes where, and the addresses that follow from a node's number."""

from __future__ import annotations

from dataclasses import dataclass

RAILS = ("rail0", "rail1")
LEAVES = ("leaf0", "leaf1")

# The same on every node: rails sit behind a PCIe root port each, so that their bus numbers stay.
MANAGEMENT_SLOT = 0x2
DISK_SLOT = 0x3
ROOT_PORT_SLOTS = {"rail0": 0x4, "rail1": 0x5}
RAIL_PCI = {"rail0": "0000:01:00.0", "rail1": "0000:02:00.0"}

# QEMU's user network; it exists once per node, so the addresses are the same on all.
MANAGEMENT_ADDRESS = "10.0.2.15"
MANAGEMENT_PREFIX = 24


@dataclass(frozen=True, order=True)
class PortName:
    """A port of a leaf, for instance ``leaf0:Ethernet1``."""

    leaf: str
    port: str

    def __str__(self) -> str:
        return f"{self.leaf}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> PortName:
        """The inverse of ``str``. Raises ValueError."""
        leaf, separator, port = text.partition(":")
        if not separator or not leaf or not port:
            raise ValueError(f"{text!r} is not LEAF:PORT, for instance leaf0:Ethernet1")
        return cls(leaf, port)


def node_number(node: str) -> int:
    """The integer of ``nodeN``, which is also its fabric_node_id."""
    return int(node.removeprefix("node"))


def personality(node: str) -> str:
    """Which driver the NIC twin of a node resembles: ``inbox`` on odd nodes, ``ofed`` on even ones."""
    return "inbox" if node_number(node) % 2 else "ofed"


def mac(number: int, nic: int) -> str:
    """MAC of a node's NIC: 0 is management, 1 is rail0, 2 is rail1."""
    return f"52:54:00:00:{number:02x}:{nic:02x}"


def management_mac(node: str) -> str:
    """MAC of the management NIC."""
    return mac(node_number(node), 0)


def rail_mac(node: str, rail: str) -> str:
    """MAC of a rail."""
    return mac(node_number(node), 1 + RAILS.index(rail))


def cable(node: str, rail: str) -> str:
    """Name of the cable that leaves a rail."""
    return f"{node}.{rail}"


def cabling(nodes: list[str]) -> dict[str, PortName]:
    """Cables as they should be: railK of nodeN is in leafK, port EthernetN."""
    return {
        cable(node, rail): PortName(leaf, f"Ethernet{node_number(node)}")
        for node in nodes
        for rail, leaf in zip(RAILS, LEAVES, strict=True)
    }
