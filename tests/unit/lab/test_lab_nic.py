"""A NIC's helpers: what they run on the node, and what they make of the answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.config import Config
from lab.image import build
from lab.leaf.pcap import Capture
from lab.nic import Nic, captured, reload_twin
from lab.qemu import node_argv
from lab.rack import Completed
from lab.topology import personality

KNOBS = "/sys/kernel/debug/nic_twin/0000:02:00.0"


class Node:
    """A node that answers from a table, and remembers what was run."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.ran: list[str] = []

    def run(self, node: str, command: list[str]) -> Completed:
        script = " ".join(command)
        self.ran.append(f"{node}: {script}")
        return Completed(0, next((text for word, text in self.answers.items() if word in script), ""), "")


def nic(node: Node) -> Nic:
    return Nic(node, "node2", "rail1")  # type: ignore[arg-type]


def test_counters() -> None:
    node = Node(
        virtio="enp2s0\n",
        ethtool="NIC statistics:\n     rx_queue_0_packets: 7\n     rx_prio3_packets: 40\n",
        hw_counters="np_cnp_sent:3\nrp_cnp_handled:0\n",
    )
    assert nic(node).counters() == {"rx_queue_0_packets": 7, "rx_prio3_packets": 40}
    assert node.ran[-1] == "node2: ethtool -S enp2s0"
    assert nic(node).hw_counters() == {"np_cnp_sent": 3, "rp_cnp_handled": 0}


def test_knobs() -> None:
    node = Node()
    twin = nic(node)
    twin.pressure(3)
    twin.dcbx_owner("locked")
    twin.willing(True, peer_pfc=[3, 5])
    twin.count("rx_prio3_pause", 9)
    reload_twin(node, "node2")  # type: ignore[arg-type]
    assert node.ran == [
        f"node2: echo '3 2000' > {KNOBS}/pressure",
        f"node2: echo 'locked' > {KNOBS}/dcbx",
        f"node2: echo '40' > {KNOBS}/peer_pfc",
        f"node2: echo '1' > {KNOBS}/willing",
        f"node2: echo 'rx_prio3_pause 9' > {KNOBS}/add",
        "node2: modprobe -r nic_twin && modprobe nic_twin",
    ]


def test_a_capture_is_of_the_rails_own_port_and_ends_with_the_block() -> None:
    class Leaf:
        def __init__(self) -> None:
            self.asked: list[tuple[str, bool]] = []

        def capture(self, port: str, path: Path | None) -> None:
            self.asked.append((port, path is not None))
            if path:
                stream = Capture(path)
                stream.write(bytes(12) + b"\x08\x00\x45\x6a" + bytes(18))
                stream.close()

    leaf = Leaf()
    with captured(leaf, "node2", "rail1") as packets:  # type: ignore[arg-type]
        assert packets == []
    assert [packet.dscp for packet in packets] == [26]
    with pytest.raises(KeyError), captured(leaf, "node2", "rail1"):  # type: ignore[arg-type]
        raise KeyError
    assert leaf.asked == [("leaf1:Ethernet2", True), ("leaf1:Ethernet2", False)] * 2


def test_there_is_a_node_of_each_personality_and_its_kernel_is_told(tmp_path: Path) -> None:
    assert [personality(f"node{number}") for number in (1, 2, 3)] == ["inbox", "ofed", "inbox"]
    config = Config.from_environment({"XDG_CACHE_HOME": str(tmp_path), "LAB_RUNTIME": str(tmp_path / "r")})
    for node, kind in (("node1", "inbox"), ("node2", "ofed")):

        class Cable:
            def fileno(self) -> int:
                return 3

        rails = {"rail0": Cable(), "rail1": Cable()}
        argv = node_argv(config, build.Image(tmp_path), "tcg", node, tmp_path, rails, None)  # type: ignore[arg-type]
        assert f"nic_twin.personality={kind}" in argv[argv.index("-append") + 1].split()


def test_the_twin_is_built_from_all_that_its_makefile_names() -> None:
    names = {path.name for path in build.twin_sources()}
    objects = (build.TWIN_SOURCE / "Kbuild").read_text().split("nic_twin-y :=")[1].split()
    assert names == {"Kbuild", "twin.h", *(name.replace(".o", ".c") for name in objects)}
