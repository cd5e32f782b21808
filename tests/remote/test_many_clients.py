"""Hubs with as many clients as a scenario may have."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import test_hub
from labs import TIMEOUT
from test_hub import Hosts, end, hub
from wires import entered

hosts = test_hub.hosts


def many(mode: str, clients: int, whose: str = "any") -> str:
    """A scenario with so many remote nodes, at four routers."""
    names = range(1, clients + 1)
    nodes = "".join(f"  c{i}: {{remote: {whose}, vni: {i}}}\n" for i in names)
    links = "".join(
        f"  - {{pair: [c{i}, r{i % 4}], "
        f"addresses: [10.{i >> 8}.{i & 255}.1/30, 10.{i >> 8}.{i & 255}.2/30]}}\n"
        for i in names
    )
    between = "".join(f"  - {{pair: [r{i}, r{i + 1}]}}\n" for i in range(3))
    routers = "".join(f"  r{i}: {{}}\n" for i in range(4))
    return (
        f"mode: {mode}\nnodes:\n{routers}{nodes}links:\n{between}{links}"
        "routing: {protocol: static}\n"
    )


def asks(number: int) -> bytes:
    """A client's VXLAN datagram: who has the gateway's address?"""
    mac = bytes([2, 0, 0, 0, number >> 8, number & 255])
    own = bytes([10, number >> 8, number & 255, 1])
    arp = struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + mac + own + bytes(6) + own[:3] + b"\2"
    frame = (b"\xff" * 6 + mac + b"\x08\x06" + arp).ljust(60, b"\0")
    return struct.pack("!II", 8 << 24, number << 8) + frame


@pytest.mark.parametrize(
    ("mode", "clients", "readers"),
    [("simulate", 1000, 3), ("simulate", 100, 0), ("offload", 100, 3), ("offload", 100, 0)],
)
def test_each_of_many_clients_is_answered(
    hosts: Hosts,
    scenario: Callable[[str], Path],
    tmp_path: Path,
    mode: str,
    clients: int,
    readers: int,
) -> None:
    """By however many threads what they send is read."""
    written = tmp_path / "hub.json"
    file = scenario(many(mode, clients) + f"hub: {{readers: {readers}}}\n")
    with (
        hub(hosts, file, "--json", str(written)) as process,
        entered(hosts.clients),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out,
    ):
        out.bind(("192.0.2.1", 4789))
        out.settimeout(1)
        missing = set(range(1, clients + 1))
        limit = time.monotonic() + TIMEOUT
        while missing and time.monotonic() < limit:
            for number in sorted(missing)[:50]:  # what a small socket buffer has room for
                out.sendto(asks(number), ("192.0.2.254", 4789))
            for _ in range(min(50, len(missing))):
                try:
                    datagram = out.recv(2000)
                except TimeoutError:
                    break
                number = int.from_bytes(datagram[4:7], "big")
                arp = datagram[8 + 14 :]
                if arp[6:8] == b"\0\2":
                    assert arp[14:18] == bytes([10, number >> 8, number & 255, 2])
                    missing.discard(number)
        assert not missing
        end(process)
    results = json.loads(written.read_text())
    assert results["readers"] == readers
    assert len(results["clients"]) == clients
    for client in results["clients"]:
        assert client["client"] == "192.0.2.1"
        assert client["rx_frames"] > 0
        assert client["tx_frames"] > 0


# Sends messages of 40 datagrams as fast as it can, until its standard input ends; how many.
FLOOD = """
import select, socket, sys
own, datagram = sys.argv[1], bytes.fromhex(sys.argv[2])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.bind((own, 4790))
out.setsockopt(socket.SOL_UDP, 103, len(datagram))  # UDP_SEGMENT
sent = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    for _ in range(100):
        out.sendto(40 * datagram, ("192.0.2.254", 4789))
    sent += 4000
print(sent)
"""


@pytest.mark.alone
@pytest.mark.parametrize("readers", [0, 1])
@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_one_that_floods_takes_nothing_from_49_others(
    hosts: Hosts, scenario: Callable[[str], Path], tmp_path: Path, mode: str, readers: int
) -> None:
    """Each of their frames arrives, is answered, and what the flood loses is its own, exactly."""
    rounds, clients = 100, 50
    written = tmp_path / "hub.json"
    file = scenario(many(mode, clients) + f"hub: {{readers: {readers}}}\n")
    flood = struct.pack("!II", 8 << 24, clients << 8) + bytes(12) + b"\x88\xb5" + bytes(128)
    with (
        hub(hosts, file, "--json", str(written)) as process,
        entered(hosts.clients),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out,
    ):
        out.bind(("192.0.2.1", 4789))
        words = [sys.executable, "-c", FLOOD, "192.0.2.1", flood.hex()]
        flooder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answers: Counter[int] = Counter()

        def take(until: float) -> None:
            while (left := until - time.monotonic()) > 0:
                out.settimeout(left)
                with contextlib.suppress(TimeoutError):
                    datagram = out.recv(2000)
                    if datagram[8 + 14 + 6 :].startswith(b"\0\2"):
                        answers[int.from_bytes(datagram[4:7], "big")] += 1

        for _ in range(rounds):
            for number in range(1, clients):
                out.sendto(asks(number), ("192.0.2.254", 4789))
            take(time.monotonic() + 0.02)
        sent = int(flooder.communicate("")[0])
        # What was sent before these has been read when they are answered.
        for number in range(1, clients):
            out.sendto(asks(number), ("192.0.2.254", 4789))
        limit = time.monotonic() + TIMEOUT
        while answers.total() < (rounds + 1) * (clients - 1) and time.monotonic() < limit:
            take(time.monotonic() + 0.1)
        end(process)
    assert answers == {number: rounds + 1 for number in range(1, clients)}
    results = json.loads(written.read_text())
    assert "unshared" not in results
    assert "socket_full" not in results["drops"]
    *others, flooding = results["clients"]
    for client in others:
        assert client["rx_frames"] == rounds + 1
        assert not client["drops"]
    known = flooding["rx_frames"] + flooding["waiting"] + sum(flooding["drops"].values())
    assert known == sent
    assert flooding["drops"]["socket_full"] > 0
