"""`viaduct path --port af_xdp`: the path is the same, and nothing is left on the interfaces."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from pathlib import Path

from labs import TIMEOUT, execute, inside, viaduct, wait_until
from scapy.layers.l2 import Dot1Q
from test_path import BETWEEN, MARK, finish, frame, numbers, serve_one_that_was_elsewhere, up_of
from wires import LEFT, RIGHT, Tap, Wires, entered

XDP = ("--port", "af_xdp")
LEFT6, RIGHT6 = "fd00:78::1", "fd00:78::2"


def programs(wires: Wires) -> list[str]:
    """The emulator's interfaces that have an XDP program."""
    shown = execute(["ip", "-n", wires.middle, "link", "show"]).expect().output
    lines = [line for line in shown.splitlines() if "xdp" in line and ": " in line]
    return [line.split(":")[1].strip() for line in lines]


def offloads(wires: Wires) -> list[str]:
    """What the hosts and the emulator have on."""
    places = [(wires.left, "eth0"), (wires.right, "eth0"), (wires.middle, "a"), (wires.middle, "b")]
    return [inside(place, "ethtool", "-k", name).expect().output for place, name in places]


def give_ipv6(wires: Wires) -> None:
    """Addresses, and neighbours that need no resolution."""
    for host, own in ((wires.left, LEFT6), (wires.right, RIGHT6)):
        inside(host, "sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0").expect()
        inside(host, "ip", "address", "add", f"{own}/64", "dev", "eth0", "nodad").expect()


def transfer(wires: Wires, family: int, source: str, target: str, size: int) -> bytes:
    """What arrives of so many bytes over TCP from left to right."""
    with entered(wires.right):
        listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind((target, 5001))
    listener.listen()
    listener.settimeout(20)
    with entered(wires.left):
        sender = socket.socket(family, socket.SOCK_STREAM)
    sender.settimeout(20)
    data = bytes(range(256)) * (size // 256)
    received = bytearray()

    def receive() -> None:
        connection, _ = listener.accept()
        connection.settimeout(20)
        while part := connection.recv(65536):
            received.extend(part)
        connection.close()

    reader = threading.Thread(target=receive)
    reader.start()
    sender.bind((source, 0))
    sender.connect((target, 5001))
    sender.sendall(data)
    sender.close()
    reader.join(30)
    listener.close()
    assert bytes(received) == data
    return bytes(received)


def lose_a_quarter(wires: Wires, taps: tuple[Tap, Tap], port: tuple[str, ...], access: str) -> str:
    """Asserts that a path by such ports loses what it says of 1,000 frames, and nothing else, and
    leaves offloads as they were; returns what it printed."""
    before = offloads(wires)
    with wires.path(*BETWEEN, *port, "--up", "loss=25%", "--seed", "1", "--json", "-") as path:
        for number in range(1000):
            taps[0].send(frame(number))
        wires.arrived(1000)
        delivered = up_of({"pipelines": wires.pipelines()})["fates"]["delivered"]
        came = numbers(taps[1].receive_all(delivered, MARK))
        assert len(programs(wires)) == (2 if port == XDP else 0)
        results = finish(path)
        printed: str = path.text
    up = up_of(results)
    assert up["arrived"] == 1000
    assert up["fates"]["lost"] + len(came) == 1000
    assert came == sorted(set(came)), "in order, each once"
    assert abs(up["fates"]["lost"] - 250) < 6 * (1000 * 0.25 * 0.75) ** 0.5
    for row in results["ports"]:
        assert row["access"].startswith(access)
    assert results["ports"][0]["rx_frames"] == 1000
    assert results["ports"][1]["tx_frames"] == len(came)
    assert not programs(wires)
    assert offloads(wires) == before
    return printed


def test_loss_is_counted_and_nothing_else_is_lost(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    lose_a_quarter(wires, taps, XDP, "AF_XDP: native mode, copy mode, 1 queue")


def check_udp(wires: Wires) -> None:
    """Datagrams of both families, short and long, arrive from left to right as they were sent."""
    with entered(wires.right):
        receiver = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    receiver.bind(("::", 9))
    receiver.settimeout(TIMEOUT)
    for family, target in ((socket.AF_INET, RIGHT), (socket.AF_INET6, RIGHT6)):
        with entered(wires.left):
            sender = socket.socket(family, socket.SOCK_DGRAM)
        for size in (1, 2, 999, 1400):
            data = os.urandom(size)
            sender.sendto(data, (target, 9))
            assert receiver.recv(2000) == data, "its checksum was right"
        sender.close()
    receiver.close()


def test_tcp_and_udp_of_both_families(wires: Wires) -> None:
    give_ipv6(wires)
    with wires.path(*BETWEEN, *XDP, "--up", "delay=2ms", "--down", "delay=3ms"):
        transfer(wires, socket.AF_INET, LEFT, RIGHT, 1 << 20)
        transfer(wires, socket.AF_INET6, LEFT6, RIGHT6, 1 << 20)
        check_udp(wires)


def test_jumbo_frames(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    for place, name in (
        (wires.left, "eth0"),
        (wires.right, "eth0"),
        (wires.middle, "a"),
        (wires.middle, "b"),
    ):
        execute(["ip", "-n", place, "link", "set", "dev", name, "mtu", "9000"]).expect()
    with wires.path(*BETWEEN, *XDP, "--json", "-") as path:
        for number, size in enumerate((100, 3818, 4096, 7700, 9014)):
            taps[0].send(frame(number, size))
        assert numbers(taps[1].receive_all(5, MARK)) == [0, 1, 2, 3, 4]
        transfer(wires, socket.AF_INET, LEFT, RIGHT, 1 << 20)
        results = finish(path)
    assert "several chunks per frame" in results["ports"][0]["access"]


def test_pairs_of_vlans(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    pairs = ["--pair", "a:vlan=10,b:vlan=20", "--up", "delay=1ms", "--pair", "a:vlan=11,b:vlan=21"]
    with wires.path(*pairs, *XDP):
        taps[0].send(frame(1, tag=Dot1Q(vlan=10)))
        first = taps[1].receive_all(1, MARK)
        taps[0].send(frame(2, tag=Dot1Q(vlan=11)))
        second = taps[1].receive_all(1, MARK)
    assert numbers(first + second) == [1, 2]
    assert b"\x81\x00\x00\x14" in first[0]
    assert b"\x81\x00\x00\x15" in second[0]


def test_killed_it_leaves_nothing(wires: Wires) -> None:
    before = offloads(wires)
    with wires.path(*BETWEEN, *XDP) as path:
        assert len(programs(wires)) == 2
        assert offloads(wires) != before
        path.process.send_signal(signal.SIGKILL)
        wait_until(lambda: not programs(wires), "the programs are gone")
        wait_until(lambda: offloads(wires) == before, "the offloads are as they were")
    assert wires.ping(1).status != 0, "nobody forwards"


def test_clean_gives_back_what_both_halves_left(wires: Wires) -> None:
    before = offloads(wires)
    with wires.path(*BETWEEN, *XDP, "--name", wires.middle) as path:
        record = Path(f"/run/viaduct/.paths/{wires.middle}/record.json")
        keeper = json.loads(record.read_text().splitlines()[0])["pid"]
        os.kill(keeper, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):  # it ends with its keeper
            os.kill(path.pid, signal.SIGKILL)
        path.wait()
        wait_until(lambda: not programs(wires), "the kernel has removed the programs")
    assert offloads(wires) != before, "there is something to restore"
    assert wires.middle in viaduct("clean").expect().output
    assert offloads(wires) == before


def test_an_interface_that_cannot_is_refused(wires: Wires) -> None:
    execute(["ip", "-n", wires.middle, "link", "add", "br0", "type", "bridge"]).expect()
    execute(["ip", "-n", wires.middle, "link", "set", "dev", "br0", "up"]).expect()
    before = offloads(wires)
    line = wires.viaduct("path", "--between", "a", "br0", *XDP).error_line(3)
    assert "br0" in line
    assert "bridge" in line
    assert "use AF_PACKET" in line
    assert not programs(wires)
    assert offloads(wires) == before


def test_auto_says_what_it_chose_and_why(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    before = offloads(wires)
    with wires.path(*BETWEEN, "--port", "auto", "--json", "-") as path:
        taps[0].send(frame(1))
        assert numbers(taps[1].receive_all(1, MARK)) == [1]
        assert not programs(wires)
        results = finish(path)
    assert path.text.count("af_packet (the driver does not support zero-copy for AF_XDP)") == 2
    assert all(port["access"].startswith("AF_PACKET ring") for port in results["ports"])
    assert offloads(wires) == before


def test_an_interface_comes_back(wires: Wires) -> None:
    with wires.path(*BETWEEN, *XDP) as path:
        execute(["ip", "-n", wires.middle, "link", "del", "dev", "a"]).expect()
        wires.join(wires.left, "a")
        path.wait_for("interface a is back\n")
        tap, far = Tap(wires.left, "eth0"), Tap(wires.right, "eth0")
        tap.send(frame(3))
        assert numbers(far.receive_all(1, MARK)) == [3]
    assert not programs(wires)


def test_an_interface_that_was_elsewhere(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    before = offloads(wires)
    serve_one_that_was_elsewhere(wires, taps, *XDP)
    assert offloads(wires) == before
