"""Two hosts and an emulator between them, and frames as they are on the wire."""

from __future__ import annotations

import contextlib
import ctypes
import json
import select
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs import TIMEOUT, VIADUCT, Done, Running, execute, inside, ip, wait_until

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_SOL_PACKET = 263
_PACKET_IGNORE_OUTGOING = 23
_PACKET_AUXDATA = 8
_VLAN_VALID = 0x10
_RECEIVE_BUFFER_FORCE = 33
_TIME_STAMPS = 35  # of the type struct timespec
LEFT, RIGHT = "10.77.0.1", "10.77.0.2"


@contextlib.contextmanager
def entered(namespace: str) -> Iterator[None]:
    """This thread inside a named network namespace."""
    here, named = Path("/proc/thread-self/ns/net"), Path(f"/run/netns/{namespace}")
    with here.open() as back, named.open() as there:
        assert _LIBC.setns(there.fileno(), _CLONE_NEWNET) == 0
        try:
            yield
        finally:
            assert _LIBC.setns(back.fileno(), _CLONE_NEWNET) == 0


class Tap:
    """Sends and receives whole frames on an interface; tags stay in them."""

    stamp = 0.0  # when the kernel was given the last frame received, as time.time()

    def __init__(self, namespace: str, interface: str) -> None:
        with entered(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        self.socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, 32 << 20)
        self.socket.setsockopt(socket.SOL_SOCKET, _TIME_STAMPS, 1)
        self.socket.bind((interface, 3))

    def send(self, frame: bytes) -> None:
        """Out of the interface."""
        self.socket.send(frame)

    def receive(self, timeout: float = TIMEOUT, marker: bytes = b"") -> bytes | None:
        """The next frame that holds the marker; None if there is none for so long."""
        end = time.monotonic() + timeout
        while select.select([self.socket], [], [], max(0, end - time.monotonic()))[0]:
            frame = self._take()
            if marker in frame:
                return frame
        return None

    def receive_all(self, count: int, marker: bytes = b"") -> list[bytes]:
        """So many frames, however long they take, and what comes besides."""
        frames = []
        while (frame := self.receive(TIMEOUT if len(frames) < count else 0.3, marker)) is not None:
            frames.append(frame)
        return frames

    def _take(self) -> bytes:
        frame, auxiliary, _, _ = self.socket.recvmsg(65536, 256)
        for level, kind, data in auxiliary:
            if (level, kind) == (socket.SOL_SOCKET, _TIME_STAMPS):
                seconds, nanoseconds = struct.unpack("=qq", data[:16])
                self.stamp = seconds + nanoseconds / 1e9
            if level != _SOL_PACKET or kind != _PACKET_AUXDATA:
                continue
            status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", data[:20])
            if status & _VLAN_VALID:
                frame = frame[:12] + struct.pack("!HH", tpid or 0x8100, tci) + frame[12:]
        return frame

    def close(self) -> None:
        """Closes the socket."""
        self.socket.close()


def mac_of(namespace: str) -> str:
    """The MAC address of a host's interface."""
    link = ip(namespace, "link", "show", "dev", "eth0")
    return str(link[0]["address"])


@dataclass
class Wires:
    """left:eth0 --- a:middle:b --- right:eth0."""

    left: str
    middle: str
    right: str

    @staticmethod
    def make(name: str) -> Wires:
        """Builds it; IPv6 off, so that only the test's packets are on the wire."""
        wires = Wires(f"{name}L", f"{name}M", f"{name}R")
        for namespace in wires.namespaces():
            execute(["ip", "netns", "add", namespace]).expect()
            for which in ("all", "default"):
                setting = f"net.ipv6.conf.{which}.disable_ipv6=1"
                inside(namespace, "sysctl", "-qw", setting)
            execute(["ip", "-n", namespace, "link", "set", "dev", "lo", "up"]).expect()
        wires.join(wires.left, "a")
        wires.join(wires.right, "b")
        for namespace, address in ((wires.left, LEFT), (wires.right, RIGHT)):
            execute(
                ["ip", "-n", namespace, "address", "add", f"{address}/24", "dev", "eth0"]
            ).expect()
        # No address resolution on the wire.
        macs = {host: mac_of(host) for host in (wires.left, wires.right)}
        for namespace, other, address in (
            (wires.left, wires.right, RIGHT),
            (wires.right, wires.left, LEFT),
        ):
            neighbour = ["neigh", "add", address, "lladdr", macs[other], "dev", "eth0"]
            execute(["ip", "-n", namespace, *neighbour]).expect()
        return wires

    def join(self, host: str, port: str) -> None:
        """The cable from a host to a port of the emulator."""
        peer = ["peer", "name", port, "netns", self.middle]
        execute(["ip", "-n", host, "link", "add", "eth0", "type", "veth", *peer]).expect()
        execute(["ip", "-n", host, "link", "set", "dev", "eth0", "up"]).expect()
        execute(["ip", "-n", self.middle, "link", "set", "dev", port, "up"]).expect()

    def namespaces(self) -> tuple[str, str, str]:
        """The names of all three namespaces."""
        return self.left, self.middle, self.right

    def remove(self) -> None:
        """Removes the namespaces."""
        for namespace in self.namespaces():
            execute(["ip", "netns", "delete", namespace])

    def viaduct(self, *arguments: str | Path) -> Done:
        """The command at the emulator, to its end."""
        words = [str(VIADUCT), *map(str, arguments)]
        return execute(["ip", "netns", "exec", self.middle, *words])

    def pipelines(self) -> list[dict[str, Any]]:
        """The present statistics of each pipeline of the path."""
        stats = json.loads(self.viaduct("path", "stats", "--json").expect().output)
        found = stats["pipelines"]
        assert isinstance(found, list)
        return found

    def arrived(self, count: int, direction: str = "up") -> None:
        """Waits until this many packets have reached a path's pipelines of that direction."""

        def enough() -> bool:
            entries = [entry for entry in self.pipelines() if entry["direction"] == direction]
            return sum(entry["arrived"] for entry in entries) >= count

        wait_until(enough, f"{count} packets arrive")

    @contextlib.contextmanager
    def path(self, *arguments: str | Path, ready: str = " is running ") -> Iterator[Running]:
        """`viaduct path` at the emulator while the block lasts."""
        with entered(self.middle):
            command = Running("path", *arguments)
        try:
            command.wait_for(ready)
            yield command
        finally:
            command.stop()

    def ping(self, count: int = 5, interval: float = 0.05) -> Done:
        """From left to right."""
        words = ["ping", "-n", "-c", str(count), "-i", str(interval), RIGHT]
        return inside(self.left, *words)


def traces_of(wires: Wires) -> list[str]:
    """What there is under /run/viaduct of paths in the emulator's namespace."""
    inode = str(Path(f"/run/netns/{wires.middle}").stat().st_ino)
    root = Path("/run/viaduct")
    found = []
    for record in root.glob(".paths/*/record.json"):
        with contextlib.suppress(FileNotFoundError):
            if inode in record.read_text():
                found.append(record.parent.name)
    return found
