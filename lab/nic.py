"""A rail's NIC on a node, for tests: its counters, and the knobs of its twin."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import LabError
from .leaf import pcap
from .rack import Lab
from .topology import RAIL_PCI, cable, cabling

KNOBS = "/sys/kernel/debug/nic_twin"
CC_PARAMS = "/sys/kernel/debug/mlx5"
# Bytes in 100 ms that any traffic of a test exceeds: the rails carry 20 Mbit/s, which is 250000.
TIGHT = 2000


class Nic:
    """One NIC with its twin. Every method raises LabError when the node refuses."""

    def __init__(self, lab: Lab, node: str, rail: str) -> None:
        self.lab = lab
        self.node = node
        self.rail = rail
        self.pci = RAIL_PCI[rail]

    def run(self, script: str) -> str:
        """What a shell script on the node prints, with ``{netdev}`` and ``{knobs}`` filled in where they are used.

        One that iproute2's dcb breaks off for an answer with another second's number is run once more.
        """
        words = {"knobs": f"{KNOBS}/{self.pci}", "cc_params": f"{CC_PARAMS}/{self.pci}/cc_params"}
        if "{netdev}" in script:
            words["netdev"] = self.netdev()
        command = [script.format(**words)]
        try:
            return self.lab.run(self.node, command).stdout
        except LabError as error:
            if "Protocol error" not in str(error):
                raise
            return self.lab.run(self.node, command).stdout

    def netdev(self) -> str:
        """Name of the network device."""
        return self.run(f"ls /sys/bus/pci/devices/{self.pci}/virtio*/net").strip()

    def counters(self) -> dict[str, int]:
        """What ``ethtool -S`` prints."""
        lines = (line.rpartition(":") for line in self.run("ethtool -S {netdev}").splitlines()[1:])
        return {name.strip(): int(value) for name, _, value in lines}

    def hw_counters(self) -> dict[str, int]:
        """The twin's ECN and CNP counters, which soft RoCE does not have."""
        lines = (line.rpartition(":") for line in self.run("cd {knobs}/hw_counters && grep -H . *").splitlines())
        return {name: int(value) for name, _, value in lines}

    def count(self, name: str, number: int) -> None:
        """Add to any counter, by the name that ``ethtool -S`` or hw_counters have for it."""
        self._turn("add", f"{name} {number}")

    def pressure(self, priority: int, budget: int = TIGHT) -> None:
        """Let a priority be full after ``budget`` bytes in 100 ms; 0 takes the pressure away."""
        self._turn("pressure", f"{priority} {budget}")

    def dcbx_owner(self, owner: str) -> None:
        """``host``, ``firmware`` (the host can take over) or ``locked`` (it cannot)."""
        self._turn("dcbx", owner)

    def willing(self, on: bool, peer_pfc: Iterable[int] = ()) -> None:
        """Whether the port adopts its peer's settings; the peer has PFC on for ``peer_pfc``."""
        self._turn("peer_pfc", str(sum(1 << priority for priority in peer_pfc)))
        self._turn("willing", str(int(on)))

    def recreate(self) -> None:
        """Bind the driver again: the network device is a new one, with nothing set."""
        self.run(
            f"cd /sys/bus/virtio/drivers/virtio_net && device=$(basename /sys/bus/pci/devices/{self.pci}/virtio*)"
            ' && echo "$device" > unbind && echo "$device" > bind && udevadm settle'
        )

    def _turn(self, knob: str, value: str) -> None:
        self.run(f"echo '{value}' > {{knobs}}/{knob}")


def reload_twin(lab: Lab, node: str) -> None:
    """Load the module again: the network devices stay, with nothing set."""
    lab.run(node, ["modprobe -r nic_twin && modprobe nic_twin"])


@contextmanager
def captured(lab: Lab, node: str, rail: str) -> Iterator[list[pcap.Packet]]:
    """The IP packets that pass the rail's leaf port meanwhile; the list is filled at the end."""
    port = str(cabling([node])[cable(node, rail)])
    packets: list[pcap.Packet] = []
    with tempfile.TemporaryDirectory(prefix="rw-") as folder:
        path = Path(folder) / "port.pcap"
        lab.capture(port, path)
        try:
            yield packets
        finally:
            lab.capture(port, None)
        try:
            packets.extend(pcap.packets(path))
        except ValueError as error:
            raise LabError(f"the capture of {port} cannot be read: {error}") from error
