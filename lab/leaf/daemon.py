"""The process that is all leaves: it moves frames between the nodes' sockets."""

from __future__ import annotations

import array
import json
import os
import selectors
import signal
import socket
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..topology import LEAVES, PortName
from .lldp import frame as lldp_frame
from .pcap import Capture
from .shaper import TokenBucket
from .switch import Leaf

DEFAULT_RATE = 20_000_000
BURST = 32 * 1024
QUEUE_BYTES = 256 * 1024
LLDP_INTERVAL = 5.0
MAX_FRAME = 65536
MAX_MESSAGE = 1 << 20
IDLE = 3600.0


@dataclass
class Cable:
    """The end of a cable at a leaf: a node's rail on the other side, or nothing yet."""

    name: str
    home: PortName
    at: PortName
    socket: socket.socket | None = None


@dataclass
class Line:
    """Pacing and egress queue of a leaf port."""

    rate: int
    ingress: TokenBucket
    egress: TokenBucket
    queue: deque[bytes] = field(default_factory=deque)
    queued: int = 0
    blocked: bool = False
    capture: Capture | None = None


class Daemon:
    """An event loop over the cables and the control socket.

    Ingress is paced by not reading: QEMU's socket fills, and the guest's transmit queue stops,
    as with a link that is slower than its sender. Egress has a bounded queue, so only several
    senders to one receiver lose frames.
    """

    def __init__(self, control: Path, cabling: dict[str, PortName]) -> None:
        now = time.monotonic()
        self.control_path = control
        self.cables = {name: Cable(name, port, port) for name, port in cabling.items()}
        self.lines = {port: self._line(DEFAULT_RATE, now) for port in sorted(cabling.values())}
        self.leaves = {
            leaf: Leaf(leaf, [name.port for name in self.lines if name.leaf == leaf], seed)
            for seed, leaf in enumerate(LEAVES)
        }
        self.selector = selectors.DefaultSelector()
        self.counters: Counter[str] = Counter()
        self.next_lldp = now

    @staticmethod
    def _line(rate: int, now: float) -> Line:
        return Line(rate, TokenBucket(rate, BURST, now), TokenBucket(rate, BURST, now))

    def run(self) -> None:
        """Serve until SIGTERM, which ends the process with status 0."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control_path.unlink(missing_ok=True)
        listener.bind(str(self.control_path))
        listener.listen(8)
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ, self._accept)
        while True:
            timeout = self._timers(time.monotonic())
            for key, events in self.selector.select(timeout):
                # A handler before this one may have unplugged the cable.
                if key.fd in self.selector.get_map():
                    key.data(key.fileobj, events)

    @staticmethod
    def _stop(number: int, frame: object) -> None:
        # Out of the middle of a wait, which Python would resume if the handler returned.
        raise SystemExit(0)

    # Frames

    def _timers(self, now: float) -> float:
        """Do what is due and return the seconds until something is due again."""
        if now >= self.next_lldp:
            self.next_lldp = now + LLDP_INTERVAL
            for number, port in enumerate(self.lines, start=1):
                leaf = LEAVES.index(port.leaf)
                if not self.leaves[port.leaf].ports[port.port].down:
                    source = bytes((0x52, 0x54, 0x00, 0x01, leaf, number))
                    self._enqueue(port, lldp_frame(source, port.leaf, port.port))
        due = self.next_lldp - now
        for cable in self.cables.values():
            if cable.socket is None:
                continue
            line = self.lines[cable.at]
            wait = self._drain(cable, line, now)
            reading = line.ingress.wait(now)
            events = selectors.EVENT_WRITE if line.blocked else 0
            if reading:
                due = min(due, reading)
            else:
                events |= selectors.EVENT_READ
            self._watch(cable, events)
            due = min(due, wait)
        return max(due, 0.0)

    def _watch(self, cable: Cable, events: int) -> None:
        known = self.selector.get_map().get(cable.socket) if cable.socket else None
        if known is None:
            if events and cable.socket:
                self.selector.register(cable.socket, events, lambda _, mask: self._ready(cable, mask))
        elif not events:
            self.selector.unregister(known.fileobj)
        elif known.events != events:
            self.selector.modify(known.fileobj, events, known.data)

    def _ready(self, cable: Cable, events: int) -> None:
        line = self.lines[cable.at]
        if events & selectors.EVENT_WRITE:
            line.blocked = False
        if not events & selectors.EVENT_READ:
            return
        now = time.monotonic()
        while cable.socket is not None and not line.ingress.wait(now):
            try:
                frame = cable.socket.recv(MAX_FRAME)
            except BlockingIOError:
                return
            except OSError:
                frame = b""
            if not frame:
                self._unplug(cable)
                return
            line.ingress.charge(len(frame))
            if line.capture:
                line.capture.write(frame)
            leaf = self.leaves[cable.at.leaf]
            for target in leaf.receive(cable.at.port, frame):
                self._enqueue(PortName(leaf.name, target), frame)

    def _enqueue(self, port: PortName, frame: bytes) -> None:
        line = self.lines[port]
        counters = self.leaves[port.leaf].ports[port.port].counters
        if all(cable.socket is None for cable in self.cables.values() if cable.at == port):
            counters["tx_drop_unplugged"] += 1
        elif line.queued + len(frame) > QUEUE_BYTES:
            counters["tx_drop_queue"] += 1
        else:
            line.queue.append(frame)
            line.queued += len(frame)

    def _drain(self, cable: Cable, line: Line, now: float) -> float:
        """Send what the shaper allows; return the seconds until more may be sent."""
        counters = self.leaves[cable.at.leaf].ports[cable.at.port].counters
        while line.queue and not line.blocked and cable.socket is not None:
            wait = line.egress.wait(now)
            if wait:
                return wait
            frame = line.queue[0]
            try:
                cable.socket.send(frame)
            except BlockingIOError:
                line.blocked = True
                break
            except OSError:
                self._unplug(cable)
                break
            line.queue.popleft()
            line.queued -= len(frame)
            line.egress.charge(len(frame))
            counters["tx_frames"] += 1
            counters["tx_bytes"] += len(frame)
            if line.capture:
                line.capture.write(frame)
        return IDLE

    def _unplug(self, cable: Cable) -> None:
        if cable.socket is None:
            return
        if cable.socket in self.selector.get_map():
            self.selector.unregister(cable.socket)
        cable.socket.close()
        cable.socket = None
        self._clear(self.lines[cable.at])
        self.leaves[cable.at.leaf].forget(cable.at.port)

    @staticmethod
    def _clear(line: Line) -> None:
        line.queue.clear()
        line.queued = 0
        line.blocked = False

    # Control

    def _accept(self, listener: socket.socket, events: int) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(2.0)
            fds: list[int] = []
            try:
                data, fds = _receive(connection)
                answer = {"result": self._command(json.loads(data), fds)}
            except (OSError, ValueError, KeyError, TypeError) as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            finally:
                for fd in fds:
                    os.close(fd)
            try:
                connection.send(json.dumps(answer).encode())
            except OSError:
                self.counters["control_client_gone"] += 1

    def _command(self, request: dict[str, Any], fds: list[int]) -> object:
        """Run one control request. Descriptors left in ``fds`` are closed by the caller."""
        verb = request.pop("verb")
        if verb == "plug":
            cable = self.cables[request["cable"]]
            self._unplug(cable)
            cable.socket = socket.socket(fileno=fds.pop())
            cable.socket.setblocking(False)
        elif verb == "set":
            self._set(**request)
        elif verb == "swap":
            self._swap(self.cables[request["one"]], self.cables[request["other"]])
        elif verb == "reset":
            self._reset()
        elif verb == "capture":
            self._capture(PortName.parse(request["port"]), request["path"])
        elif verb == "status":
            return self._status()
        else:
            raise ValueError(f"unknown verb {verb}")
        return None

    def _set(
        self,
        target: str,
        mtu: int | None = None,
        loss: float | None = None,
        rate: int | None = None,
        down: bool | None = None,
    ) -> None:
        """Set what is given on a port (``leaf0:Ethernet1``) or, MTU and loss, on a whole leaf."""
        if target in self.leaves:
            leaf = self.leaves[target]
            names = [name for name in self.lines if name.leaf == target]
            if mtu is not None:
                leaf.mtu = mtu
        else:
            names = [PortName.parse(target)]
            leaf = self.leaves[names[0].leaf]
            if mtu is not None:
                leaf.ports[names[0].port].mtu = mtu
        for name in names:
            port, line = leaf.ports[name.port], self.lines[name]
            if loss is not None:
                port.loss = loss
            if down is not None:
                leaf.set_down(name.port, down)
            if rate is not None:
                now = time.monotonic()
                line.rate = rate
                line.ingress = TokenBucket(rate, BURST, now)
                line.egress = TokenBucket(rate, BURST, now)

    def _swap(self, one: Cable, other: Cable) -> None:
        one.at, other.at = other.at, one.at
        for cable in (one, other):
            self._clear(self.lines[cable.at])
            self.leaves[cable.at.leaf].forget(cable.at.port)
        self.next_lldp = time.monotonic()

    def _reset(self) -> None:
        now = time.monotonic()
        for cable in self.cables.values():
            cable.at = cable.home
        for name, line in self.lines.items():
            if line.capture:
                line.capture.close()
            self.lines[name] = self._line(DEFAULT_RATE, now)
        for leaf in self.leaves.values():
            leaf.reset()
        self.next_lldp = now

    def _capture(self, port: PortName, path: str | None) -> None:
        line = self.lines[port]
        if line.capture:
            line.capture.close()
            line.capture = None
        if path is not None:
            line.capture = Capture(Path(path))

    def _status(self) -> object:
        at = {cable.at: cable for cable in self.cables.values()}
        ports = {}
        for name, line in self.lines.items():
            leaf = self.leaves[name.leaf]
            port, cable = leaf.ports[name.port], at.get(name)
            ports[str(name)] = {
                "cable": cable.name if cable else None,
                "plugged": bool(cable and cable.socket),
                "mtu": leaf.mtu if port.mtu is None else port.mtu,
                "rate": line.rate,
                "loss": port.loss,
                "down": port.down,
                "capture": str(line.capture.path) if line.capture else None,
                "addresses": sorted(mac.hex(":") for mac, at_port in leaf.table.items() if at_port == name.port),
                "counters": dict(sorted(port.counters.items())),
            }
        return {"ports": ports, "counters": dict(self.counters)}


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """One message and the descriptors that came with it."""
    fds = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(MAX_MESSAGE, socket.CMSG_SPACE(4 * fds.itemsize))
    for level, kind, value in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(value[: len(value) - len(value) % fds.itemsize])
    return data, list(fds)
