"""Losses that are counted, and damage that no checksum shows, as protocols' tests need them."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from pathlib import Path

import pytest
from labs import inside, results, viaduct
from test_path import BETWEEN, MARK, finish, frame, numbers, up_of
from wires import LEFT, RIGHT, Tap, Wires, entered

LEFT6, RIGHT6 = "fd00:77::1", "fd00:77::2"


@pytest.mark.parametrize(
    ("loss", "lost"),
    [
        ("100%:run=3", {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14}),
        ("cycle:pass=4,lose=2", {4, 5, 10, 11}),
        ("cycle:pass=4,lose=2,times=1", {4, 5}),
        ("cycle:pass=4,lose=2,first=0,times=2", {0, 1, 6, 7}),
        ("cycle:pass=4,lose=1+list:2", {1, 4, 9, 14}),
    ],
)
def test_frames_are_lost_by_their_number(
    wires: Wires, taps: tuple[Tap, Tap], loss: str, lost: set[int]
) -> None:
    with wires.path(*BETWEEN, "--up", f"loss={loss}", "--json", "-") as path:
        for number in range(16):
            taps[0].send(frame(number))
        wires.arrived(16)
        came = numbers(taps[1].receive_all(16 - len(lost), MARK))
        up = up_of(finish(path))
    assert set(range(16)) - set(came) == lost
    assert up["fates"]["lost"] == len(lost)


def test_a_blackhole_ends(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    """In time: all is lost from the start on, until all passes."""
    loss = "loss=cycle:pass=1s,lose=500ms,times=1,first=0"
    with wires.path(*BETWEEN, "--up", loss, "--json", "-") as path:
        number = 0
        taps[0].send(frame(number))
        while taps[1].receive(0.02, MARK) is None:
            number += 1
            taps[0].send(frame(number))
        passed = number
        for _ in range(50):
            number += 1
            taps[0].send(frame(number))
        last = numbers(taps[1].receive_all(50, MARK))
        up = up_of(finish(path))
    assert passed > 0, "the first is lost, whenever it comes"
    assert last[-50:] == list(range(passed + 1, passed + 51)), "nothing is lost later"
    assert up["fates"]["lost"] > 0


def test_a_list_counts_the_frames_of_its_class(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    """So that other packets cannot shift what is lost."""
    dns = ["--class", "dns=udp dst port 53", "--up", "loss=list:2,4"]
    with wires.path(*BETWEEN, *dns, "--json", "-") as path:
        for number in range(12):
            taps[0].send(frame(number, port=53 if number % 3 == 0 else 7))
        came = numbers(taps[1].receive_all(10, MARK))
        done = finish(path)
    assert set(range(12)) - set(came) == {3, 9}
    assert up_of(done, "dns")["fates"]["lost"] == 2
    assert up_of(done)["fates"]["lost"] == 0


def with_ipv6(wires: Wires) -> None:
    """Adds addresses; no address resolution is on the wire."""
    hosts = {wires.left: (LEFT6, RIGHT6), wires.right: (RIGHT6, LEFT6)}
    macs = {
        host: json.loads(inside(host, "ip", "-j", "link", "show", "dev", "eth0").output)[0][
            "address"
        ]
        for host in hosts
    }
    for host, (own, other) in hosts.items():
        far = wires.right if host == wires.left else wires.left
        inside(host, "sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0")
        inside(host, "ip", "address", "add", f"{own}/64", "dev", "eth0", "nodad")
        inside(host, "ip", "neigh", "replace", other, "lladdr", macs[far], "dev", "eth0")


def differing_bits(a: bytes, b: bytes) -> int:
    """In how many bits they differ."""
    assert len(a) == len(b)
    return sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_receiver_gets_damaged_datagrams(wires: Wires, family: socket.AddressFamily) -> None:
    """Their checksums, which the kernel verifies, are right; without `fix` it drops them all."""
    with_ipv6(wires)
    to = RIGHT if family == socket.AF_INET else RIGHT6
    with entered(wires.right):
        receiver = socket.socket(family, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    receiver.bind((to, 9))
    with entered(wires.left):  # its kernel leaves the checksum to the hardware
        sender = socket.socket(family, socket.SOCK_DGRAM)
    data = MARK + bytes(range(256)) * 3 + b"!"
    with wires.path(*BETWEEN, "--up", "corrupt=100%:checksum=fix", "--json", "-") as path:
        for _ in range(200):
            sender.sendto(data, (to, 9))
        receiver.settimeout(20)
        came = [receiver.recv(2000) for _ in range(200)]
        sender.sendto(b"", (to, 9))
        assert receiver.recv(2000) == b"", "without a payload there is nothing to damage"
        up = up_of(finish(path))
    assert [differing_bits(data, each) for each in came] == [1] * 200
    assert len(set(came)) > 100, "another bit each time"
    assert up["corrupted"] == up["flipped_bits"] == 200
    receiver.settimeout(0.5)
    with wires.path(*BETWEEN, "--up", "corrupt=100%"):
        for _ in range(20):
            sender.sendto(data, (to, 9))
        wires.arrived(20)
        passed = []
        with contextlib.suppress(TimeoutError):
            while True:
                passed.append(receiver.recv(2000))
    # A flow label or a hop limit, which IPv6 protects by no checksum, may be hit.
    assert set(passed) <= {data} and len(passed) < 10


def test_a_damaged_stream_arrives(wires: Wires) -> None:
    """TCP's, without retransmissions: nothing tells the kernel."""
    data = bytes(range(256)) * 2000
    with entered(wires.right):
        listener = socket.create_server((RIGHT, 9))
    listener.settimeout(20)
    received = bytearray()

    def take() -> None:
        connection, _ = listener.accept()
        connection.settimeout(20)
        while piece := connection.recv(65536):
            received.extend(piece)

    with wires.path(*BETWEEN, "--up", "corrupt=30%:checksum=fix", "--json", "-") as path:
        taker = threading.Thread(target=take)
        taker.start()
        with entered(wires.left):
            sender = socket.socket()
        sender.bind((LEFT, 0))
        sender.connect((RIGHT, 9))
        sender.sendall(data)
        sender.close()
        taker.join()
        up = up_of(finish(path))
    counters = inside(wires.right, "grep", "^Tcp:", "/proc/net/snmp").output.splitlines()
    names, values = (line.split() for line in counters)
    assert dict(zip(names, values, strict=True))["InCsumErrors"] == "0"
    assert 50 < differing_bits(data, bytes(received)) <= up["corrupted"]


@pytest.mark.parametrize("mode", ["simulate", "emulate", "offload"])
def test_every_mode_delivers_what_looks_whole(tmp_path: Path, mode: str) -> None:
    file, out = tmp_path / "two.yaml", tmp_path / "two.json"
    file.write_text(
        "nodes: 2\nrouting: {protocol: static}\nduration: 2s\n"
        'links: [{pair: [n0, n1], up: "corrupt=100%:checksum=fix delay=1ms"}]\n'
        "flows: [{type: udp, from: n0, to: n1, size: 600, rate: 480kbit, duration: 1s}]\n"
    )
    viaduct("run", file, "--mode", mode, "--json", out).expect()
    done = results(out)
    (flow,) = done["flows"]
    (up,) = (each for each in done["engine"]["pipelines"] if each["direction"] == "up")
    assert up["corrupted"] >= flow["sent"] > 50
    # Of 600 bytes 12 or so are the flow's own, and damaged ones are not counted as its packets.
    assert flow["sent"] * 0.8 < flow["received"] <= flow["sent"]
