"""Looking into network namespaces: counters, packets. Needs root."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

_CLONE_NEWNET = 0x40000000
_ETH_P_ALL = 3
_Made = TypeVar("_Made")


def inside(namespace: str, make: Callable[[], _Made]) -> _Made:
    """What `make` returns, called in a namespace of `ip netns`. Raises OSError."""
    result: list[_Made] = []
    error: list[BaseException] = []

    def enter() -> None:
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            with (Path("/run/netns") / namespace).open() as file:
                if libc.setns(file.fileno(), _CLONE_NEWNET) != 0:
                    number = ctypes.get_errno()
                    raise OSError(number, f"namespace {namespace}: {os.strerror(number)}")
            result.append(make())
        except BaseException as caught:
            error.append(caught)

    # A thread has a namespace of its own, and this one's ends with it.
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if error:
        raise error[0]
    return result[0]


class Counters:
    """Bytes, packets and drops of the interfaces of a namespace, read by one call each."""

    def __init__(self, namespace: str) -> None:
        # An open file stays that of the namespace in which it was opened.
        self._fd = inside(
            namespace, lambda: os.open(f"/proc/{threading.get_native_id()}/net/dev", os.O_RDONLY)
        )

    def read(self) -> dict[str, tuple[int, int, int]]:
        """Sent bytes, sent packets, and drops in both directions, by interface."""
        found = {}
        for line in os.pread(self._fd, 1 << 16, 0).decode().splitlines()[2:]:
            name, _, rest = line.partition(":")
            cells = rest.split()
            found[name.strip()] = (int(cells[8]), int(cells[9]), int(cells[3]) + int(cells[11]))
        return found

    def close(self) -> None:
        """Lets the namespace go."""
        os.close(self._fd)


class Packets:
    """The last packets of an interface."""

    def __init__(self, namespace: str, interface: str, most: int = 200) -> None:
        self._kept: deque[tuple[float, bytes, int]] = deque(maxlen=most)
        self._socket = inside(namespace, lambda: self._open(interface))
        self.seen = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @staticmethod
    def _open(interface: str) -> socket.socket:
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        made.bind((interface, 0))
        made.settimeout(0.5)
        return made

    def _read(self) -> None:
        while self._socket.fileno() >= 0:
            try:
                frame = self._socket.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError:
                if self._socket.fileno() < 0:
                    return
                time.sleep(0.2)  # the interface is down
                continue
            self.seen += 1
            self._kept.append((time.time(), frame[:256], len(frame)))

    def close(self) -> None:
        """Stops listening."""
        self._socket.close()

    def lines(self) -> list[str]:
        """A line for each, the latest last: tshark's if it is there."""
        kept = list(self._kept)
        tshark = shutil.which("tshark")
        if tshark and kept:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                return self._decoded(tshark, kept)
        return list(_plain(kept))

    @staticmethod
    def _decoded(tshark: str, kept: list[tuple[float, bytes, int]]) -> list[str]:
        # The file format of libpcap; the frames were cut at 256 bytes.
        file = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 16, 1)]
        for stamp, frame, length in kept:
            whole = int(stamp)
            head = struct.pack("<IIII", whole, int((stamp - whole) * 1e6), len(frame), length)
            file += [head, frame]
        words = [tshark, "-n", "-l", "-r", "-", "-t", "a"]
        done = subprocess.run(words, input=b"".join(file), capture_output=True, timeout=10)
        lines = done.stdout.decode(errors="replace").splitlines()
        if not lines:
            return list(_plain(kept))
        return [" ".join(line.split()) for line in lines]


def _plain(kept: list[tuple[float, bytes, int]]) -> Iterator[str]:
    for stamp, frame, length in kept:
        kind = struct.unpack_from("!H", frame, 12)[0] if len(frame) >= 14 else 0
        clock = time.strftime("%H:%M:%S", time.localtime(stamp)) + f"{stamp % 1:.6f}"[1:]
        yield f"{clock} {frame[6:12].hex(':')} > {frame[:6].hex(':')} 0x{kind:04x} {length} bytes"
